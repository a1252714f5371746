/// The walk through one shown_conflict as a state machine: a key in, a new state out. No terminal, no disk, no network.
///
/// Nothing is decided before `Effect::apply`, which only follows a confirmation; whoever drives the walk carries it
/// out.
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

/// What the driver has to do after a key.
enum class Effect {
  none,
  apply,    ///< carry out `decided()`
  edit,     ///< `editable()` in the editor, then `propose_text`
  tool,     ///< the three texts in the merge tool, then `propose_text`
  history,  ///< read it, then `show_history`
  skip,
  quit,
};

/// A key and what it does now.
struct KeyOffer {
  char key = 0;           ///< '\n': Enter; '\033': Escape
  std::string word = {};  ///< as it is typed where whole words are: "mine"
  std::string help = {};  ///< "keep mine"
};

class Walk {
 public:
  enum class Page { shown_conflict, places, confirm, help, history };

  /// Fails with `internal` where texts cannot be compared.
  static Result<Walk> of(ShownConflict shown_conflict, std::string notice = {});

  Effect press(KeyPress key);
  /// What the keys do on this page, in the order in which they are shown.
  std::vector<KeyOffer> keys() const;

  /// A text from an editor or a tool: asks for its confirmation.
  void propose_text(std::string text);
  void show_history(std::vector<std::string> lines);
  void set_notice(std::string notice) { notice_ = std::move(notice); }
  /// What was edited and not taken yet: the editor goes on with it.
  void keep_draft(std::string text) { draft_ = std::move(text); }

  Page page() const { return page_; }
  const ShownConflict& shown_conflict() const { return shown_conflict_; }
  /// Empty where there are no two texts to choose from.
  const std::optional<Choices>& choices() const { return choices_; }
  /// The stretch that is asked about, on the page of places.
  std::size_t place() const { return place_; }
  const std::string& notice() const { return notice_; }
  const std::vector<std::string>& history() const { return history_; }
  /// What `confirm` asks about.
  const Offer& proposed() const { return *proposed_; }
  Decided decided() const { return {.verdict = proposed_->verdict, .text = proposed_text_}; }
  /// What the decision changes, as two texts; empty: nothing of a text.
  struct Change {
    std::string before = {};
    std::string after = {};
    bool is_here = true;  ///< in the file here; else on the service
  };
  std::optional<Change> change() const;
  /// The text for an editor: what was chosen so far, open places between markers.
  std::string editable(std::string_view my_label, std::string_view their_label) const;

  /// Where the view begins: told by whoever draws, for a body of `rows` of which `visible` fit; `current` is the row
  /// that must be seen after a step from place to place. Returns the first row to draw.
  std::size_t scroll_within(std::size_t rows, std::size_t visible, std::optional<std::size_t> current);

 private:
  Walk(ShownConflict shown_conflict, std::optional<Choices> choices, std::string notice);

  bool scrolls(const KeyPress& key);
  Effect press_on_matter(char key);
  Effect press_on_places(char key);
  Effect press_on_confirm(char key);
  Effect leave(char key, Effect effect);
  void go(Page page);
  void propose(Verdict verdict, std::string text);
  void take(Take take);
  void step_to(std::size_t stretch);
  void next_place(bool only_open);
  void previous_place();
  const Offer* find_offer(Verdict verdict) const;
  bool has_places() const;
  bool can_merge() const { return choices_ && choices_->open() == 0; }

  ShownConflict shown_conflict_;
  std::optional<Choices> choices_;
  Page page_ = Page::shown_conflict;
  Page before_ = Page::shown_conflict;  ///< where a page leads back to
  std::size_t place_ = 0;
  std::optional<Offer> proposed_ = {};
  std::string proposed_text_ = {};
  std::optional<std::string> draft_ = {};
  std::string notice_ = {};
  std::vector<std::string> history_ = {};
  char leaving_ = 0;  ///< the key that was warned about
  std::size_t top_ = 0;
  std::size_t rows_ = 0;
  std::size_t visible_ = 1;
  bool follows_place_ = false;
};

}  // namespace ws::cli::walk
