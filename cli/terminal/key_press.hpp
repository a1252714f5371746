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
    other,    ///< a key without a function here
    redraw,   ///< not a key: the screen was resized, or the process was resumed
    stopped,  ///< not a key: a signal requests the end, or the terminal was closed
  };
  Sort sort = Sort::other;
  char character = 0;  ///< with `Kind::character`, ASCII
  bool operator==(const KeyPress&) const = default;

  static KeyPress of(char character) { return {.sort = Sort::character, .character = character}; }
  static KeyPress of(Sort sort) { return {.sort = sort}; }
};

}  // namespace ws::cli
