#include "cli/walk/frame.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/output/human.hpp"
#include "cli/walk/diff_rows.hpp"

namespace ws::cli::walk {
namespace {

constexpr std::size_t key_gap = 3;
constexpr std::size_t head_rows = 2;  // the title and the rule below it
constexpr std::size_t min_body = 3;
constexpr std::size_t help_indent = 4;
constexpr std::size_t widest_sentence = 100;  // longer lines are hard to read on any screen

std::string shown_key(char key) {
  if (key == '\n') return "Enter";
  if (key == '\033') return "Esc";
  return std::string(1, key);
}

/// "2 places collide; 1 other change merges by itself."
std::string words_for_places(const Walk& walk) {
  if (!walk.choices()) return {};
  const Choices& choices = *walk.choices();
  const std::size_t collide = choices.count(Stretch::Kind::collision);
  const std::size_t others = choices.stretches().size() - choices.count(Stretch::Kind::same) - collide;
  if (collide == 0 && others == 0) return "The two texts are the same.";
  if (collide == 0) return "Nothing collides: the changes of both can be merged.";
  std::string words = fmt::format("{} {}", counted(collide, "place"), collide == 1 ? "collides" : "collide");
  if (!choices.has_base()) words = fmt::format("The texts differ in {}", counted(collide, "place"));
  if (others != 0) {
    words += fmt::format("; {} {} by {}",
                         counted(others, "other change"),
                         others == 1 ? "merges" : "merge",
                         others == 1 ? "itself" : "themselves");
  }
  if (const std::size_t decided = collide - choices.open(); decided != 0) {
    words += fmt::format(". Chosen so far: {} of {}", decided, collide);
  }
  return words + ".";
}

class Composer {
 public:
  Composer(Walk& walk, const Position& position, ScreenSize size, bool has_color)
      : walk_(walk), position_(position), size_(size), has_color_(has_color) {}

  std::vector<ScreenRow> run() {
    std::vector<ScreenRow> rows = head();
    std::vector<ScreenRow> keys = foot(KeyHelp::long_text);
    std::vector<ScreenRow> told;  // sentences that scroll with the view
    if (rows.size() + 1 + keys.size() + min_body > size_.rows) make_small(rows, keys, told);
    const std::size_t fixed = rows.size() + keys.size() + 1;
    const std::size_t visible = size_.rows > fixed ? size_.rows - fixed : 1;
    body(visible);
    body_.insert(body_.begin(), told.begin(), told.end());
    const std::size_t top = walk_.scroll_within({.rows = body_.size(),
                                                 .visible = visible,
                                                 .begin = to_see_.begin + told.size(),
                                                 .end = to_see_.end + told.size(),
                                                 .is_cut = is_cut_});
    for (std::size_t i = 0; i < visible; ++i) {
      rows.push_back(top + i < body_.size() ? body_[top + i] : ScreenRow());
    }
    rows.push_back(rule(top, visible));
    rows.insert(rows.end(), keys.begin(), keys.end());
    rows.resize(size_.rows);
    for (ScreenRow& row : rows) row = shortened(row, size_.columns);
    return rows;
  }

 private:
  enum class KeyHelp { long_text, one_word };

  /// On a small screen: one word beside each key, and the sentences scroll with the view.
  void make_small(std::vector<ScreenRow>& head, std::vector<ScreenRow>& keys, std::vector<ScreenRow>& told) const {
    keys = foot(KeyHelp::one_word);
    if (head.size() + 1 + keys.size() + min_body <= size_.rows) return;
    told.assign(head.begin() + head_rows, head.end());
    head.resize(1);
    // The title and one row of the view take precedence over the keys: `?` shows all keys.
    if (keys.size() + 3 > size_.rows) keys.resize(size_.rows > 4 ? size_.rows - 3 : 1);
  }

  ScreenRow line() const {
    std::string text;
    for (std::size_t i = 0; i < size_.columns; ++i) text += "─";
    return {{.text = std::move(text), .look = Look::faint}};
  }

