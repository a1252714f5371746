// `ws merge`: three texts become one, by itself or as git's merge driver. It needs no service and reads no settings.
#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sys/stat.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/process.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/commands/merge/git_driver.hpp"
#include "cli/commands/shared/commands.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/merge/explain.hpp"
#include "sync-engine/merge/markers.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::cli {
namespace {

using sync::git::MergedFile;
using sync::merge::Markers;
using sync::merge::MarkerStyle;

/// As `git merge-file` and `diff3 -m` end; what fails ends with a number above it.
constexpr auto has_conflicts = ExitCode{1};

/// What git's own merge reads (MAX_XDIFF_SIZE).
constexpr std::size_t max_file_bytes = std::size_t{1023} << 20U;
/// Of the three texts together. What is longer is merged by lines.
constexpr std::size_t max_markdown_bytes = std::size_t{48} << 20U;
constexpr std::size_t max_marker_size = 1000;

struct Texts {
  std::string base = {};
  std::string ours = {};
  std::string theirs = {};

  template <class Predicate>
  bool any(const Predicate& holds) const {
    return holds(base) || holds(ours) || holds(theirs);
  }
};

Result<std::string> read_side(const std::string& path) {
  auto text = read_file(path, max_file_bytes, Source::anything);
  if (text) return text;
  return fail(Failure::Kind::usage, text.error().what);
}

/// Asked only where there is a conflict: `merge.conflictStyle` is git's to read, by a program of its own.
MarkerStyle git_style() {
  const auto asked = run_process({"git", "config", "--get", "merge.conflictStyle"}, {}, {});
  if (!asked) return MarkerStyle::merge;
  const std::string_view name = trimmed(asked->out, " \n");
  if (name == "diff3") return MarkerStyle::diff3;
  return name == "zdiff3" ? MarkerStyle::zdiff3 : MarkerStyle::merge;
}

/// Empty: none is given.
Result<std::optional<MarkerStyle>> given_style(const Session& session) {
  const auto name = session.arguments().value("style");
  if (!name) return std::optional<MarkerStyle>();
  if (*name == "merge") return std::optional(MarkerStyle::merge);
  if (*name == "diff3") return std::optional(MarkerStyle::diff3);
  if (*name == "zdiff3") return std::optional(MarkerStyle::zdiff3);
  return fail(Failure::Kind::usage, "--style takes merge, diff3 or zdiff3, not `" + *name + "`");
}

/// A git that does not know the placeholder passes it on as it is.
std::string label_of(const Session& session,
                     std::string_view flag,
                     std::string_view placeholder,
                     const std::string& label) {
  const auto given = session.arguments().value(flag);
  const bool is_given = given && !(session.has("driver") && *given == placeholder);
  return clean(is_given ? *given : label, Breaks::space);
}

Result<Markers> markers_of(const Session& session) {
  const bool is_driver = session.has("driver");
  const std::vector<std::string>& files = session.arguments().words;
  Markers markers{.ours = label_of(session, "label-ours", "%X", is_driver ? "ours" : files[1]),
                  .base = label_of(session, "label-base", "%S", is_driver ? "base" : files[0]),
                  .theirs = label_of(session, "label-theirs", "%Y", is_driver ? "theirs" : files[2])};
  if (const auto size = session.arguments().value("marker-size")) {
    const auto number = parse_whole<std::size_t>(*size);
    if (!number || *number == 0 || *number > max_marker_size) {
      return fail(Failure::Kind::usage,
                  fmt::format("--marker-size takes a number from 1 to {}, not `{}`", max_marker_size, *size));
    }
    markers.size = *number;
  }
  return markers;
}

/// Why a Markdown file is merged by lines; empty: it is not.
std::string_view reason_for_lines(const Texts& texts) {
  if (texts.base.size() + texts.ours.size() + texts.theirs.size() > max_markdown_bytes) return "is too large";
  if (texts.any([](std::string_view text) { return text.find('\0') != std::string_view::npos; })) return "holds a NUL";
  if (texts.any([](std::string_view text) { return !utf8::is_valid(text); })) return "is not UTF-8";
  return {};
}

class FileMerge {
 public:
  /// Calls `style` only if there is a conflict, and `explain` once for each place that was merged as Markdown.
  FileMerge(const Texts& texts,
            Markers markers,
            std::function<MarkerStyle()> style,
            std::function<void(const std::string&)> explain)
      : texts_(texts), markers_(std::move(markers)), style_(std::move(style)), explain_(std::move(explain)) {}

