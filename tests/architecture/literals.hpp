/// The string literals of a C++ source.
#pragma once

#include <string>
#include <vector>

namespace ws::test {

struct Literal {
  int line = 0;
  std::string text = {};  ///< of neighbours joined, escapes as they are written
};

/// In order. Comments, character constants and raw strings are passed over.
std::vector<Literal> literals_of(const std::string& source);

}  // namespace ws::test
