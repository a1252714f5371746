/// Helpers that the commands share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/contract/schema.hpp"
#include "cli/commands/shared/session.hpp"
#include "cli/grammar/command.hpp"

namespace ws::cli {

/// The operation with this id, which must be in the table.
const contract::Operation& operation_of(std::string_view id);

/// `--stdin`: ids, one a line.
Flag stdin_flag();
/// An id, or a path, as it was given.
struct GivenId {
  std::string id = {};
  std::size_t line = 0;                 ///< of stdin, counted from 1; 0: a word of the command
  std::optional<Failure> refused = {};  ///< a word that names nothing
};
/// The words of the command and, with `--stdin`, the lines of stdin that are not empty, each once. Fails with `usage`
/// where there are none and stdin was not asked for.
Result<std::vector<GivenId>> ids_of(Session& session);
/// Whether one id or file was given as an argument: its result is printed alone. With `--stdin` it is always a batch.
bool is_one(const Session& session, const std::vector<GivenId>& given);
/// The failure of one of several, with the line that it came from.
Failure at_line(const GivenId& given, Failure failure);

/// The integer that a flag's value `text` stands for. Fails with `usage`.
Result<int> parse_number(std::string_view flag, const std::string& text, int least, int most);
/// The same of the flag as it was given, else `fallback`.
Result<int> number_flag(const Session& session, std::string_view flag, int fallback, int least, int most);

/// `--jobs` of a command that moves files: how many at a time.
Flag file_jobs_flag(std::string help);
Result<std::size_t> file_jobs(const Session& session);

/// Whether the result is to be shown to people, as opposed to a format that somebody asked for.
bool is_for_people(const Session& session);

/// Whether a command whose answer is one text prints that alone: no format that shows members was asked for, nor one of
/// them.
bool prints_text(Session& session);

/// Whether somebody is there to be led through conflicts: a terminal on both ends, no CI, no `--no-input`.
bool may_walk(Session& session);

/// The secret that `name` stands for: `--name @FILE|-`, else the environment's `variable`, else empty.
Result<std::string> secret_of(Session& session, std::string_view flag, std::string_view variable);

}  // namespace ws::cli
