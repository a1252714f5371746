/// Invisible characters: controls, and marks that hide or reorder their neighbours.
#pragma once

#include <string_view>

namespace ws::utf8 {

/// C0, C1, DEL, and line and paragraph separators: characters that act on a terminal or end a line.
bool is_control(char32_t code_point);
/// Characters that hide or reorder their neighbours, except joiners (U+200C, U+200D): scripts and emoji need them.
bool is_hidden(char32_t code_point);
/// Those, and every other format character (general category Cf) but the joiners: signs of scripts and of music that a
/// text may need, and a name does not.
bool is_hidden_in_name(char32_t code_point);
bool is_joiner(char32_t code_point);
/// Whether a name has a joiner at either end or next to another joiner, where it joins nothing and only makes the name
/// look like another. `name` is UTF-8.
bool has_stray_joiner(std::string_view name);

}  // namespace ws::utf8
