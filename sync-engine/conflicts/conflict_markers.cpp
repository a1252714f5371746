#include "sync-engine/conflicts/conflict_markers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/merge/merge.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/apply/replace_file.hpp"

namespace ws::sync {
namespace {

constexpr std::string_view our_label = "local";
constexpr std::string_view their_label = "remote";
constexpr std::array<std::string_view, 3> marker_lines = {"<<<<<<< local", "||||||| base", ">>>>>>> remote"};

std::size_t count_lines(std::string_view text, std::string_view wanted) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line == wanted) ++count;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return count;
}

Result<ThreeTexts> recorded_texts(const Session& session, const Conflict& conflict) {
  ThreeTexts texts = read_conflict_texts(session.root, conflict.id);
  if (is_about_place(conflict) || conflict.kind == ConflictKind::rewound || !texts.local || !texts.remote) {
    return fail(Failure::Kind::usage,
                fmt::format("there are no two texts at {} to merge", conflict.path.text()),
                "say --keep local, remote or both");
  }
  return texts;
}

Failure left_markers(const Conflict& conflict) {
  return {.kind = Failure::Kind::usage,
          .what = fmt::format("{} still holds conflict markers", conflict.path.text()),
          .hint = "edit the file, take them out, then say --keep merged"};
}

bool holds_open_markers(const Session& session,
                        const Conflict& conflict,
                        const std::string& now,
                        const ThreeTexts& texts) {
  return is_merging_by_hand(session.root, conflict.id) &&
         adds_markers(now, {texts.base.value_or(""), texts.local.value_or(""), texts.remote.value_or("")});
}

}  // namespace

bool adds_markers(std::string_view text, const std::vector<std::string_view>& others) {
  return std::any_of(marker_lines.begin(), marker_lines.end(), [&](std::string_view line) {
    const std::size_t count = count_lines(text, line);
    return count > 0 && std::all_of(others.begin(), others.end(), [&](std::string_view other) {
             return count_lines(other, line) < count;
           });
  });
}

Result<void> write_markers(Session& session, const Conflict& conflict) {
  WS_LET(const ThreeTexts texts, recorded_texts(session, conflict));
  WS_LET(SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const std::optional<std::string> now, read_if_there(writer, conflict.path));
  if (now && holds_open_markers(session, conflict, *now, texts)) return fail(left_markers(conflict));
  WS_LET(const merge::Merge merged,
         merge::merge_markdown(
             texts.base.value_or(""), *texts.local, *texts.remote, {.merge_later = session.config.merge_later}));
  WS_TRY(replace_file(session, writer, conflict.path, now, merge::with_markers(merged, our_label, their_label)));
  return note_merging_by_hand(session.root, conflict.id);
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
