/// Fault rules as people write them: read with everything that is wrong told at once.
///
/// Arguments come in the forms in which they are easily said: `{"delay_ms": 300}` or `{"delay_ms": {"ms": 300}}`,
/// `{"reset": true}` or `{"reset": {}}`, `{"status": 503}` or `{"status": {"status": 503, "headers": {}, "body": {}}}`.
#pragma once

#include <optional>
#include <vector>

#include "server-mock/faults/faults.hpp"
#include "server-mock/services/shared/validation_errors.hpp"

namespace ws::mock {

/// One rule; empty with a complaint. `loc` is where the value stands.
std::optional<FaultRule> read_fault_rule(const Json& value, const Loc& loc, Complaints& complaints);

/// A rule, a list of rules, or `{"faults": [...]}` (`{"rules": [...]}`).
std::vector<FaultRule> read_fault_rules(const Json& value, const Loc& loc, Complaints& complaints);

}  // namespace ws::mock
