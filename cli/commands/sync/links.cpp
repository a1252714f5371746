// Links of the notes: those that lead nowhere, those that follow a rename.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"
#include "sync-engine/git/changed_lines.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;
using sync::BrokenLink;
using sync::Relinked;

std::string_view name_of(BrokenLink::Why why) {
  switch (why) {
    case BrokenLink::Why::no_file: return "no_file";
    case BrokenLink::Why::no_heading: return "no_heading";
    case BrokenLink::Why::ambiguous: return "ambiguous";
    case BrokenLink::Why::outside: return "outside";
  }
  return "";
}

std::string missing_file(const BrokenLink& link) {
  switch (link.obstacle) {
    case BrokenLink::Obstacle::symbolic_link:
      return fmt::format("`{}` is a symbolic link, which ws does not follow", link.target);
    case BrokenLink::Obstacle::not_synced: return fmt::format("`{}` exists, but is not synced", link.target);
    case BrokenLink::Obstacle::nothing: break;
  }
  return fmt::format("`{}` does not exist", link.target);
}

std::string what_of(const BrokenLink& link) {
  std::string text;
  switch (link.why) {
    case BrokenLink::Why::no_file: text = missing_file(link); break;
    case BrokenLink::Why::no_heading: text = fmt::format("`{}` leads to no heading", link.target); break;
    case BrokenLink::Why::ambiguous: text = fmt::format("`{}` matches several files equally well", link.target); break;
    case BrokenLink::Why::outside: text = fmt::format("`{}` leads to a place that is not synced", link.target); break;
  }
  if (!link.nearest.empty())
    text += fmt::format("; {} `{}`", link.is_renamed ? "it was renamed to" : "the nearest name is", link.nearest);
  return text;
}

std::string line_of(const BrokenLink& link, const std::string& path) {
  return fmt::format(
      "{}:{}:{}: {}", clean(path, Breaks::space), link.line, link.column, clean(what_of(link), Breaks::space));
}

/// An editor reads names from the working directory.
std::string path_from_here(const fs::path& root, const std::string& path) {
  std::error_code failed;
  const fs::path here = fs::current_path(failed);
  const fs::path real = fs::canonical(root, failed);
  const fs::path relative = failed ? fs::path() : (real / path).lexically_relative(here);
  return relative.empty() ? path : relative.string();
}

Json broken_to_json(const BrokenLink& link) {
  return {{"path", link.path},
          {"line", link.line},
          {"column", link.column},
          {"target", link.target},
          {"problem", name_of(link.why)},
          {"message", what_of(link)},
          {"nearest", link.nearest.empty() ? Json() : Json(link.nearest)}};
}

/// What could not be read is said: a text without broken links may still have some.
void print_unread(Session& session, const std::vector<std::string>& unread) {
  for (const std::string& note : unread)
    session.note(clean(note, Breaks::space) +
                 ": not all of its links can be read, for too many stand in one paragraph; split it");
}

/// Lines for people and editors; a list where its format or its fields were asked for.
bool wants_lines(const Session& session) {
  const auto format = session.arguments().value("format");
  if (session.has("fields") || session.has("template") || session.has("jq")) return false;
  return format ? *format == "quickfix" || *format == "table" : true;
}

Result<ExitCode> check(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  fs::path start = words.empty() ? fs::current_path() : fs::absolute(words.front());
  // A link to the folder, or into it, is another name for notes that are known by their own.
  std::error_code ignored;
  if (const fs::path real = fs::canonical(start, ignored); !ignored) start = real;
  const fs::file_status found = fs::status(start, ignored);
  if (!fs::exists(found)) return fail(Failure::Kind::not_found, "there is no file or folder " + start.string());
  WS_LET(SyncTree tree, open_tree(session, fs::is_directory(found) ? start : start.parent_path(), Network::none));
  std::string place = words.empty() ? std::string() : path_in_tree(tree.root, start.string());
  if (place == ".") place.clear();
  WS_LET(const sync::CheckedLinks checked, tree.engine->broken_links(place));
  const std::vector<BrokenLink>& broken = checked.broken;
  tree.progress->clear();
  const bool lines = (session.format() == Format::table || session.format() == Format::tsv) && wants_lines(session);
  if (lines) {
    const bool is_for_editors = session.arguments().value("format") == "quickfix";
    for (const BrokenLink& link : broken) {
      session.printer().line(line_of(link, is_for_editors ? path_from_here(tree.root, link.path) : link.path));
    }
    if (broken.empty() && checked.unread.empty()) session.note("No link is broken.");
  } else {
    Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
    for (const BrokenLink& link : broken) list["data"].push_back(broken_to_json(link));
    print_own_list(session, "ws.links", list);
  }
  print_unread(session, checked.unread);
  if (checked.stopped_comparing) {
    session.note("note: so many links are broken that the nearest name was not looked for everywhere");
  }
  return broken.empty() && checked.unread.empty() ? ExitCode::done : ExitCode::unexpected;
}

