#include "sync-engine/steps/markers.hpp"

#include <utility>

#include <fmt/format.h>

#include "sync-engine/merge/merge.hpp"
#include "sync-engine/steps/conflict_files.hpp"
#include "sync-engine/steps/replace_file.hpp"

namespace ws::sync {
namespace {

struct TwoTexts {
  merge::Merge merged;
  std::string recorded;  ///< the local text when the conflict was recorded
};

Result<TwoTexts> merge_recorded(const Session& session, const Conflict& conflict) {
  ThreeTexts texts = read_conflict_texts(session.root.path(), conflict.id);
  if (is_about_place(conflict) || conflict.kind == ConflictKind::rewound || !texts.local || !texts.remote) {
    return fail(Failure::Kind::usage,
                fmt::format("there are no two texts at {} to merge", conflict.path.text()),
                "say --keep local, remote or both");
  }
  WS_LET(merge::Merge merged, merge::merge_markdown(texts.base.value_or(""), *texts.local, *texts.remote));
  return TwoTexts{.merged = std::move(merged), .recorded = std::move(*texts.local)};
}

Failure left_markers(const Conflict& conflict) {
  return {.kind = Failure::Kind::usage,
          .what = fmt::format("{} still holds conflict markers", conflict.path.text()),
          .hint = "edit the file, take them out, then say --keep merged"};
}

}  // namespace

Result<void> write_markers(Session& session, const Conflict& conflict) {
  WS_LET(const TwoTexts texts, merge_recorded(session, conflict));
  WS_LET(SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const std::optional<std::string> now, read_if_there(writer, conflict.path));
  if (now && merge::has_markers(*now)) return fail(left_markers(conflict));
  return replace_file(session, writer, conflict.path, now, merge::with_markers(texts.merged, "local", "remote"));
}

Result<std::string> merged_text(Session& session, const Conflict& conflict) {
  WS_LET(const TwoTexts texts, merge_recorded(session, conflict));
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(std::optional<std::string> now, read_if_there(writer, conflict.path));
  if (now && *now != texts.recorded) {
    if (merge::has_markers(*now)) return fail(left_markers(conflict));
    return std::move(*now);
  }
  if (texts.merged.is_clean()) return texts.merged.text();
  return fail(Failure::Kind::usage,
              fmt::format("the texts at {} collide: --keep merged needs the merged text", conflict.path.text()),
              "give it with --file FILE|-, or --markers puts both into the file for you to edit");
}

}  // namespace ws::sync
