/// Bounds the time and memory that cmark-gfm 0.29.0.gfm.6 takes for hostile texts, by masking their syntax.
///
/// cmark's time grows with the square of: `![[]()` and other brackets, delimiters and `<?` in one paragraph; the depth
/// of nested quotes and lists; the columns of a table whose rows are short; the uses of a long link reference. Where a
/// text has too many of these, they are replaced byte for byte by control characters that have no meaning to cmark, so
/// that lines and columns do not change. `unmask_syntax` turns them back in cmark's output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ws::markdown {

/// The masked text; empty if `body` is harmless, as texts written by people are. Linear.
std::optional<std::string> mask_costly_syntax(std::string_view body);

/// Puts the masked characters back into a text from cmark's output.
void unmask_syntax(std::string& text);

}  // namespace ws::markdown
