#include "cli/walk/walk.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/output/human.hpp"
#include "cli/walk/diff_rows.hpp"

namespace ws::cli::walk {
namespace {

constexpr char enter_key = '\n';
constexpr char escape_key = '\033';
constexpr std::size_t most_uncut_rows = std::size_t{1} << 30U;  // behind the end of any view: `scroll_within` bounds it

char key_of(Keep keep) {
  switch (keep) {
    case Keep::local: return 'm';
    case Keep::remote: return 't';
    case Keep::both: return 'b';
    case Keep::merged: return 'g';
  }
  return 0;
}

/// Of a side: its whole text.
char whole_key_of(Keep side) { return side == Keep::local ? 'M' : 'T'; }

bool is_side(Keep keep) { return keep == Keep::local || keep == Keep::remote; }

Take take_of(Keep side) { return side == Keep::local ? Take::mine : Take::theirs; }

std::string word_of_keep(Keep keep) {
  switch (keep) {
    case Keep::local: return "mine";
    case Keep::remote: return "theirs";
    case Keep::both: return "both";
    case Keep::merged: return "merge";
  }
  return {};
}

std::string long_help(char key) {
  switch (key) {
    case 'm': return "what is here wins";
    case 't': return "what the service has wins";
    case 'b': return "both are kept, under two names";
    case 'M': return "my whole text, without what only they changed";
    case 'T': return "their whole text, without what only I changed";
    case 'g': return "take the merge, once nothing collides or every place is decided";
    case 'h': return "decide place by place: mine, theirs, both, next, previous, undo, done";
    case 'e':
      return "your editor, from VISUAL or EDITOR; what is still open is between conflict markers, as in git, and a "
             "text that still has markers is not used";
    case 'x': return "the merge tool that git is configured for (git config merge.tool NAME)";
    case 'o': return "open both files with the programs of the desktop; without a desktop, show where they are";
    case 'l': return "what the local history holds of the file";
    case 's': return "it stays open, and the next one is shown";
    case 'q': return "keep what is decided, leave the rest open";
    default: return {};
  }
}

/// Enter and Escape as characters, like the other keys.
char character_of(const KeyPress& key) {
  switch (key.sort) {
    case KeyPress::Sort::character: return key.character;
    case KeyPress::Sort::enter: return enter_key;
    case KeyPress::Sort::escape: return escape_key;
    default: return 0;
  }
}

std::vector<KeyOffer> keys_of_places(const Choices& choices, std::size_t place) {
  std::vector<KeyOffer> keys = {{.key = 'm', .word = "mine", .help = "take mine here"},
                                {.key = 't', .word = "theirs", .help = "take theirs"},
                                {.key = 'b', .word = "both", .help = "both, mine first"}};
  if (choices.stretches()[place].kind != Stretch::Kind::collision) {
    keys.push_back({.key = 'g', .word = "merge", .help = "as merged"});
  }
  keys.push_back({.key = 'n', .word = "next", .help = "next"});
  keys.push_back({.key = 'p', .word = "previous", .help = "previous"});
  if (choices.is_touched()) keys.push_back({.key = 'u', .word = "undo", .help = "undo"});
  keys.push_back({.key = 'e', .word = "edit", .help = "edit"});
  if (choices.open() == 0) keys.push_back({.key = enter_key, .word = "done", .help = "look at the result"});
  keys.push_back({.key = escape_key, .word = "back", .help = "back"});
  return keys;
}

}  // namespace

Walk::Walk(ShownConflict shown_conflict, std::optional<Choices> choices, std::string notice)
    : shown_conflict_(std::move(shown_conflict)), choices_(std::move(choices)), notice_(std::move(notice)) {}

Result<Walk> Walk::of(ShownConflict shown_conflict, std::string notice) {
  std::optional<Choices> choices;
  const bool merges =
      std::ranges::any_of(shown_conflict.offers, [](const Offer& offer) { return offer.keep == Keep::merged; });
  if (merges && shown_conflict.mine && shown_conflict.theirs) {
    WS_LET(choices,
           Choices::of(shown_conflict.base,
                       *shown_conflict.mine,
                       *shown_conflict.theirs,
                       {.merge_later = shown_conflict.merge_later}));
  }
  return Walk(std::move(shown_conflict), std::move(choices), std::move(notice));
}

/// Whether that side's text alone is less than what merges around its collisions.
bool Walk::merges_around(Keep side) const {
  return choices_ && is_side(side) && choices_->merges_more_than(take_of(side));
}

const Offer* Walk::find_offer(Keep keep) const {
  const auto found = std::ranges::find(shown_conflict_.offers, keep, &Offer::keep);
  return found == shown_conflict_.offers.end() ? nullptr : &*found;
}

std::vector<KeyOffer> Walk::keys() const {
  std::vector<KeyOffer> keys;
  switch (page_) {
    case Page::places: return keys_of_places(*choices_, place_);
    case Page::confirm:
      keys.push_back({.key = enter_key, .word = "yes", .help = "do it"});
      if (choices_) keys.push_back({.key = 'e', .word = "edit", .help = "edit it first"});
      keys.push_back({.key = escape_key, .word = "no", .help = "go back, nothing is done"});
      return keys;
    case Page::help:
    case Page::history: return {{.key = escape_key, .word = "back", .help = "back"}};
    case Page::shown_conflict: break;
  }
  keys = keys_of_conflict();
  std::erase_if(keys, [&](const KeyOffer& key) { return key.key == key_of(Keep::merged) && !can_merge(); });
  keys.push_back({.key = '?', .word = "help", .help = "help"});
  return keys;
}

std::vector<KeyOffer> Walk::keys_of_conflict() const {
  std::vector<KeyOffer> keys;
  const bool collides = choices_ && choices_->count(Stretch::Kind::collision) != 0;
  for (const Offer& offer : shown_conflict_.offers) {
    const bool is_merge = merges_around(offer.keep);
    if (is_merge && !collides) continue;  // the merge has a key of its own
    keys.push_back({.key = key_of(offer.keep),
                    .word = word_of_keep(offer.keep),
                    .help = offer.what + (is_merge ? " where it collides" : "")});
  }
  const auto after_sides = std::ranges::find_if_not(
      keys, [](const KeyOffer& key) { return key.key == key_of(Keep::local) || key.key == key_of(Keep::remote); });
  std::vector<KeyOffer> whole;
  for (const Keep side : {Keep::local, Keep::remote}) {
    if (!merges_around(side) || find_offer(side) == nullptr) continue;
    const std::string word = word_of_keep(side);
    whole.push_back({.key = whole_key_of(side), .word = "all " + word, .help = "all of " + word});
  }
  keys.insert(after_sides, whole.begin(), whole.end());
  if (choices_) {
    if (has_places()) keys.push_back({.key = 'h', .word = "places", .help = "place by place"});
    keys.push_back({.key = 'e', .word = "edit", .help = "edit"});
    keys.push_back({.key = 'x', .word = "tool", .help = "merge tool"});
  }
  if (!shown_conflict_.files.empty()) keys.push_back({.key = 'o', .word = "open", .help = "open both"});
  if (shown_conflict_.has_history) keys.push_back({.key = 'l', .word = "history", .help = "history"});
  keys.push_back({.key = 's', .word = "skip", .help = "skip"});
  keys.push_back({.key = 'q', .word = "quit", .help = "quit"});
  return keys;
}

std::vector<KeyOffer> Walk::help() const {
  std::vector<KeyOffer> keys = keys_of_conflict();
  for (KeyOffer& key : keys) {
    const bool is_merge = key.help.ends_with("where it collides");
    key.help =
        is_merge ? fmt::format("{} where both changed the same; the rest is merged", key.word) : long_help(key.key);
  }
  return keys;
}

Effect Walk::press(KeyPress key) {
  if (key.sort == KeyPress::Sort::redraw) return Effect::none;
  if (key.sort == KeyPress::Sort::stopped) return Effect::quit;
  if (scrolls(key)) return Effect::none;
  notice_.clear();
  const char character = character_of(key);
  if (character != leaving_) leaving_ = 0;
  switch (page_) {
    case Page::shown_conflict: return press_on_matter(character);
    case Page::places: return press_on_places(character);
    case Page::confirm: return press_on_confirm(character);
    case Page::help:
    case Page::history: go(before_); return Effect::none;
  }
  return Effect::none;
}

bool Walk::scrolls(const KeyPress& key) {
  using Sort = KeyPress::Sort;
  const std::size_t last = view_.rows > view_.visible ? view_.rows - view_.visible : 0;
  const std::size_t page = std::max<std::size_t>(view_.visible, 2) - 1;
  const bool is_space = key == KeyPress::of(' ');
  const std::size_t top = top_;
  if (key.sort == Sort::up || key == KeyPress::of('k')) {
    top_ -= std::min<std::size_t>(top_, 1);
  } else if (key.sort == Sort::down || key == KeyPress::of('j')) {
    top_ = std::min(top_ + 1, last);
  } else if (key.sort == Sort::page_up) {
    top_ -= std::min(top_, page);
  } else if (key.sort == Sort::page_down || is_space) {
    top_ = std::min(top_ + page, last);
  } else if (key.sort == Sort::home) {
    top_ = 0;
  } else if (key.sort == Sort::end) {
    top_ = view_.rows + most_uncut_rows;
  } else {
    return false;
  }
  if (!std::exchange(may_cut_, false) || !view_.is_cut) return true;
  if (is_space || key.sort == Sort::down || key.sort == Sort::page_down) {
    // The first step shows what was cut, from its beginning.
    top_ = top;
    follows_place_ = true;
  }
  return true;
}

std::optional<std::size_t> Walk::place_to_see() const {
  if (!choices_ || (page_ != Page::shown_conflict && page_ != Page::places)) return std::nullopt;
  if (page_ == Page::places) return place_;
  const auto& stretches = choices_->stretches();
  std::optional<std::size_t> found;
  int best = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const bool collides = stretches[i].kind == Stretch::Kind::collision;
    const int rank = stretches[i].kind == Stretch::Kind::same ? 0 : !choices_->taken(i) ? 3 : collides ? 2 : 1;
    if (rank <= best) continue;
    best = rank;
    found = i;
  }
  return found;
}

