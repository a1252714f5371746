/// The report of `ws-mock diff`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "server-mock/compare/grade.hpp"
#include "server-mock/compare/probes.hpp"

namespace ws::mock::compare {

struct DifferenceReport {
  std::string other_side = {};  ///< "https://..." or the name of a recording
  std::vector<SwitchValue> switches = {};
  std::vector<Finding> findings = {};
  std::vector<UnknownField> unknown = {};
  std::vector<std::string> not_seen = {};  ///< operations that do not occur, in the table's order
  std::size_t exchanges = 0;
  std::size_t requests = 0;
  std::string stopped = {};            ///< why the run is incomplete; empty: it is complete
  std::vector<std::string> left = {};  ///< documents that could not be archived, an agent not revoked
};

DifferenceReport make_report(std::string other_side,
                             const Exchanges& exchanges,
                             const Findings& findings,
                             std::vector<SwitchValue> switches);

/// Whether anything differs from the mock with default switches.
bool differs(const DifferenceReport& report);
/// "--assume KEY=VALUE ..." for switches that differ from their default; empty: none.
std::string assume_line(const DifferenceReport& report);
/// A file for `--assume-file`.
std::string assumptions_yaml(const DifferenceReport& report);

Json to_json(const DifferenceReport& report);
std::string render_text(const DifferenceReport& report);
std::string render_junit(const DifferenceReport& report);

}  // namespace ws::mock::compare
