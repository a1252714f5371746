/// Finds problems in a run under a fault that its exit code does not show. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/process.hpp"
#include "server-mock/sweep/journal_lines.hpp"
#include "server-mock/sweep/plan.hpp"
#include "server-mock/sweep/state_diff.hpp"

namespace ws::mock::sweep {

/// One run of the command in a sandbox.
struct Run {
  RunEnd end = {};
  std::vector<SentRequest> sent = {};
  JsonBox state = {};
  std::string token = {};  ///< the key that the command got
};

/// The results that runs are compared with.
struct Reference {
  JsonBox first_state = {};  ///< before anything ran
  Run clean = {};
  std::string trace_pattern = {};  ///< regular expression that matches a stack trace on standard error
  std::size_t max_sends = 10;
  bool has_real_clock = true;  ///< false: times in the journal are meaningless
};

struct Finding {
  std::string word = {};                ///< "doubled", "lost", "wrong", "stuck", "crashed", "impatient", "storm", ...
  std::string sentence = {};            ///< what happened
  std::vector<std::string> lines = {};  ///< at most three, of the journal or of the output
  std::string advice = {};              ///< what to do about it
  /// Stable: "doubled:docs.create#1:reset-after".
  std::string id = {};
};

/// `rerun`: a second run of the command in the same world without the fault, after a failure; empty if there was none.
std::vector<Finding> judge(const Reference& reference, const Row& row, const Run& run, const std::optional<Run>& rerun);

/// Findings in the clean run itself: the key in its output.
std::vector<Finding> judge_clean(const Reference& reference);

}  // namespace ws::mock::sweep