Json relinked_to_json(const Relinked& told, bool is_planned) {
  Json moved = Json::array();
  for (const auto& [from, to] : told.moved) moved.push_back({{"path", to}, {"previous_path", from}});
  Json notes = Json::array();
  for (const sync::RelinkedNote& note : told.notes) notes.push_back({{"path", note.path}, {"links", note.links}});
  return {{"v", 1},
          {"planned", is_planned},
          {"moved", std::move(moved)},
          {"notes", std::move(notes)},
          {"links", told.links},
          {"left", told.left},
          {"unread", told.unread},
          {"stayed", told.stayed}};
}

bool prints_json(const Session& session) {
  return session.format() == Format::json || session.format() == Format::ndjson || session.format() == Format::yaml;
}

Result<void> print_edits(Session& session, const Relinked& told) {
  std::string page;
  for (const auto& [from, to] : told.moved) {
    page += fmt::format("rename {} -> {}\n", clean(from, Breaks::space), clean(to, Breaks::space));
  }
  for (const sync::RelinkedNote& note : told.notes) {
    WS_LET(const std::string hunks, sync::git::diff_text(note.before, note.after));
    const std::string path = clean(note.path, Breaks::space);
    page += fmt::format("--- before/{}\n+++ after/{}\n", path, path) + coloured_diff(session, hunks);
  }
  session.printer().page(page);
  return {};
}

/// What could not be done.
void print_left_links(Session& session, const Relinked& told) {
  if (told.left > 0)
    session.note(counted(told.left, "link") +
                 " cannot be written in its present style: `ws links check` shows the links");
  print_unread(session, told.unread);
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(most, told.stayed.size()); ++i)
    session.note("not moved: " + clean(told.stayed[i], Breaks::space));
  if (told.stayed.size() > most) session.note(fmt::format("not moved: {} more", told.stayed.size() - most));
}

void print_done(Session& session, const SyncTree& tree, const Relinked& told) {
  if (prints_json(session)) return session.printer().json(relinked_to_json(told, false));
  std::string line;
  if (!told.moved.empty()) line = "renamed " + counted(told.moved.size(), "file");
  if (told.links > 0)
    line += fmt::format("{}{} in {}",
                        line.empty() ? "edited " : ", edited ",
                        counted(told.links, "link"),
                        counted(told.notes.size(), "note"));
  session.printer().line(line);
  print_left_links(session, told);
  if (session.format() == Format::table)
    session.printer().sentence("to take it back: " + program_for(tree).add({"sync", "undo"}).in_backticks());
}

Result<sync::RelativePath> tree_path(const SyncTree& tree, const std::string& given) {
  return sync::RelativePath::parse(path_in_tree(tree.root, given)).map_error([&](Failure failure) {
    failure.kind = Failure::Kind::usage;
    failure.hint = fmt::format("{} is not in the tree {}", given, tree.root.string());
    return failure;
  });
}