std::size_t Walk::scroll_within(const View& view) {
  view_ = view;
  view_.visible = std::max<std::size_t>(view_.visible, 1);
  if (follows_place_ && view_.begin < view_.end) {
    const std::size_t height = std::min(view_.visible, view_.end - view_.begin);
    const bool is_seen = view_.begin >= top_ && view_.begin + height <= top_ + view_.visible;
    if (!is_seen) top_ = view_.begin - std::min({view_.begin, lines_around, view_.visible - height});
  }
  follows_place_ = false;
  top_ = std::min(top_, view_.rows > view_.visible ? view_.rows - view_.visible : 0);
  return top_;
}

Effect Walk::press_on_matter(char key) {
  for (const Offer& offer : shown_conflict_.offers) {
    // Without anything that merges by itself, both keys of a side do the same.
    if (is_side(offer.keep) && (key == key_of(offer.keep) || key == whole_key_of(offer.keep))) {
      key == key_of(offer.keep) ? propose_side(offer.keep) : propose(offer.keep, "");
      return Effect::none;
    }
    if (key_of(offer.keep) != key) continue;
    if (offer.keep == Keep::merged && !can_merge()) {
      notice_ = fmt::format("{} still open: choose at each of them first, place by place.",
                            counted(choices_->open(), "place"));
      return Effect::none;
    }
    propose(offer.keep, offer.keep == Keep::merged ? choices_->text() : "");
    return Effect::none;
  }
  switch (key) {
    case 'h':
      if (!has_places()) break;
      go(Page::places);
      place_ = choices_->stretches().size() - 1;
      next_place(choices_->open() != 0);
      return Effect::none;
    case 'e':
    case 'x':
      if (!choices_) break;
      return key == 'e' ? Effect::edit : Effect::tool;
    case 'o':
      if (shown_conflict_.files.empty()) break;
      return Effect::open;
    case 'l':
      if (!shown_conflict_.has_history) break;
      return Effect::history;
    case 's': return leave(key, Effect::skip);
    case 'q': return leave(key, Effect::quit);
    case '?': go(Page::help); return Effect::none;
    default: break;
  }
  notice_ = "That key does nothing here; ? shows those that do.";
  return Effect::none;
}