  std::vector<ScreenRow> head() const {
    const ShownConflict& shown_conflict = walk_.shown_conflict();
    ScreenRow title = {{.text = " " + safe_line(shown_conflict.name), .look = Look::strong},
                       {.text = "   " + safe_line(shown_conflict.what)}};
    const std::string where = words_for(position_) + " ";
    const std::size_t room = size_.columns > where.size() + 2 ? size_.columns - where.size() - 2 : 1;
    title = padded(shortened(title, room), room + 2);
    title.push_back({.text = where, .look = Look::faint});
    std::vector<ScreenRow> rows = {std::move(title), line()};
    for (const std::string& sentence : sentences(walk_)) add_sentence(rows, sentence, Look::plain);
    if (walk_.page() == Walk::Page::confirm) rows.push_back({});
    return rows;
  }

  void add_sentence(std::vector<ScreenRow>& rows, const std::string& sentence, Look look) const {
    const std::size_t room = std::min(size_.columns > 4 ? size_.columns - 2 : 2, widest_sentence);
    for (ScreenRow& part : wrapped({{.text = safe_line(sentence), .look = look}}, room)) {
      part.insert(part.begin(), {.text = " "});
      rows.push_back(std::move(part));
    }
  }

  void body(std::size_t visible) {
    visible_ = visible;
    switch (walk_.page()) {
      case Walk::Page::help: return add_help();
      case Walk::Page::history: body_.emplace_back(); return add_lines(walk_.history());
      case Walk::Page::confirm: return add_change();
      case Walk::Page::shown_conflict:
      case Walk::Page::places: break;
    }
    body_.emplace_back();
    if (walk_.choices()) {
      DiffLook look{.columns = size_.columns, .has_color = has_color_};
      if (walk_.page() == Walk::Page::places) look.current = walk_.place();
      add_diff(*walk_.choices(), look, walk_.place_to_see());
    } else {
      add_shown_texts();
    }
  }

  void add_diff(const Choices& choices, DiffLook look, std::optional<std::size_t> to_see = {}) {
    const bool is_matter = walk_.page() == Walk::Page::shown_conflict || walk_.page() == Walk::Page::places;
    look.most_rows = visible_;
    if (is_matter && walk_.may_cut()) look.cut_place = to_see;
    const DiffRows drawn = diff_rows(choices, look);
    if (to_see) {
      to_see_ = {body_.size() + drawn.places.at(*to_see).begin, body_.size() + drawn.places.at(*to_see).end};
    }
    is_cut_ = drawn.is_cut;
    body_.insert(body_.end(), drawn.rows.begin(), drawn.rows.end());
  }

  /// If there is nothing to choose in a text: the change of one side, or the texts of two documents.
  void add_shown_texts() {
    const ShownConflict& shown_conflict = walk_.shown_conflict();
    const bool are_two = shown_conflict.mine && shown_conflict.theirs;
    const auto& text = shown_conflict.theirs ? shown_conflict.theirs : shown_conflict.mine;
    add_lines(shown_conflict.details);
    if (!text) return;
    const std::string before = are_two ? *shown_conflict.mine : shown_conflict.base.value_or(*text);
    const auto choices = Choices::of(std::nullopt, before, *text);
    if (!choices) return;
    const auto& stretches = choices->stretches();
    const auto first = std::ranges::find(stretches, Stretch::Kind::collision, &Stretch::kind);
    std::optional<std::size_t> to_see;
    if (first != stretches.end()) to_see = static_cast<std::size_t>(first - stretches.begin());
    add_diff(*choices,
             {.columns = are_two ? size_.columns : std::min(size_.columns, side_by_side_from - 1),
              .has_color = has_color_,
              .has_headings = false,
              .mine = are_two ? "mine" : "base",
              .theirs = shown_conflict.theirs ? "theirs" : "mine"},
             to_see);
  }

  void add_change() {
    const auto change = walk_.change();
    if (!change) return;
    const std::string where = change->is_here ? "In the file here:" : "On the service:";
    if (change->before == change->after) {
      return add_lines({where + " no text changes."});
    }
    add_lines({where, ""});
    const auto choices = Choices::of(std::nullopt, change->before, change->after);
    if (!choices) return;
    add_diff(*choices,
             {.columns = size_.columns,
              .has_color = has_color_,
              .has_headings = false,
              .mine = "before",
              .theirs = "after"});
  }

  void add_lines(const std::vector<std::string>& lines) {
    for (const std::string& text : lines) add_sentence(body_, text, Look::plain);
  }

