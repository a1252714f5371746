#include "cli/walk/plain_page.hpp"

#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/text.hpp"
#include "cli/output/human.hpp"
#include "cli/walk/diff_rows.hpp"

namespace ws::cli::walk {
namespace {

class PlainLines {
 public:
  void say(std::string line) { lines_.push_back(safe_line(line)); }

  void say_text(std::string_view label, std::string_view text) {
    if (text.empty()) return say(fmt::format("{}: nothing", label));
    for (const std::string_view line : split_lines(text)) {
      say(line.empty() ? fmt::format("{}: an empty line", label) : fmt::format("{}: {}", label, line));
    }
  }

  void say_same(std::string_view text, bool is_first, bool is_last) {
    const auto lines = split_lines(text);
    // Of an unchanged text only the beginning is shown.
    const std::size_t above = is_first ? (is_last ? lines_of_an_unchanged_text : 0) : lines_around;
    const std::size_t below = is_last ? 0 : lines_around;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i == above && lines.size() > above + below + 1) {
        const std::size_t folded = lines.size() - above - below;
        say(fmt::format("{}, unchanged.", counted(folded, "line")));
        i += folded;
        if (i == lines.size()) return;
      }
      if (!lines[i].empty()) say_text("Unchanged", lines[i]);
    }
  }

  void say_places(const Choices& choices, std::optional<std::size_t> only) {
    const auto& stretches = choices.stretches();
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      if (only && *only != i) continue;
      const Stretch& stretch = stretches[i];
      if (stretch.kind == Stretch::Kind::same) {
        say_same(stretch.merged, i == 0, i + 1 == stretches.size());
        continue;
      }
      std::string heading = words_for_place(choices, i);
      heading.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(heading.front())));
      const std::string taken = words_for_take(choices, i);
      say(heading + (taken.empty() ? "." : ", " + taken + "."));
      if (choices.has_base()) say_text("Base", stretch.base);
      if (stretch.kind != Stretch::Kind::theirs) say_text("Mine", stretch.mine);
      if (stretch.kind != Stretch::Kind::mine) say_text("Theirs", stretch.theirs);
    }
  }

  /// A text before and after.
  void say_change(const std::string& before,
                  const std::string& after,
                  std::string_view old_label,
                  std::string_view label) {
    const auto choices = Choices::of(std::nullopt, before, after);
    if (!choices) return;
    const auto& stretches = choices->stretches();
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      if (stretches[i].kind == Stretch::Kind::same) {
        say_same(stretches[i].merged, i == 0, i + 1 == stretches.size());
      } else {
        say_text(old_label, stretches[i].mine);
        say_text(label, stretches[i].theirs);
      }
    }
  }

  std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_ = {};
};

void say_body(PlainLines& lines, const Walk& walk) {
  const ShownConflict& shown_conflict = walk.shown_conflict();
  switch (walk.page()) {
    case Walk::Page::help:
      for (const KeyOffer& key : walk.help()) lines.say(key.word + ": " + key.help + ".");
      return lines.say("Every decision is shown before it is carried out, and asks for yes.");
    case Walk::Page::history:
      for (const std::string& line : walk.history()) lines.say(line);
      return;
    case Walk::Page::confirm:
      if (const auto change = walk.change()) {
        const bool same = change->before == change->after;
        lines.say(fmt::format(
            "{}{}", change->is_here ? "In the file here:" : "On the service:", same ? " no text changes." : ""));
        if (!same) lines.say_change(change->before, change->after, "Before", "After");
      }
      return;
    case Walk::Page::places: return lines.say_places(*walk.choices(), walk.place());
    case Walk::Page::shown_conflict: break;
  }
  if (walk.choices()) return lines.say_places(*walk.choices(), std::nullopt);
  for (const std::string& line : shown_conflict.details) lines.say(line);
  const bool are_two = shown_conflict.mine && shown_conflict.theirs;
  const auto& text = shown_conflict.theirs ? shown_conflict.theirs : shown_conflict.mine;
  if (!text) return;
  lines.say_change(are_two ? *shown_conflict.mine : shown_conflict.base.value_or(*text),
                   *text,
                   are_two ? "Mine" : "Base",
                   shown_conflict.theirs ? "Theirs" : "Mine");
}

KeyPress press_of(char key) {
  if (key == '\n') return KeyPress::of(KeyPress::Sort::enter);
  if (key == '\033') return KeyPress::of(KeyPress::Sort::escape);
  return KeyPress::of(key);
}

}  // namespace

std::vector<std::string> plain_page(const Walk& walk, const Position& position) {
  PlainLines lines;
  if (walk.page() == Walk::Page::shown_conflict) {
    lines.say(fmt::format("{}: {}, {}.", words_for(position), walk.shown_conflict().name, walk.shown_conflict().what));
  }
  if (walk.page() != Walk::Page::help) {
    for (const std::string& sentence : sentences(walk)) lines.say(sentence);
  }
  say_body(lines, walk);
  return lines.take();
}

std::string plain_question(const Walk& walk) {
  std::string words;
  for (const KeyOffer& offer : walk.keys()) words += (words.empty() ? "" : ", ") + offer.word;
  return fmt::format("Type one of: {}.", words);
}

std::optional<KeyPress> find_key(const Walk& walk, std::string_view line) {
  const std::string typed(trimmed(line));
  const std::string said = to_lower(typed);
  const std::vector<KeyOffer> keys = walk.keys();
  // `M` is another choice than `m`, where both are offered.
  for (const std::string& letter : {typed, said}) {
    for (const KeyOffer& offer : keys) {
      const bool is_letter = offer.key != '\n' && offer.key != '\033' && letter == std::string(1, offer.key);
      if (said == offer.word || is_letter) return press_of(offer.key);
    }
  }
  return std::nullopt;
}

}  // namespace ws::cli::walk
