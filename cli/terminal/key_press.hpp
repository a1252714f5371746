/// A key that somebody pressed.
#pragma once

namespace ws::cli {

struct KeyPress {
  enum class Sort {
    character,
    enter,
    escape,
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    other,    ///< a key that means nothing to us
    redraw,   ///< no key: the screen changed its size, or is ours again
    stopped,  ///< no key: a signal asks to end, or the terminal is gone
  };
  Sort sort = Sort::other;
  char character = 0;  ///< of `character`, ASCII
  bool operator==(const KeyPress&) const = default;

  static KeyPress of(char character) { return {.sort = Sort::character, .character = character}; }
  static KeyPress of(Sort sort) { return {.sort = sort}; }
};

}  // namespace ws::cli