  Result<MergedFile> by_lines() {
    WS_LET(MergedFile merged, sync::git::merge_file(texts_.base, texts_.ours, texts_.theirs, markers_));
    if (merged.is_clean) return merged;
    markers_.style = style_();
    return sync::git::merge_file(texts_.base, texts_.ours, texts_.theirs, markers_);
  }

  Result<MergedFile> as_markdown() {
    WS_LET(const auto merge, sync::merge::merge_markdown(texts_.base, texts_.ours, texts_.theirs));
    // The merge takes these for one piece.
    const bool is_mixed = texts_.any([](std::string_view text) { return !sync::merge::take_form(text); });
    if (is_mixed && !merge.is_clean()) return by_lines();
    if (explain_) {
      for (const auto& place : sync::merge::explain(merge)) explain_(place.sentence());
    }
    if (merge.is_clean()) return MergedFile{.text = merge.text()};
    markers_.style = style_();
    return MergedFile{.text = sync::merge::with_markers(merge, markers_), .is_clean = false};
  }

 private:
  const Texts& texts_;
  Markers markers_;
  std::function<MarkerStyle()> style_;
  std::function<void(const std::string&)> explain_;  ///< empty: nobody asks
};

/// Empty where git merges nothing: all three differ, and one is binary.
Result<std::optional<MergedFile>> merge_texts(Session& session, const std::string& name, const Texts& texts) {
  WS_LET(Markers markers, markers_of(session));
  WS_LET(const std::optional<MarkerStyle> given, given_style(session));
  using Merged = std::optional<MergedFile>;
  if (texts.ours == texts.theirs || texts.theirs == texts.base) return Merged({.text = texts.ours});
  if (texts.ours == texts.base) return Merged({.text = texts.theirs});
  if (texts.any(sync::git::is_binary)) return Merged();
  const bool is_driver = session.has("driver");
  std::function<void(const std::string&)> explain;
  if (session.has("explain")) explain = [&](const std::string& sentence) { session.note(sentence); };
  FileMerge merge(
      texts,
      std::move(markers),
      [&] { return given       ? *given
                   : is_driver ? git_style()
                               : MarkerStyle(); },
      std::move(explain));
  const bool is_markdown = sync::is_markdown(name);
  const std::string_view reason = is_markdown ? reason_for_lines(texts) : std::string_view();
  if (!reason.empty()) session.note(fmt::format("note: {} {}, so it is merged by lines as git does", name, reason));
  WS_LET(MergedFile merged, is_markdown && reason.empty() ? merge.as_markdown() : merge.by_lines());
  return Merged(std::move(merged));
}

/// git reads the file at once and removes it: nothing is flushed.
Result<void> replace_ours(const std::string& path, std::string_view text) {
  constexpr unsigned permissions = 07777;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return sync::disk_failure("read", path);
  return sync::replace_disposable(path, {text}, status.st_mode & permissions);
}

Result<ExitCode> merge_files(Session& session) {
  const std::vector<std::string>& files = session.arguments().words;
  const std::string name = session.arguments().value("path").value_or(files[1]);
  Texts texts;
  WS_LET(texts.base, read_side(files[0]));
  WS_LET(texts.ours, read_side(files[1]));
  WS_LET(texts.theirs, read_side(files[2]));
  WS_LET(const std::optional<MergedFile> merged, merge_texts(session, name, texts));
  const bool is_driver = session.has("driver");
  if (!merged && !is_driver) {
    return fail(Failure::Kind::usage, name + " is a binary file, which cannot be merged", "take one of the two");
  }
  if (merged && is_driver && merged->text != texts.ours) WS_TRY(replace_ours(files[1], merged->text));
  if (merged && !is_driver) session.printer().raw(merged->text);
  if (merged && merged->is_clean) return ExitCode::done;
  if (!is_driver) session.note(fmt::format("{} has conflicts: both texts stand between markers", name));
  return has_conflicts;
}

Result<ExitCode> run_merge(Session& session) {
  if (session.has("install") || session.has("uninstall")) return set_up_driver(session);
  constexpr std::size_t sides = 3;
  if (session.arguments().words.size() != sides) {
    return fail(Failure::Kind::usage,
                "three files are merged: the base, ours and theirs",
                "usage: ws merge BASE OURS THEIRS [flags]");
  }
  if (session.has("local") || session.has("global")) {
    return fail(Failure::Kind::usage, "--local and --global go with --install and --uninstall");
  }
  Result<ExitCode> ended = fail(Failure::Kind::disk, "there is not enough memory to merge the files");
  try {
    ended = merge_files(session);
  } catch (const std::bad_alloc&) {
    return ended;
  }
  // 1 says that there are conflicts, and the result is written.
  if (!ended && ended.error().kind == Failure::Kind::internal) ended.error().kind = Failure::Kind::disk;
  return ended;
}

}  // namespace

