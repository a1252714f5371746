#include "cli/walk/guide.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/process.hpp"
#include "cli/terminal/keyboard.hpp"
#include "cli/terminal/programs.hpp"
#include "cli/walk/plain_page.hpp"
#include "sync-engine/model/file_name.hpp"

namespace ws::cli::walk {
namespace {

// xterm's private modes: 1049 alternate screen, 25 cursor, 2026 synchronized update (terminals ignore modes that they
// do not know).
constexpr Sequence take_screen = "\033[?1049h\033[?25l";
constexpr Sequence give_screen_back = "\033[?25h\033[?1049l";
constexpr Sequence begin_frame = "\033[?2026h\033[H";
constexpr Sequence end_frame = "\033[J\033[?2026l";
constexpr Sequence end_of_row = "\033[K";
constexpr Sequence next_row = "\r\n";

/// The terminal's alternate screen on stderr, drawn frame by frame.
class ScreenSurface final : public Surface {
 public:
  ScreenSurface(Terminal& terminal, const std::atomic<bool>& cancelled) : terminal_(terminal), keyboard_(cancelled) {
    keyboard_.before_stop = [this] { leave(); };
    keyboard_.after_stop = [this] { enter(); };
  }
  ~ScreenSurface() override {
    lend();
    for (const std::string& line : told_) terminal_.write(Stream::err, line + "\n");
  }

  KeyPress ask(Walk& walk, const Position& position) override {
    // Raw mode before the first frame, so that no typed key is echoed into it.
    if (!keyboard_.begin()) return KeyPress::of(KeyPress::Sort::stopped);
    enter();
    draw(walk, position);
    return keyboard_.next();
  }

  void lend() override {
    leave();
    keyboard_.end();
  }

  void busy() override { keyboard_.end(); }

  /// Printed after the alternate screen is left, which would discard it.
  void tell(const std::string& line) override { told_.push_back(line); }

 private:
  void enter() {
    if (!std::exchange(is_ours_, true)) terminal_.write(Stream::err, terminal_.marked(take_screen));
  }

  void leave() {
    if (std::exchange(is_ours_, false)) terminal_.write(Stream::err, terminal_.marked(give_screen_back));
  }

  /// From the top, in one write.
  void draw(Walk& walk, const Position& position) {
    const Terminal::Size size = terminal_.size_now();
    const ScreenSize room{.columns = static_cast<std::size_t>(size.columns),
                          .rows = static_cast<std::size_t>(size.rows)};
    std::string text;
    for (const ScreenRow& row : frame(walk, position, room, terminal_.has_color(Stream::err))) {
      text += terminal_.marked(text.empty() ? begin_frame : next_row);
      for (const Fragment& fragment : row) text += terminal_.paint(Stream::err, fragment.look, fragment.text);
      text += terminal_.marked(end_of_row);
    }
    terminal_.write(Stream::err, text + terminal_.marked(end_frame));
  }

  Terminal& terminal_;
  bool is_ours_ = false;
  Keyboard keyboard_;
  std::vector<std::string> told_ = {};
};

/// Prints each new page as lines and reads a line; never redraws.
class LineSurface final : public Surface {
 public:
  LineSurface(Terminal& terminal, const std::atomic<bool>& cancelled) : terminal_(terminal), cancelled_(cancelled) {}

  KeyPress ask(Walk& walk, const Position& position) override {
    std::vector<std::string> page = plain_page(walk, position);
    if (page != page_) {
      say("");
      for (const std::string& line : page) say(line);
      page_ = std::move(page);
    }
    if (!walk.notice().empty()) say(safe_line(walk.notice()));
    while (true) {
      say(plain_question(walk));
      const auto line = terminal_.ask_line("Choice: ");
      if (!line || cancelled_.load()) return KeyPress::of(KeyPress::Sort::stopped);
      if (const auto key = find_key(walk, *line)) return *key;
      say(line->empty() ? "Nothing was typed." : "That word is not a choice here.");
    }
  }

  void lend() override { page_.clear(); }
  void busy() override {}
  void tell(const std::string& line) override { say(line); }

 private:
  void say(const std::string& line) { terminal_.write(Stream::err, line + "\n"); }