Result<ExitCode> move_file(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const sync::RelativePath from,
         tree_path(tree,
                   fs::path(words[0]).lexically_normal().has_filename() ? words[0]
                                                                        : fs::path(words[0]).parent_path().string()));
  std::error_code error;
  fs::path target = words[1];
  // As mv(1) does: into a folder that is there.
  const bool is_same = fs::equivalent(words[0], target, error);
  if (!is_same && fs::is_directory(target, error)) target /= from.name();
  if (!target.has_filename()) target = target.parent_path();
  WS_LET(const sync::RelativePath to, tree_path(tree, target.string()));
  const bool is_planned = session.has("dry-run");
  WS_LET(const Relinked told, tree.engine->move(from, to, is_planned));
  tree.progress->clear();
  if (!is_planned) {
    print_done(session, tree, told);
    return ExitCode::done;
  }
  if (prints_json(session)) {
    session.printer().json(relinked_to_json(told, true));
  } else {
    WS_TRY(print_edits(session, told));
    print_left_links(session, told);
  }
  return ExitCode::done;
}

Result<ExitCode> fix(Session& session) {
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  sync::FixOptions options;
  for (const std::string& given : session.arguments().values("rename")) {
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos) return fail(Failure::Kind::usage, "--rename takes FROM=TO, not `" + given + "`");
    WS_LET(const sync::RelativePath from, tree_path(tree, given.substr(0, equals)));
    WS_LET(const sync::RelativePath to, tree_path(tree, given.substr(equals + 1)));
    options.renames.emplace(from.string(), to.string());
  }
  WS_LET(const Relinked planned, tree.engine->fix_links(options, true));
  tree.progress->clear();
  const bool is_planned = session.has("dry-run");
  if (planned.notes.empty()) {
    if (prints_json(session)) session.printer().json(relinked_to_json(planned, is_planned));
    print_left_links(session, planned);
    session.note("no link was broken by a rename; `ws links check` lists the broken links");
    return ExitCode::done;
  }
  if (is_planned && prints_json(session)) {
    session.printer().json(relinked_to_json(planned, true));
    return ExitCode::done;
  }
  if (!prints_json(session)) WS_TRY(print_edits(session, planned));
  if (is_planned) return ExitCode::done;
  WS_LET(const bool agreed,
         session.confirm(
             fmt::format("edit {} in {}?", counted(planned.links, "link"), counted(planned.notes.size(), "note"))));
  if (!agreed) return ExitCode::done;
  WS_LET(const Relinked done, tree.engine->fix_links(options, false));
  tree.progress->clear();
  print_done(session, tree, done);
  return ExitCode::done;
}

}  // namespace

Command links_check_command() {
  return {.words = "links check",
          .summary = "List the links that lead nowhere",
          .details =
              "Lists every link of a synced note to a file or a heading that does not exist, as PATH:LINE:COLUMN: what "
              "is wrong, and the nearest name that exists. --format quickfix prints the same lines for an editor. Ends "
              "with 1 if there are any, or if a note has too many links in one paragraph to read them all.",
          .arguments = {{.placeholder = "PATH",
                         .help = "only this note, or the notes below this folder",
                         .count = Count::optional}},
          .examples = {"ws links check", "ws links check notes --json", "ws links check --format quickfix"},
          .run = check};
}

Command links_fix_command() {
  return {.words = "links fix",
          .summary = "Fix the links that a rename broke",
          .details =
              "Edits the links to files that were renamed, as the history of this folder or --rename says; nothing but "
              "the link targets changes. It shows the edits and asks first; `ws sync undo` takes them back.",
          .flags = {{.name = "rename",
                     .placeholder = "FROM=TO",
                     .is_repeated = true,
                     .help = "a file or folder that was renamed, instead of those that the history knows"}},
          .examples = {"ws links fix", "ws links fix --rename old.md=notes/new.md --yes"},
          .run = fix};
}

Command sync_mv_command() {
  return {.words = "sync mv",
          .summary = "Rename a file or folder, and the links to it",
          .details =
              "Renames the file here, and edits the links to it in every synced note and the relative links of the "
              "notes that move; nothing but the link targets changes. The next `ws sync` sends it; `ws sync undo` "
              "takes it back. -n shows the edits.",
          .arguments = {{.placeholder = "FROM", .help = "a file or folder"},
                        {.placeholder = "TO", .help = "its new name, or a folder to put it in"}},
          .examples = {"ws sync mv draft.md notes/final.md", "ws sync mv img assets -n"},
          .run = move_file};
}

}  // namespace ws::cli
