/// Runs a program on a terminal of its own, as a person sees it.
#pragma once

#include <string>

#include "tests/support/run_command.hpp"

namespace ws::test {

struct Screen {
  int exit = -1;          ///< as `Ended::exit`
  std::string text = {};  ///< all that was written, both streams, line ends as `\n`
};

/// stdin, stdout and stderr are one terminal of this size; `command.input` is typed at once. A program that does not
/// end within the timeout is killed.
Screen run_on_terminal(const Command& command, int columns, int rows = 50);

}  // namespace ws::test