  Terminal& terminal_;
  const std::atomic<bool>& cancelled_;
  std::vector<std::string> page_ = {};
};

namespace fs = std::filesystem;

/// A temporary folder that only this user can read; removed at the end.
class ToolFolder {
 public:
  static Result<ToolFolder> make() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "ws-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
      return fail(Failure::Kind::disk, "cannot make a folder for the texts", "check TMPDIR");
    }
    return ToolFolder(std::move(name));
  }
  ToolFolder(ToolFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ToolFolder& operator=(ToolFolder&&) = delete;
  ~ToolFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  explicit ToolFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

/// `role` tells the sides apart.
std::string tame_name(const std::string& name, const std::string& role) {
  const std::string ending = (role.empty() ? "" : "_" + role) + ".md";
  return sync::file_name(sync::NamedBy::tool, fs::path(name).stem().string(), ending);
}

/// A value of git's configuration; empty if it is not set or git is not installed.
std::string git_setting(const std::string& key) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const Descriptor reading_end(ends[0]);
  Descriptor writing_end(ends[1]);
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto git = Process::start({"git", "config", "--get", key}, {.out = writing_end.get(), .err = nothing.get()});
  if (!git) return {};
  writing_end = Descriptor();
  const auto value = read_open_file(reading_end.get(), "git config", std::size_t{64} << 10U);
  git->wait();
  return value ? std::string(trimmed_end(*value, "\n")) : std::string();
}

bool is_tool_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

/// A shell command that runs the tool on $LOCAL, $BASE, $REMOTE and $MERGED.
std::string line_for(const std::string& tool) {
  const std::string files = "LOCAL=$1 BASE=$2 REMOTE=$3 MERGED=$4 BACKUP=$1\n";
  const std::string own = git_setting("mergetool." + tool + ".cmd");
  if (!own.empty()) return files + own;
  // A tool that git supports by name: git's own scripts run it (git-mergetool--lib(1)).
  return files + "TOOL_MODE=merge\n. \"$(git --exec-path)/git-mergetool--lib\" && run_merge_tool '" + tool + "' true";
}

std::string sentence_of(const Failure& failure) {
  std::string text = failure.what + ".";
  if (!failure.hint.empty()) text += " Try: " + failure.hint + ".";
  return text;
}

class Guide {
 public:
  Guide(Walk walk, const SideNames& names, ConflictResolver& resolver, Surface& surface, const TextTools& tools)
      : walk_(std::move(walk)), names_(names), resolver_(resolver), surface_(surface), tools_(tools) {}

  Result<WalkEnd> lead(const Position& position) {
    while (true) {
      const KeyPress key = surface_.ask(walk_, position);
      if (key.sort == KeyPress::Sort::stopped) return WalkEnd::stopped;
      switch (walk_.press(key)) {
        case Effect::none: break;
        case Effect::skip: return WalkEnd::skipped;
        case Effect::quit: return WalkEnd::quit;
        case Effect::edit: take_text(edit()); break;
        case Effect::tool: take_text(use_tool()); break;
        case Effect::history: show_history(); break;
        case Effect::open: walk_.set_notice(resolver_.open_both(walk_.shown_conflict())); break;
        case Effect::apply: {
          WS_LET(const std::optional<WalkEnd> end, apply());
          if (end) return *end;
        }
      }
    }
  }

 private:
  Result<std::optional<WalkEnd>> apply() {
    surface_.busy();
    WS_LET(ConflictResolver::Outcome outcome, resolver_.carry_out(walk_.decided()));
    switch (outcome.kind) {
      case ConflictResolver::Outcome::Kind::done:
      case ConflictResolver::Outcome::Kind::gone:
        for (const std::string& line : outcome.lines) surface_.tell(line);
        return std::optional(outcome.kind == ConflictResolver::Outcome::Kind::done ? WalkEnd::decided : WalkEnd::gone);
      case ConflictResolver::Outcome::Kind::refused:
        walk_.press(KeyPress::of(KeyPress::Sort::escape));
        walk_.set_notice(fmt::format("{}", fmt::join(outcome.lines, " ")));
        return std::optional<WalkEnd>();
      case ConflictResolver::Outcome::Kind::changed: break;
    }
    WS_LET(walk_, Walk::of(std::move(*outcome.now), fmt::format("{}", fmt::join(outcome.lines, " "))));
    return std::optional<WalkEnd>();
  }

  Result<std::string> edit() {
    surface_.lend();
    return tools_.edit(walk_.shown_conflict().name, walk_.editable(names_.mine, names_.theirs));
  }

