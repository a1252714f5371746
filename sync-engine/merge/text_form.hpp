/// What a text has beside its lines: line ends, a byte order mark, a newline at its end. Merged on their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ws::sync::merge {

struct TextForm {
  enum class Ends { lf, crlf };
  std::optional<Ends> ends = {};           ///< empty: no line end in it
  std::optional<bool> final_newline = {};  ///< empty: an empty text
  bool byte_order_mark = false;
  bool operator==(const TextForm&) const = default;
};

struct PlainText {
  TextForm form = {};
  std::string lines = {};  ///< LF alone; ends with one unless it is empty
};

/// The line up to and with its newline, taken off the front of `text`.
std::string_view take_line(std::string_view& text);

/// Empty where LF and CRLF are mixed, or a CR stands alone: such a text cannot be written as it was.
std::optional<PlainText> take_form(std::string_view text);

/// The text in that form; what `form` leaves open is LF and a final newline.
std::string with_form(std::string_view lines, const TextForm& form);

/// The side that changed a trait wins; empty where both changed one differently.
std::optional<TextForm> merge_forms(const TextForm& base, const TextForm& ours, const TextForm& theirs);

}  // namespace ws::sync::merge
