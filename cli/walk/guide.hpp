/// Leads a person through one matter: shows it, takes the keys, lends the terminal to other programs, has the decision
/// carried out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "cli/walk/matter.hpp"
#include "cli/walk/surface.hpp"
#include "cli/walk/text_tools.hpp"

namespace ws::cli::walk {

/// What the matter is about: the place where decisions are carried out.
class Desk {
 public:
  Desk() = default;
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  virtual ~Desk() = default;

  struct Outcome {
    enum class Kind {
      done,     ///< carried out; `lines` say so
      changed,  ///< nothing was done: something moved meanwhile, and `now` is how it is
      refused,  ///< nothing was done, `lines` say why; another decision may do
      gone,     ///< nothing is left to decide; `lines` say why
    } kind = Kind::done;
    std::vector<std::string> lines = {};
    std::optional<Matter> now = {};
  };
  /// Looks again whether everything is as it was shown, then does it. Fails with what ends the whole walk.
  virtual Result<Outcome> carry_out(const Decided& decided) = 0;
  /// One line a state; asked only where the matter says that there is one.
  virtual Result<std::vector<std::string>> history() = 0;
};

enum class WalkEnd {
  decided,
  gone,     ///< it needed no decision any more
  skipped,  ///< it stays open
  quit,
  stopped,  ///< a signal, or the terminal is gone
};

/// What the two sides are called between markers: "mine", "revision 3".
struct SideNames {
  std::string mine = "mine";
  std::string theirs = "theirs";
};

/// `notice` is shown with the first page. Fails as the desk does.
Result<WalkEnd> lead_through(Matter matter,
                             const Position& position,
                             const SideNames& names,
                             Desk& desk,
                             Surface& surface,
                             const TextTools& tools,
                             std::string notice = {});

}  // namespace ws::cli::walk
