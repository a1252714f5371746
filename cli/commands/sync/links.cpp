// Links of the notes: those that lead nowhere, those that follow a rename.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/sync/link_tree.hpp"
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
    case BrokenLink::Obstacle::ignored: return fmt::format("`{}` exists, but git ignores it", link.target);
    case BrokenLink::Obstacle::above_root:
    case BrokenLink::Obstacle::nothing: break;
  }
  return fmt::format("`{}` does not exist", link.target);
}

std::string what_of(const BrokenLink& link) {
  std::string text;
  switch (link.why) {
    case BrokenLink::Why::no_file: text = missing_file(link); break;
    case BrokenLink::Why::no_heading:
      text = fmt::format("`{}` names a heading that does not exist", link.target);
      break;
    case BrokenLink::Why::ambiguous: text = fmt::format("`{}` matches several files equally well", link.target); break;
    case BrokenLink::Why::outside:
      text = fmt::format("`{}` leads {}",
                         link.target,
                         link.obstacle == BrokenLink::Obstacle::above_root ? "outside of the git repository"
                                                                           : "to a place that is not synced");
      break;
  }
  if (!link.nearest.empty())
    text += fmt::format("; {} `{}`",
                        link.is_renamed ? "it was renamed to" : "the nearest name is",
                        link.written.empty() ? link.nearest : link.written);
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

/// A command of GitHub's runner, which shows it beside the line. Its own characters are written as it asks for.
std::string annotation_of(const BrokenLink& link, const std::string& path) {
  const auto escaped = [](std::string_view text, bool is_property) {
    std::string out;
    for (const char c : text) {
      const bool is_special = c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
      out += is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
    }
    return out;
  };
  return fmt::format("::error file={},line={},col={},title=Broken link::{}",
                     escaped(clean(path, Breaks::space), true),
                     link.line,
                     link.column,
                     escaped(clean(what_of(link), Breaks::space), false));
}

/// GitHub reads names from the top of the repository.
std::string path_in_repository(const fs::path& root, const std::string& path) {
  const std::optional<fs::path> top = sync::find_work_tree(root);
  std::error_code failed;
  const fs::path real = fs::canonical(root, failed);
  return top && !failed ? (real / path).lexically_relative(*top).string() : path_from_here(root, path);
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
    session.note(clean(note, Breaks::space) + " has too many links in one paragraph to read them all; split it");
}

/// Lines for people and editors; a list where its format or its fields were asked for.
bool wants_lines(const Session& session) {
  const auto format = session.arguments().value("format");
  if (session.has("fields") || session.has("template") || session.has("jq")) return false;
  return format ? *format == "quickfix" || *format == "github" || *format == "table" : true;
}

/// Without a repository: the working directory, where `folder` lies in it, for links lead out of a folder that is
/// checked alone. Not all of the home folder for the sake of one in it.
fs::path folder_of_links(const Session& session, const fs::path& folder) {
  std::error_code failed;
  const fs::path here = fs::canonical(fs::current_path(failed), failed);
  const bool is_beneath = !failed && *folder.lexically_relative(here).begin() != "..";
  const bool is_home = fs::equivalent(here, session.world().environment.text("HOME").value_or("/"), failed);
  return is_beneath && !is_home && here.has_relative_path() ? here : folder;
}

Result<ExitCode> check(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  fs::path start = words.empty() ? fs::current_path() : fs::absolute(words.front());
  // A link to the folder, or into it, is another name for notes that are known by their own.
  std::error_code ignored;
  if (const fs::path real = fs::canonical(start, ignored); !ignored) start = real;
  const fs::file_status found = fs::status(start, ignored);
  if (!fs::exists(found)) {
    return fail(Failure::Kind::not_found, "there is no file or folder " + start.string());
  }
  const fs::path folder = fs::is_directory(found) ? start : start.parent_path();
  WS_LET(LinkTree tree, LinkTree::open(session, folder, folder_of_links(session, folder)));
  std::string place = words.empty() && tree.is_synced() ? std::string() : path_in_tree(tree.root(), start.string());
  if (place == ".") place.clear();
  WS_LET(const sync::CheckedLinks checked, tree.broken_links(place));
  const std::vector<BrokenLink>& broken = checked.broken;
  const bool lines = (session.format() == Format::table || session.format() == Format::tsv) && wants_lines(session);
  if (lines) {
    const std::string format = session.arguments().value("format").value_or("");
    const bool is_from_here = format == "quickfix" || !tree.is_synced();
    for (const BrokenLink& link : broken) {
      session.printer().line(format == "github"
                                 ? annotation_of(link, path_in_repository(tree.root(), link.path))
                                 : line_of(link, is_from_here ? path_from_here(tree.root(), link.path) : link.path));
    }
    if (broken.empty() && checked.unread.empty()) session.note("No link is broken.");
  } else {
    Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
    for (const BrokenLink& link : broken) list["data"].push_back(broken_to_json(link));
    print_own_list(session, "ws.links", list);
  }
  print_unread(session, checked.unread);
  if (checked.stopped_comparing) {
    session.note("note: too many links are broken to look for the nearest name of each");
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

/// Above a question they are not left to a pager, which shows them after it.
enum class Followed { by_nothing, by_question };

Result<void> print_edits(Session& session, const Relinked& told, Followed followed = Followed::by_nothing) {
  std::string page;
  for (const auto& [from, to] : told.moved) {
    page += fmt::format("rename {} -> {}\n", clean(from, Breaks::space), clean(to, Breaks::space));
  }
  for (const sync::RelinkedNote& note : told.notes) {
    WS_LET(const std::string hunks, sync::git::diff_text(note.before, note.after));
    const std::string path = clean(note.path, Breaks::space);
    page += fmt::format("--- before/{}\n+++ after/{}\n", path, path) + coloured_diff(session, hunks);
  }
  if (followed == Followed::by_question) {
    session.printer().line(page.substr(0, page.find_last_not_of('\n') + 1));
  } else {
    session.printer().page(page);
  }
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

/// `back`: the command that takes it back; null: there is none.
void print_done(Session& session, const Relinked& told, const ShellCommand* back) {
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
  if (session.format() == Format::table && back != nullptr)
    session.printer().sentence("to undo it: " + back->in_backticks());
}

ShellCommand undo_command(const LinkTree& tree) { return program_for(tree.tied()).add({"sync", "undo"}); }

/// Without the slash of a folder's name.
std::string without_slash(const std::string& given) {
  const fs::path path(given);
  return path.lexically_normal().has_filename() ? given : path.parent_path().string();
}

Result<ExitCode> move_file(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  const std::string source = without_slash(words[0]);
  // `ws sync mv` is for what is synced, and says what the other folders have.
  const auto here = sync::find_root(fs::current_path());
  if (session.command().words == "sync mv" && !here) return fail(here.error());
  WS_LET(LinkTree tree,
         LinkTree::open(session, here ? fs::current_path() : fs::absolute(source).parent_path(), fs::current_path()));
  WS_LET(const sync::RelativePath from, tree.path(source));
  std::error_code error;
  fs::path target = words[1];
  // As mv(1) does: into a folder that is there.
  const bool is_same = fs::equivalent(words[0], target, error);
  if (!is_same && fs::is_directory(target, error)) target /= from.name();
  if (!target.has_filename()) target = target.parent_path();
  WS_LET(const sync::RelativePath to, tree.path(target.string()));
  const bool is_planned = session.has("dry-run");
  // The folder may be the very one that the interrupted command made.
  WS_LET(const bool was_interrupted,
         tree.finish_interrupted({move_command(from, to.string()), move_command(from, std::string(to.folder()))},
                                 is_planned));
  if (was_interrupted) {
    if (prints_json(session)) session.printer().json(relinked_to_json({}, false));
    return ExitCode::done;
  }
  WS_LET(const Relinked told, tree.move(from, to, is_planned));
  if (!is_planned) {
    const ShellCommand back =
        tree.is_synced() ? undo_command(tree) : ShellCommand{"ws", "links", "mv"}.path(target.string()).path(source);
    print_done(session, told, &back);
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
  WS_LET(LinkTree tree, LinkTree::open(session, fs::current_path(), fs::current_path()));
  sync::FixOptions options;
  for (const std::string& given : session.arguments().values("rename")) {
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos) return fail(Failure::Kind::usage, "--rename takes FROM=TO, not `" + given + "`");
    WS_LET(const sync::RelativePath from, tree.path(given.substr(0, equals)));
    WS_LET(const sync::RelativePath to, tree.path(given.substr(equals + 1)));
    options.renames.emplace(from.string(), to.string());
  }
  if (!tree.is_synced() && options.renames.empty())
    return fail(Failure::Kind::usage,
                "this folder is not synced, so no history knows what was renamed here",
                "name it: --rename FROM=TO");
  const bool is_planned = session.has("dry-run");
  WS_LET(const bool was_interrupted, tree.finish_interrupted({fix_command(options)}, is_planned));
  if (was_interrupted) {
    if (prints_json(session)) session.printer().json(relinked_to_json({}, false));
    return ExitCode::done;
  }
  WS_LET(const Relinked planned, tree.fix(options, true));
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
  if (!prints_json(session))
    WS_TRY(print_edits(session, planned, is_planned ? Followed::by_nothing : Followed::by_question));
  if (is_planned) return ExitCode::done;
  WS_LET(const bool agreed,
         session.confirm(
             fmt::format("edit {} in {}?", counted(planned.links, "link"), counted(planned.notes.size(), "note"))));
  if (!agreed) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
  WS_LET(const Relinked done, tree.fix(options, false));
  const std::optional<ShellCommand> back = tree.is_synced() ? std::optional(undo_command(tree)) : std::nullopt;
  print_done(session, done, back ? &*back : nullptr);
  return ExitCode::done;
}

Flag gitignore_flag() {
  return {.name = "gitignore",
          .placeholder = "yes|no",
          .help = "in a folder that is not synced: leave out what git ignores",
          .fallback = "yes"};
}

constexpr const char* unsynced_places =
    " Works in any folder: in one that is not synced it covers the git repository around it, or else the working "
    "directory";

}  // namespace

Command links_check_command() {
  return {.words = "links check",
          .summary = "List the broken links",
          .details =
              std::string(
                  "Lists every link of a note to a file or a heading that does not exist, as PATH:LINE:COLUMN: what is "
                  "wrong, and the nearest name that exists. --format quickfix prints the same lines for an editor, "
                  "--format github annotations for a workflow. Ends with 1 if there are any, or if a note has too many "
                  "links in one paragraph to read them all.") +
              unsynced_places + "; nothing is written.",
          .arguments = {{.placeholder = "PATH",
                         .help = "only this note, or the notes below this folder",
                         .count = Count::optional}},
          .flags = {gitignore_flag()},
          .examples = {"ws links check", "ws links check notes --json", "ws links check docs --format github"},
          .run = check};
}

Command links_fix_command() {
  return {.words = "links fix",
          .summary = "Fix the links that a rename broke",
          .details =
              "Edits the links to files that were renamed, as the history of this folder or --rename says; nothing but "
              "the link targets changes. It shows the edits and asks first; `ws sync undo` undoes them. In a folder "
              "that is not synced --rename is needed, and git undoes the edits.",
          .flags = {{.name = "rename",
                     .placeholder = "FROM=TO",
                     .is_repeated = true,
                     .help = "a file or folder that was renamed, instead of those that the history knows"},
                    gitignore_flag()},
          .examples = {"ws links fix", "ws links fix --rename old.md=notes/new.md --yes"},
          .run = fix};
}

Command links_mv_command() {
  return {.words = "links mv",
          .summary = "Rename a file or folder, and the links to it",
          .details =
              std::string(
                  "Renames the file, and edits the links to it in every note and the relative links of the notes that "
                  "move; nothing but the link targets changes, and no file is replaced. -n shows the edits. In a "
                  "synced folder it is `ws sync mv`. If it is interrupted, run the same command again to finish it.") +
              unsynced_places + ".",
          .arguments = {{.placeholder = "FROM", .help = "a file or folder"},
                        {.placeholder = "TO", .help = "its new name, or a folder to put it in"}},
          .flags = {gitignore_flag()},
          .examples = {"ws links mv draft.md notes/final.md", "ws links mv img assets -n"},
          .run = move_file};
}

Command sync_mv_command() {
  return {.words = "sync mv",
          .summary = "Rename a file or folder, and the links to it",
          .details =
              "Renames the file here, and edits the links to it in every synced note and the relative links of the "
              "notes that move; nothing but the link targets changes. The next `ws sync` sends it; `ws sync undo` "
              "undoes it. -n shows the edits.",
          .arguments = {{.placeholder = "FROM", .help = "a file or folder"},
                        {.placeholder = "TO", .help = "its new name, or a folder to put it in"}},
          .examples = {"ws sync mv draft.md notes/final.md", "ws sync mv img assets -n"},
          .run = move_file};
}

}  // namespace ws::cli