  Result<std::string> use_tool() {
    surface_.lend();
    const ShownConflict& shown_conflict = walk_.shown_conflict();
    return tools_.merge({.name = shown_conflict.name,
                         .base = shown_conflict.base,
                         .mine = *shown_conflict.mine,
                         .theirs = *shown_conflict.theirs,
                         .merged = walk_.editable(names_.mine, names_.theirs)});
  }

  /// The text of an editor or merge tool: to be confirmed, or, with markers in it, to be edited again.
  void take_text(Result<std::string> text) {
    if (!text) return walk_.set_notice(sentence_of(text.error()));
    if (has_open_markers(*text) && !markers_belong()) {
      walk_.keep_draft(std::move(*text));
      return walk_.set_notice(
          "The text still has conflict markers, so it is not used. It is kept until you leave this conflict: the "
          "editor and the merge tool open it again.");
    }
    walk_.propose_text(std::move(*text));
  }

  /// Text that looks like a marker may belong to the document.
  bool markers_belong() const {
    const ShownConflict& shown_conflict = walk_.shown_conflict();
    return has_open_markers(*shown_conflict.mine) || has_open_markers(*shown_conflict.theirs);
  }

  void show_history() {
    auto lines = resolver_.history();
    if (!lines) return walk_.set_notice(sentence_of(lines.error()));
    if (lines->empty()) return walk_.set_notice("The local history holds nothing of this file yet.");
    walk_.show_history(std::move(*lines));
  }

  Walk walk_;
  const SideNames& names_;
  ConflictResolver& resolver_;
  Surface& surface_;
  const TextTools& tools_;
};

}  // namespace

Result<std::string> TextTools::edit(const std::string& name, const std::string& text) const {
  if (editor_.empty()) return fail(Failure::Kind::usage, "there is no editor to use", "set VISUAL or EDITOR");
  WS_LET(const ToolFolder folder, ToolFolder::make());
  const fs::path file = folder.path() / tame_name(name, "");
  WS_TRY(write_file(file, text, 0600));
  WS_TRY(edit_file(editor_, file));
  return read_file(file);
}

Result<std::string> TextTools::merge(const ToolTexts& texts) const {
  const std::string tool = git_setting("merge.tool");
  if (!is_tool_name(tool)) {
    return fail(Failure::Kind::usage, "no merge tool is configured", "`git config --global merge.tool NAME` sets one");
  }
  WS_LET(const ToolFolder folder, ToolFolder::make());
  const auto put = [&](const std::string& role, const std::string& text) -> Result<std::string> {
    const fs::path file = folder.path() / tame_name(texts.name, role);
    WS_TRY(write_file(file, text, 0600));
    return file.string();
  };
  WS_LET(const std::string mine, put("LOCAL", texts.mine));
  WS_LET(const std::string base, put("BASE", texts.base.value_or("")));
  WS_LET(const std::string theirs, put("REMOTE", texts.theirs));
  WS_LET(const std::string merged, put("", texts.merged));
  WS_LET(const int code, run_in_shell(line_for(tool), {mine, base, theirs, merged}));
  const bool is_trusted = git_setting("mergetool." + tool + ".trustExitCode") == "true" ||
                          git_setting("mergetool." + tool + ".cmd").empty();
  if (code == 127 || (code != 0 && is_trusted)) {
    return fail(Failure::Kind::disk, fmt::format("the merge tool {} ended with code {}", tool, code));
  }
  return read_file(merged);
}

std::unique_ptr<Surface> make_surface(Terminal& terminal,
                                      const Environment& environment,
                                      const std::atomic<bool>& cancelled) {
  if (terminal.is_plain() || environment.get("TERM").value_or("dumb") == "dumb") {
    return std::make_unique<LineSurface>(terminal, cancelled);
  }
  return std::make_unique<ScreenSurface>(terminal, cancelled);
}

Result<WalkEnd> lead_through(ShownConflict shown_conflict,
                             const Position& position,
                             const SideNames& names,
                             ConflictResolver& resolver,
                             Surface& surface,
                             const TextTools& tools) {
  WS_LET(Walk walk, Walk::of(std::move(shown_conflict)));
  return Guide(std::move(walk), names, resolver, surface, tools).lead(position);
}

}  // namespace ws::cli::walk
