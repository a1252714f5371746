/// Parses fault rules and reports all errors at once.
///
/// Arguments have short and long forms: `{"delay_ms": 300}` or `{"delay_ms": {"ms": 300}}`, `{"reset": true}` or
/// `{"reset": {}}`, `{"status": 503}` or `{"status": {"status": 503, "headers": {}, "body": {}}}`.
#pragma once

#include <optional>
#include <vector>

#include "server-mock/faults/faults.hpp"
#include "server-mock/services/shared/validation_errors.hpp"

namespace ws::mock {

/// One rule; empty if there is an error. `loc` is the place of the value, for errors.
std::optional<FaultRule> read_fault_rule(const Json& value, const Loc& loc, ValidationErrors& errors);

/// A rule, a list of rules, or `{"faults": [...]}` (`{"rules": [...]}`).
std::vector<FaultRule> read_fault_rules(const Json& value, const Loc& loc, ValidationErrors& errors);

}  // namespace ws::mock
