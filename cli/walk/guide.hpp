/// Resolves one conflict with the user: shows it, reads the keys, runs editor and merge tool, applies the decision.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "cli/base/environment.hpp"
#include "cli/terminal/key_press.hpp"
#include "cli/terminal/terminal.hpp"
#include "cli/walk/frame.hpp"
#include "cli/walk/shown_conflict.hpp"

namespace ws::cli::walk {

/// Shows the walk and reads its keys: full screen with single keys, or line by line.
class Surface {
 public:
  Surface() = default;
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;
  virtual ~Surface() = default;

  /// Shows the page and waits for one of its keys.
  virtual KeyPress ask(Walk& walk, const Position& position) = 0;
  /// Restores the terminal until the next `ask`: to run another program, or during a long step.
  virtual void lend() = 0;
  /// Ignores keys and lets Ctrl-C raise its signal while a decision is carried out.
  virtual void busy() = 0;
  /// Prints a line that remains after the walk ends.
  virtual void tell(const std::string& line) = 0;
};

/// Line by line with `--plain` or TERM=dumb, else full screen. Both write to stderr. `cancelled` is set when a signal
/// asks this process to end.
std::unique_ptr<Surface> make_surface(Terminal& terminal,
                                      const Environment& environment,
                                      const std::atomic<bool>& cancelled);

/// The input of a merge tool.
struct ToolTexts {
  std::string name = {};  ///< of the file: its extension tells the tool the format
  std::optional<std::string> base = {};
  std::string mine = {};
  std::string theirs = {};
  std::string merged = {};  ///< the initial text of MERGED
};

/// Runs the user's editor or merge tool on texts in a temporary folder.
class TextTools {
 public:
  /// `editor`: a shell command; empty: none is configured.
  explicit TextTools(std::string editor) : editor_(std::move(editor)) {}

  /// The edited text. Fails with `usage` if there is no editor, with `disk` if it fails.
  Result<std::string> edit(const std::string& name, const std::string& text) const;

  /// The text that the merge tool writes to MERGED. Runs git's `merge.tool` by `mergetool.NAME.cmd`, or as git would.
  /// Fails with `usage` if none is configured, with `disk` if it fails and its exit code counts
  /// (`mergetool.NAME.trustExitCode`).
  Result<std::string> merge(const ToolTexts& texts) const;

 private:
  std::string editor_;
};

/// Applies the user's decision.
class ConflictResolver {
 public:
  ConflictResolver() = default;
  ConflictResolver(const ConflictResolver&) = delete;
  ConflictResolver& operator=(const ConflictResolver&) = delete;
  virtual ~ConflictResolver() = default;

  struct Outcome {
    enum class Kind {
      done,     ///< applied; `lines` report it
      changed,  ///< nothing was done: the conflict has changed; `now` is its new state
      refused,  ///< nothing was done, for the reason in `lines`; another decision may work
      gone,     ///< the conflict no longer exists, for the reason in `lines`
    } kind = Kind::done;
    std::vector<std::string> lines = {};
    std::optional<ShownConflict> now = {};
  };
  /// Checks that the conflict is still as it was shown, then applies the decision. Fails if the whole walk must end.
  virtual Result<Outcome> carry_out(const Decided& decided) = 0;
  /// One line for each version; called only if `has_history` is set.
  virtual Result<std::vector<std::string>> history() = 0;
  /// Opens both files; says what was opened, or where they lie. Called only if `files` is set.
  virtual std::string open_both(const ShownConflict& /*shown_conflict*/) { return {}; }
};

enum class WalkEnd {
  decided,
  gone,     ///< the conflict was resolved elsewhere
  skipped,  ///< it stays open
  quit,
  stopped,  ///< by a signal, or the terminal was closed
};

/// The labels of the two sides in conflict markers: "mine", "revision 3".
struct SideNames {
  std::string mine = "mine";
  std::string theirs = "theirs";
};

/// Fails as the resolver does.
Result<WalkEnd> lead_through(ShownConflict shown_conflict,
                             const Position& position,
                             const SideNames& names,
                             ConflictResolver& resolver,
                             Surface& surface,
                             const TextTools& tools);

}  // namespace ws::cli::walk
