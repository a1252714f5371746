/// Invisible characters: controls, and marks that hide or reorder their neighbours.
#pragma once

namespace ws::utf8 {

/// C0, C1, DEL, and the separators of lines and paragraphs: what acts on a terminal or ends a line.
bool is_control(char32_t code_point);
/// Marks that reorder or hide what stands beside them. (Joiners, U+200C and U+200D, belong to scripts and emoji.)
bool is_hidden(char32_t code_point);

}  // namespace ws::utf8