  void add_help() {
    const std::size_t room = std::min(size_.columns > 10 ? size_.columns - 2 : 8, widest_sentence) - help_indent;
    body_.emplace_back();
    for (const KeyOffer& key : walk_.help()) {
      std::string start = fmt::format(" {:<{}}", key.key, help_indent);
      for (ScreenRow& part : wrapped({{.text = safe_line(key.word + ": " + key.help)}}, room)) {
        part.insert(part.begin(), {.text = std::exchange(start, std::string(1 + help_indent, ' '))});
        body_.push_back(std::move(part));
      }
    }
    body_.emplace_back();
    add_lines({"Each decision is shown before it is carried out, and asks for Enter."});
    if (walk_.shown_conflict().has_history) {
      add_lines({"The text that loses goes to the local history; the command that restores it is printed at the end."});
    }
    add_lines({"", "Arrows, Space, Page Up and Down, Home and End move the view. Ctrl-C stops, Ctrl-Z suspends."});
  }

  /// The rule below the view, with the number of hidden rows.
  ScreenRow rule(std::size_t top, std::size_t visible) const {
    const std::size_t below = body_.size() > top + visible ? body_.size() - top - visible : 0;
    if (top == 0 && below == 0 && !is_cut_) return line();
    std::string words = "── ";
    if (top != 0) words += fmt::format("{} above ", counted(top, "row"));
    if (top != 0 && (below != 0 || is_cut_)) words += "· ";
    if (is_cut_) {
      words += fmt::format("{}⋯ is cut, Space shows all of it ", below != 0 ? counted(below, "row") + " below · " : "");
    } else if (below != 0) {
      words += fmt::format("{} below, Space shows more ", counted(below, "row"));
    }
    ScreenRow row = {{.text = words, .look = Look::faint}};
    for (std::size_t used = columns_of(row); used < size_.columns; ++used) row.back().text += "─";
    return row;
  }

  std::vector<ScreenRow> foot(KeyHelp how) const {
    std::vector<ScreenRow> rows;
    if (!walk_.notice().empty()) add_sentence(rows, walk_.notice(), Look::warning);
    const std::size_t gap = how == KeyHelp::long_text ? key_gap : 2;
    ScreenRow row;
    for (const KeyOffer& offer : walk_.keys()) {
      const std::string key = shown_key(offer.key);
      const std::string& help = how == KeyHelp::long_text ? offer.help : offer.word;
      if (!row.empty() && columns_of(row) + gap + key.size() + 1 + help.size() > size_.columns) {
        rows.push_back(std::exchange(row, {}));
      }
      row.push_back({.text = std::string(row.empty() ? 1 : gap, ' ')});
      row.push_back({.text = key, .look = Look::strong});
      row.push_back({.text = " " + help});
    }
    rows.push_back(std::move(row));
    return rows;
  }

  Walk& walk_;
  const Position& position_;
  ScreenSize size_;
  bool has_color_;
  std::vector<ScreenRow> body_ = {};
  std::size_t visible_ = 1;
  DiffRows::Range to_see_ = {};  ///< empty: nothing in particular
  bool is_cut_ = false;
};

}  // namespace

std::vector<ScreenRow> frame(Walk& walk, const Position& position, ScreenSize size, bool has_color) {
  return Composer(walk, position, size, has_color).run();
}

std::string words_for(const Position& position) {
  if (position.count == 1) return position.noun;
  return fmt::format("{} {} of {}", position.noun, position.number, position.count);
}

std::vector<std::string> sentences(const Walk& walk) {
  switch (walk.page()) {
    case Walk::Page::help: return {"What the keys do. Nothing is written before you confirm it."};
    case Walk::Page::history: return {"What the local history holds of this file, the newest first."};
    case Walk::Page::confirm: {
      std::string what = walk.proposed().what;
      if (!what.empty()) what.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(what.front())));
      std::vector<std::string> lines = {what + "?"};
      lines.insert(lines.end(), walk.proposed().effects.begin(), walk.proposed().effects.end());
      return lines;
    }
    case Walk::Page::shown_conflict:
    case Walk::Page::places: break;
  }
  std::vector<std::string> lines =
      walk.page() == Walk::Page::shown_conflict ? walk.shown_conflict().story : std::vector<std::string>();
  if (std::string words = words_for_places(walk); !words.empty()) lines.push_back(std::move(words));
  return lines;
}

}  // namespace ws::cli::walk
