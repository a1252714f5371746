/// Every command of `ws`.
///
/// An operation of the table has a command without being named here: its words, summary, arguments and flags are read
/// off its row. Only a command that does more than one call, or none, is listed in `registry.cpp`.
#pragma once

#include <vector>

#include "cli/grammar/catalogue.hpp"
#include "cli/output/view.hpp"

namespace ws::cli {

/// In the order in which help lists them.
std::vector<Entry> all_commands();

/// How the answer of an operation, or a result with a name of ours, looks on a terminal; null: it has no view.
const View* find_view(std::string_view shape);

}  // namespace ws::cli
