/// Where the sources and the programs of this build lie.
///
/// Only build_paths.cpp is compiled with the two folders: every other object file is the same in any checkout, so that
/// a compiler cache serves them all.
#pragma once

#include <string>
#include <string_view>

namespace ws::test {

/// The path of a file of the sources; `below` begins with a slash: "/tests/data/merge".
std::string source_path(std::string_view below);

/// The folder of the programs: WS_BIN_DIR from the environment, otherwise that of this build.
std::string program_folder();

}  // namespace ws::test
