/// A key press.
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
    other,    ///< a key without a meaning here
    redraw,   ///< no key: the screen was resized, or the process continued after a stop
    stopped,  ///< no key: a signal asks to end, or the terminal is gone
  };
  Sort sort = Sort::other;
  char character = 0;  ///< of `character`, ASCII
  bool operator==(const KeyPress&) const = default;

  static KeyPress of(char character) { return {.sort = Sort::character, .character = character}; }
  static KeyPress of(Sort sort) { return {.sort = sort}; }
};

}  // namespace ws::cli
