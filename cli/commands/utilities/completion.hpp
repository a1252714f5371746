/// What may stand next on a command line: words, flags, values, ids of the Workspace.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/shared/session.hpp"
#include "cli/grammar/catalogue.hpp"

namespace ws::cli {

/// For `ws __complete WORD...`, which the shells' scripts call; the last word is under way and may be empty. One
/// candidate a line, its description behind a tab; `:files` where the shell is to complete file names. Ids are asked of
/// the server (at most 2 s, never a word of a failure); everything else needs no network.
std::string complete(const World& world, const std::vector<Entry>& entries, const std::vector<std::string>& words);

}  // namespace ws::cli
