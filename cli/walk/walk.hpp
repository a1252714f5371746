/// Resolving one conflict step by step, as a state machine: a key changes the state. No terminal, disk or network.
///
/// A decision is final only with `Effect::apply`, which follows a confirmation; the caller carries it out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "cli/terminal/key_press.hpp"
#include "cli/walk/choices.hpp"
#include "cli/walk/shown_conflict.hpp"

namespace ws::cli::walk {

/// What the caller has to do after a key.
enum class Effect {
  none,
  apply,    ///< carry out `decided()`
  edit,     ///< `editable()` in the editor, then `propose_text`
  tool,     ///< the three texts in the merge tool, then `propose_text`
  history,  ///< load the history, then `show_history`
  open,     ///< show both files with the desktop's programs, then `set_notice`
  skip,
  quit,
};

/// A key and its action on the current page.
struct KeyOffer {
  char key = 0;           ///< '\n': Enter; '\033': Escape
  std::string word = {};  ///< typed in its place in plain mode: "mine"
  std::string help = {};  ///< "keep mine"
};

class Walk {
 public:
  enum class Page { shown_conflict, places, confirm, help, history };

  /// Fails with `internal` if the texts cannot be compared.
  static Result<Walk> of(ShownConflict shown_conflict, std::string notice = {});

  Effect press(KeyPress key);
  /// The keys of this page, in display order.
  std::vector<KeyOffer> keys() const;
  /// The keys of this conflict, each with a longer `help`: also `g` where a choice has to be made first.
  std::vector<KeyOffer> help() const;

  /// Takes a text from the editor or merge tool, and asks for confirmation.
  void propose_text(std::string text);
  void show_history(std::vector<std::string> lines);
  void set_notice(std::string notice) { notice_ = std::move(notice); }
  /// An edited text that is not confirmed yet: the editor opens it again.
  void keep_draft(std::string text) { draft_ = std::move(text); }

  Page page() const { return page_; }
  const ShownConflict& shown_conflict() const { return shown_conflict_; }
  /// Empty unless there are two texts to choose from.
  const std::optional<Choices>& choices() const { return choices_; }
  /// The current stretch on the page of places.
  std::size_t place() const { return place_; }
  const std::string& notice() const { return notice_; }
  const std::vector<std::string>& history() const { return history_; }
  /// The decision that `confirm` asks about.
  const Offer& proposed() const { return *proposed_; }
  Decided decided() const {
    return {.keep = proposed_->keep, .text = proposed_text_, .where_it_collides = where_it_collides_};
  }
  /// The text before and after the decision; empty: it changes no text.
  struct Change {
    std::string before = {};
    std::string after = {};
    bool is_here = true;  ///< the local file; else the document on the service
  };
  std::optional<Change> change() const;
  /// The text for the editor: the choices so far, undecided places between conflict markers.
  std::string editable(std::string_view my_label, std::string_view their_label) const;

  /// The place that is seen first: the current one, else the first that must be decided, else the first change. Empty:
  /// no choice is shown, or nothing differs.
  std::optional<std::size_t> place_to_see() const;
  /// Whether a place that is higher than the view may be cut, so that both texts begin in it: until the view is moved.
  bool may_cut() const { return may_cut_; }

  struct View {
    std::size_t rows = 0;     ///< of the whole body
    std::size_t visible = 1;  ///< that fit
    std::size_t begin = 0;    ///< of what to keep visible after moving to another place
    std::size_t end = 0;      ///< behind it; not behind `begin`: nothing
    bool is_cut = false;
  };
  /// Called by the renderer; returns the first row to draw.
  std::size_t scroll_within(const View& view);

 private:
  Walk(ShownConflict shown_conflict, std::optional<Choices> choices, std::string notice);

  bool scrolls(const KeyPress& key);
  Effect press_on_matter(char key);
  Effect press_on_places(char key);
  Effect press_on_confirm(char key);
  Effect leave(char key, Effect effect);
  void go(Page page);
  void propose(Keep keep, std::string text);
  void propose_side(Keep side);
  void take(Take take);
  void step_to(std::size_t stretch);
  void next_place(bool only_open);
  void previous_place();
  const Offer* find_offer(Keep keep) const;
  bool merges_around(Keep side) const;
  std::vector<KeyOffer> keys_of_conflict() const;
  bool has_places() const;
  bool can_merge() const { return choices_ && choices_->open() == 0; }

  ShownConflict shown_conflict_;
  std::optional<Choices> choices_;
  Page page_ = Page::shown_conflict;
  Page before_ = Page::shown_conflict;  ///< the page that Escape returns to
  std::size_t place_ = 0;
  std::optional<Offer> proposed_ = {};
  std::string proposed_text_ = {};
  std::optional<Keep> where_it_collides_ = {};
  std::optional<std::string> draft_ = {};
  std::string notice_ = {};
  std::vector<std::string> history_ = {};
  char leaving_ = 0;  ///< the key whose warning was shown
  std::size_t top_ = 0;
  View view_ = {};
  bool follows_place_ = true;
  bool may_cut_ = true;
};

}  // namespace ws::cli::walk