bool Walk::has_places() const {
  return choices_ && choices_->count(Stretch::Kind::same) < choices_->stretches().size();
}

/// Choices are not saved anywhere: warns once before they are lost.
Effect Walk::leave(char key, Effect effect) {
  const bool loses = (choices_ && choices_->is_touched()) || draft_;
  if (!loses || leaving_ == key) return effect;
  leaving_ = key;
  notice_ = fmt::format("What you chose and edited here is not saved: {} again to drop it.",
                        effect == Effect::quit ? "quit" : "skip");
  return Effect::none;
}

Effect Walk::press_on_places(char key) {
  switch (key) {
    case 'm': take(Take::mine); break;
    case 't': take(Take::theirs); break;
    case 'b': take(Take::both); break;
    case 'g': take(Take::merged); break;
    case 'n': next_place(false); break;
    case 'p': previous_place(); break;
    case 'e': return Effect::edit;
    case 'u':
      if (const auto stretch = choices_->undo()) {
        step_to(*stretch);
        notice_ = "The last choice is undone.";
      } else {
        notice_ = "There is no choice to undo.";
      }
      break;
    case enter_key:
      if (can_merge()) {
        propose(Keep::merged, choices_->text());
      } else {
        notice_ = fmt::format("{} still open.", counted(choices_->open(), "place"));
      }
      break;
    case escape_key: go(Page::shown_conflict); break;
    default: notice_ = "That key does nothing here."; break;
  }
  return Effect::none;
}

