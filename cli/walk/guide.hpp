/// Resolves one conflict with the user: shows it, reads the keys, runs editor and merge tool, has the decision carried
/// out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "cli/walk/shown_conflict.hpp"
#include "cli/walk/surface.hpp"
#include "cli/walk/text_tools.hpp"

namespace ws::cli::walk {

/// Carries out what the person decides about the conflict.
class ConflictResolver {
 public:
  ConflictResolver() = default;
  ConflictResolver(const ConflictResolver&) = delete;
  ConflictResolver& operator=(const ConflictResolver&) = delete;
  virtual ~ConflictResolver() = default;

  struct Outcome {
    enum class Kind {
      done,     ///< carried out; `lines` say so
      changed,  ///< nothing was done: the conflict changed meanwhile, `now` is its new state
      refused,  ///< nothing was done, `lines` say why; another decision may do
      gone,     ///< nothing is left to decide; `lines` say why
    } kind = Kind::done;
    std::vector<std::string> lines = {};
    std::optional<ShownConflict> now = {};
  };
  /// Checks that the conflict is still as it was shown, then applies the decision. Fails with what ends the whole walk.
  virtual Result<Outcome> carry_out(const Decided& decided) = 0;
  /// One line for each state; called only where `has_history` is set.
  virtual Result<std::vector<std::string>> history() = 0;
};

enum class WalkEnd {
  decided,
  gone,     ///< the conflict was resolved elsewhere
  skipped,  ///< it stays open
  quit,
  stopped,  ///< a signal, or the terminal is gone
};

/// What the two sides are called between markers: "mine", "revision 3".
struct SideNames {
  std::string mine = "mine";
  std::string theirs = "theirs";
};

/// `notice` is shown with the first page. Fails as the resolver does.
Result<WalkEnd> lead_through(ShownConflict shown_conflict,
                             const Position& position,
                             const SideNames& names,
                             ConflictResolver& resolver,
                             Surface& surface,
                             const TextTools& tools,
                             std::string notice = {});

}  // namespace ws::cli::walk
