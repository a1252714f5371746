/// Carries out changes of the user's files on the disk, in one order for every verb: first what goes, then what is
/// renamed, then what is written.
///
/// Cut off anywhere, `was_begun` does the rest: a step that is done already is not done again.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/state/operations.hpp"

namespace ws::sync {

/// What changes the files of a batch. What is replaced or removed passes through the folder of its writer: texts
/// through one whose leftovers are read as texts, bytes through `.ws/attachments`. A batch of one kind needs one of
/// them.
struct StepWriters {
  SafeWriter* texts = nullptr;
  SafeWriter* bytes = nullptr;
  SafeWriter& of(const FileStep& step) const {
    return bytes != nullptr && (texts == nullptr || step.is_about_bytes()) ? *bytes : *texts;
  }
  Result<void> flush_texts() const;
  Result<void> flush_folders() const;
};

/// Whether an earlier call has left the text of the step in its place. A file with the right text may still be another
/// one that a later step renames.
class BegunSteps {
 public:
  BegunSteps(const SafeWriter& writer, const std::vector<FileStep>& steps) : writer_(writer), steps_(steps) {}

  bool is_written(const FileStep& step) const;
  bool is_moved(const FileStep& step) const;
  bool has_text(const RelativePath& path, const Sha256& text) const;

 private:
  bool has_arrived(const FileStep& step) const;

  const SafeWriter& writer_;
  const std::vector<FileStep>& steps_;
};

/// Called once for each step with what became of it. A failure ends the whole.
using StepEnded = std::function<Result<void>(std::size_t step, Result<void> outcome)>;

/// What was staged for each step, by its index. Empty: it writes no text. A failure: nothing of it is done.
using StagedTexts = std::vector<std::optional<Result<Staged>>>;

/// `staged` is flushed. Fails with what `ended` fails with, or where folders cannot be flushed; all is durable on
/// return.
Result<void> carry_out(StepWriters writers,
                       const std::vector<FileStep>& steps,
                       StagedTexts& staged,
                       bool was_begun,
                       const StepEnded& ended);

}  // namespace ws::sync
