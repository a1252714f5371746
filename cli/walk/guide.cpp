#include "cli/walk/guide.hpp"

#include <utility>

#include <fmt/format.h>

namespace ws::cli::walk {
namespace {

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
          "Markers are left in the text, so it is not taken. It is kept while you are here: the editor and the merge "
          "tool continue with it.");
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
