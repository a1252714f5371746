/// Runs a program on a pseudo-terminal.
#pragma once

#include <string>

#include "tests/support/run_command.hpp"

namespace ws::test {

struct Screen {
  int exit = -1;          ///< as `Ended::exit`
  std::string text = {};  ///< everything written to both streams, with `\n` as line end
};

/// stdin, stdout and stderr are one terminal of this size; `command.input` is typed at once. A program that exceeds the
/// timeout is killed.
Screen run_on_terminal(const Command& command, int columns, int rows = 50);

}  // namespace ws::test