Effect Walk::press_on_confirm(char key) {
  if (key == enter_key || key == 'y') return Effect::apply;
  if (key == 'e' && choices_) {
    if (proposed_->keep == Keep::merged) draft_ = proposed_text_;
    return Effect::edit;
  }
  if (key == escape_key || key == 'n' || key == 'q') {
    // Keeps a text that was written by hand, in case the user returns to it.
    const bool by_hand = proposed_->keep == Keep::merged && !where_it_collides_ && proposed_text_ != choices_->text();
    if (by_hand) draft_ = proposed_text_;
    go(before_);
    notice_ = by_hand ? "Nothing was done. Your text is kept until you leave this conflict: the editor opens it again."
                      : "Nothing was done.";
    return Effect::none;
  }
  notice_ = "Enter does it, Esc goes back.";
  return Effect::none;
}

void Walk::go(Page page) {
  const bool returns = page == Page::shown_conflict || page == Page::places;
  before_ = returns ? Page::shown_conflict : (page_ == Page::places ? Page::places : Page::shown_conflict);
  page_ = page;
  top_ = 0;
  follows_place_ = returns;
  may_cut_ = true;
}

void Walk::propose(Keep keep, std::string text) {
  const Offer* offer = find_offer(keep);
  if (offer == nullptr) return;
  proposed_ = *offer;
  proposed_text_ = std::move(text);
  where_it_collides_.reset();
  go(Page::confirm);
}

/// That side where both changed the same, and what merges by itself.
void Walk::propose_side(Keep side) {
  if (!merges_around(side)) return propose(side, "");
  const bool collides = choices_->count(Stretch::Kind::collision) != 0;
  propose(Keep::merged, choices_->text_where_it_collides(take_of(side)));
  if (!collides) return;
  proposed_->what = find_offer(side)->what + " where it collides, and merge the rest";
  where_it_collides_ = side;
}

void Walk::propose_text(std::string text) { propose(Keep::merged, std::move(text)); }

void Walk::show_history(std::vector<std::string> lines) {
  history_ = std::move(lines);
  go(Page::history);
}

void Walk::take(Take take) {
  const std::size_t open_before = choices_->open();
  choices_->take(place_, take);
  if (choices_->open() != 0) return next_place(true);
  if (open_before != 0) {
    notice_ = "Every place is decided; the result can be looked at.";
  }
}

void Walk::step_to(std::size_t stretch) {
  place_ = stretch;
  follows_place_ = true;
  may_cut_ = true;
}

void Walk::next_place(bool only_open) {
  const std::size_t count = choices_->stretches().size();
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t stretch = (place_ + i) % count;
    if (choices_->stretches()[stretch].kind == Stretch::Kind::same) continue;
    if (!only_open || !choices_->taken(stretch)) return step_to(stretch);
  }
}

void Walk::previous_place() {
  const std::size_t count = choices_->stretches().size();
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t stretch = (place_ + count - i) % count;
    if (choices_->stretches()[stretch].kind != Stretch::Kind::same) return step_to(stretch);
  }
}

std::optional<Walk::Change> Walk::change() const {
  if (!proposed_ || !shown_conflict_.mine || !shown_conflict_.theirs) return std::nullopt;
  switch (proposed_->keep) {
    case Keep::local:
      return Change{.before = *shown_conflict_.theirs, .after = *shown_conflict_.mine, .is_here = false};
    case Keep::remote: return Change{.before = *shown_conflict_.mine, .after = *shown_conflict_.theirs};
    case Keep::merged: return Change{.before = *shown_conflict_.mine, .after = proposed_text_};
    case Keep::both: break;
  }
  return std::nullopt;
}

std::string Walk::editable(std::string_view my_label, std::string_view their_label) const {
  if (draft_) return *draft_;
  return choices_->text_with_markers(my_label, their_label);
}

}  // namespace ws::cli::walk
