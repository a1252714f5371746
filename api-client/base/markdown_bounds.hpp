/// Bounds the time and memory that cmark-gfm 0.29.0.gfm.6 takes for hostile texts, by masking their syntax.
///
/// Its time grows with the square of: `![[]()` and other brackets, delimiters and `<?` in one paragraph; the depth of
/// nested quotes and lists; the columns of a table whose rows are short; the uses of a long link reference. Where a
/// text has too much of one of these, its signs there are replaced by control characters that mean nothing to cmark,
/// byte for byte, so that lines and columns stay. What comes out of cmark is turned back by `restore`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ws::markdown {

/// Empty where `body` is harmless as it is, as texts that people write are. Linear.
std::optional<std::string> made_harmless(std::string_view body);

/// Puts the signs back into a text that cmark read out of a harmless one.
void restore(std::string& text);

}  // namespace ws::markdown
