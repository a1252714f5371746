/// Stories whose end is known to the byte: entries that all agree on, one change of each here, there or on both sides,
/// and commands. What both sides must be afterwards is worked out by a model that knows nothing of the engine: a note
/// is a list of pieces, merged piece by piece.
#pragma once

#include <cstdint>
#include <string>

#include "tests/property/script.hpp"

namespace ws::property {

/// One step an entry: `what` is its change here, `where` the one there. Everything else of the story is by the seed.
Script make_promised(std::uint64_t seed);
/// Empty: all is as promised. `log`: the story, line by line.
std::string play_promised(std::uint64_t seed, const Script& script, std::string& log);

}  // namespace ws::property
