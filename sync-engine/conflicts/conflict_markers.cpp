#include "sync-engine/conflicts/conflict_markers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/apply/replace_file.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/merge/merge.hpp"

namespace ws::sync {
namespace {

constexpr std::string_view our_label = "local";
constexpr std::string_view their_label = "remote";

Result<ThreeTexts> recorded_texts(const Session& session, const Conflict& conflict) {
  ThreeTexts texts = read_conflict_texts(session.root, conflict.id);
  if (!conflict.is_about(ConflictSubject::text) || !texts.local || !texts.remote) {
    return fail(Failure::Kind::usage,
                fmt::format("{} does not have two texts to merge", conflict.path.text()),
                "use --keep local, remote or both");
  }
  return texts;
}

Failure left_markers(const Conflict& conflict) {
  return {.kind = Failure::Kind::usage,
          .what = fmt::format("{} still has conflict markers", conflict.path.text()),
          .hint = "edit the file, remove them, then use --keep merged"};
}

bool holds_open_markers(const Session& session,
                        const Conflict& conflict,
                        const std::string& now,
                        const ThreeTexts& texts) {
  return is_merging_by_hand(session.root, conflict.id) &&
         merge::adds_markers(now, {texts.base.value_or(""), texts.local.value_or(""), texts.remote.value_or("")});
}

}  // namespace

Result<void> write_markers(Session& session, const Conflict& conflict) {
  WS_LET(const ThreeTexts texts, recorded_texts(session, conflict));
  WS_LET(SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const std::optional<std::string> now, read_if_there(writer, conflict.path));
  if (now && holds_open_markers(session, conflict, *now, texts)) return fail(left_markers(conflict));
  WS_LET(const merge::Merge merged,
         merge::merge_markdown(
             texts.base.value_or(""), *texts.local, *texts.remote, {.merge_later = session.config.merge_later}));
  WS_TRY(replace_file(session, writer, conflict.path, now, merge::with_markers(merged, our_label, their_label)));
  return mark_merging_by_hand(session.root, conflict.id);
}

Result<std::string> merged_text(Session& session, const Conflict& conflict) {
  WS_LET(const ThreeTexts texts, recorded_texts(session, conflict));
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(std::optional<std::string> now, read_if_there(writer, conflict.path));
  if (!now) now = texts.local;
  if (holds_open_markers(session, conflict, *now, texts)) return fail(left_markers(conflict));
  if (is_merging_by_hand(session.root, conflict.id)) return std::move(*now);
  WS_LET(
      const merge::Merge merged,
      merge::merge_markdown(texts.base.value_or(""), *now, *texts.remote, {.merge_later = session.config.merge_later}));
  if (merged.is_clean()) return merged.text();
  return fail(Failure::Kind::usage,
              fmt::format("the texts at {} collide: --keep merged needs the merged text", conflict.path.text()),
              "give it with --file FILE|-, or --markers puts both into the file for you to edit");
}

}  // namespace ws::sync
