/// Invisible characters: controls, and marks that hide or reorder their neighbours.
#pragma once

#include <string_view>

namespace ws::utf8 {

/// C0, C1, DEL, and the separators of lines and paragraphs: what acts on a terminal or ends a line.
bool is_control(char32_t code_point);
/// Marks that reorder or hide what stands beside them. (Joiners, U+200C and U+200D, belong to scripts and emoji.)
bool is_hidden(char32_t code_point);
bool is_joiner(char32_t code_point);
/// Whether a joiner of a name joins nothing, at either end or beside another one: it only makes the name look like
/// another. `name` is UTF-8.
bool has_stray_joiner(std::string_view name);

}  // namespace ws::utf8
