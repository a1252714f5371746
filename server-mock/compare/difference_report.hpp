/// What `ws-mock diff` tells.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "server-mock/compare/findings.hpp"
#include "server-mock/compare/probes.hpp"

namespace ws::mock::compare {

struct DifferenceReport {
  std::string other_side = {};  ///< "https://..." or the name of a recording
  std::vector<SwitchValue> switches = {};
  std::vector<Finding> findings = {};
  std::vector<UnknownField> unknown = {};
  std::vector<std::string> not_seen = {};  ///< operations, in the table's order
  std::size_t exchanges = 0;
  std::size_t requests = 0;
  std::string stopped = {};            ///< why it is not whole; empty: it is
  std::vector<std::string> left = {};  ///< documents that could not be archived
};

DifferenceReport make_report(std::string other_side,
                             const Exchanges& exchanges,
                             const Findings& findings,
                             std::vector<SwitchValue> switches);

/// Whether anything differs from the mock with its defaults.
bool differs(const DifferenceReport& report);
/// "--assume KEY=VALUE ..." of the switches that differ from their default; empty: none.
std::string assume_line(const DifferenceReport& report);
/// What `--assume-file` takes.
std::string assumptions_yaml(const DifferenceReport& report);

Json to_json(const DifferenceReport& report);
std::string render_text(const DifferenceReport& report);
std::string render_junit(const DifferenceReport& report);

}  // namespace ws::mock::compare
