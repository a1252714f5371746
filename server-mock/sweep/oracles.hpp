/// Finds problems in a run under a fault that its exit code does not show. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/process.hpp"
#include "server-mock/sweep/journal_lines.hpp"
#include "server-mock/sweep/plan.hpp"
#include "server-mock/sweep/printed_text.hpp"
#include "server-mock/sweep/state_diff.hpp"

namespace ws::mock::sweep {

/// One run of the command in a sandbox.
struct Run {
  RunEnd end = {};
  std::vector<SentRequest> sent = {};
  JsonBox state = {};
  std::string token = {};                         ///< the key that the command got
  OwnTexts own = {};                              ///< the addresses, folder and key of this run
  std::map<std::string, std::string> files = {};  ///< below `--output`, with their text
  std::vector<std::string> leaked_in = {};        ///< files of its folder that show the key
};

/// The results that runs are compared with.
struct Reference {
  JsonBox first_state = {};  ///< before anything ran
  Run clean = {};
  bool is_text_stable = true;      ///< two clean runs printed, and wrote below `--output`, the same
  std::set<std::string> ids = {};  ///< of `first_state`
  std::string says = {};           ///< regular expression of a line that says that something was refused
  std::size_t max_requests = 0;    ///< of one run; 0: five times the clean run's
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

/// A command that failed is judged by the world after `rerun`: to fail with a message is no finding.
///
/// `rerun`: a second run of the command in the same world without the fault, after a failure, or after a success that
/// left an event under its lease, which has ended since; empty if there was none.
std::vector<Finding> judge(const Reference& reference, const Row& row, const Run& run, const std::optional<Run>& rerun);

/// Whether the run ended with 0 and left more events under a lease than the clean run.
bool leaves_leases(const Reference& reference, const Run& run);

/// The files below `--output`, names and texts with ids and times bound.
std::map<std::string, std::string> bound_files(const Reference& reference, const Run& run);

/// Whether two clean runs printed, and wrote below `--output`, the same.
bool is_same_text(const Reference& reference, const Run& one, const Run& other);

/// The words of findings.
std::span<const std::string_view> finding_words();

/// Findings in the clean run itself: the key in its output.
std::vector<Finding> judge_clean(const Reference& reference);

// How the requests of a run were sent, whatever they came to: sooner than Retry-After, too often, or again though they
// may not be repeated so. Pure.

/// A status after which the same request comes to nothing else: not one that asks to wait, or to look first.
bool is_final_refusal(int status);

/// "impatient", "storm", "careless": of each at most one. `cause`: what the service did, for the sentences. The
/// findings have no id yet.
std::vector<Finding> judge_manners(const Reference& reference,
                                   const Row& row,
                                   const Run& run,
                                   const std::string& cause);

}  // namespace ws::mock::sweep
