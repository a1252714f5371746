/// Renames and edits in a folder that is tied to nothing, so that a kill at any moment leaves them to be finished.
///
/// While they go on, `.ws-links` in the folder holds the new texts and the list of steps; in the end it is removed. The
/// next command that edits links there finishes what it finds; each step looks at what it has before it, so that a step
/// is never done twice, and a file that somebody changed meanwhile is left alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/relink/relink.hpp"

namespace ws::sync {

inline constexpr const char* untied_edits_folder = ".ws-links";

struct UntiedDone {
  std::string command = {};            ///< as it was given to `carry_out`
  std::vector<std::string> left = {};  ///< files that changed meanwhile, and were left as they are
  std::size_t renamed = 0;
  std::size_t edited = 0;  ///< notes whose links were edited
  std::string kept = {};   ///< a folder with texts that others wrote meanwhile; empty: there are none
};

class UntiedEdits {
 public:
  /// Whether a command was interrupted there.
  static bool are_unfinished(const RootFolder& root);
  /// Takes the folder `.ws-links`, and its lock. Fails with `disk`, code `tree_locked` where another command has it.
  static Result<UntiedEdits> open(const RootFolder& root);
  /// Where nothing was begun, what was opened is removed.
  ~UntiedEdits();
  UntiedEdits(UntiedEdits&&) noexcept = default;
  UntiedEdits& operator=(UntiedEdits&&) noexcept = default;

  /// What an interrupted command had begun; empty: nothing. Fails with `disk`; then the next call goes on.
  Result<std::optional<UntiedDone>> finish_interrupted();
  /// `command`: what the user gave, for the next command's message. Where a file is read-only, or lies on another file
  /// system, nothing is changed: fails with `disk`.
  Result<UntiedDone> carry_out(const RelinkPlan& plan, const std::string& command);

 private:
  UntiedEdits(const RootFolder& root, Descriptor folder) : root_(&root), folder_(std::move(folder)) {}

  const RootFolder* root_;
  Descriptor folder_;  ///< `.ws-links`, locked
};

}  // namespace ws::sync