Command merge_command() {
  return {
      .words = "merge",
      .summary = "Merge three versions of a Markdown file, for git too",
      .details =
          "Merges by lines; where both sides changed the same lines, by words, table cells, list entries and keys of "
          "front matter. What still collides is put between conflict markers, as in git. A file whose name is not that "
          "of a Markdown file is merged by lines only. Ends with 0: merged; 1: there are conflicts; 2: a file cannot "
          "be read. It needs no service and no settings. With --install git merges Markdown with it.",
      .arguments = {{.placeholder = "BASE", .help = "the file that both sides began with", .count = Count::optional},
                    {.placeholder = "OURS", .help = "our version of the file", .count = Count::optional},
                    {.placeholder = "THEIRS", .help = "their version of the file", .count = Count::optional}},
      .flags = {{.name = "path",
                 .placeholder = "NAME",
                 .help = "the name of the file: is it Markdown? Otherwise that of OURS"},
                {.name = "style",
                 .placeholder = "STYLE",
                 .help = "how conflicts are marked: diff3 and zdiff3 show the base too",
                 .limits = "merge, diff3 or zdiff3",
                 .fallback = "merge"},
                {.name = "marker-size",
                 .placeholder = "N",
                 .help = "characters of a marker",
                 .limits = "1-1000",
                 .fallback = "7"},
                {.name = "label-ours",
                 .placeholder = "TEXT",
                 .help = "label for our side in the markers, instead of its file name"},
                {.name = "label-base",
                 .placeholder = "TEXT",
                 .help = "label for the base in the markers, instead of its file name"},
                {.name = "label-theirs",
                 .placeholder = "TEXT",
                 .help = "label for their side in the markers, instead of its file name"},
                {.name = "explain",
                 .help = "explain on stderr what each side changed at each place, and which rule merged it"},
                {.name = "install", .help = "set up git to merge Markdown with ws; -n shows what is written"},
                {.name = "uninstall", .help = "undo --install"},
                {.name = "local", .help = "in this repository alone, without a commit; the default"},
                {.name = "global", .help = "in all your repositories"},
                {.name = "driver",
                 .help = "as git calls it: the result goes to OURS; where ws fails, git merges by lines"}},
      .examples = {"ws merge base.md ours.md theirs.md", "ws merge --install"},
      .reads_no_settings = true,
      .run = run_merge};
}

}  // namespace ws::cli
