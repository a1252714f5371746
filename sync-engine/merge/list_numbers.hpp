/// The numbers of ordered lists, which say nothing but the order: an item that comes in between renumbers the rest.
#pragma once

#include <string>
#include <string_view>

namespace ws::sync::merge {

/// Whether each ordered list counts up by one from its first number. True without lists.
bool has_sequential_numbers(std::string_view text);

/// The text with each ordered list counted up from its first number; the lines stay what they are otherwise. A list
/// in which a number would become longer or shorter above lines that stand indented below it keeps its numbers: their
/// indentation hangs on it.
std::string renumber_lists(std::string_view text);

}  // namespace ws::sync::merge
