/// Parses arguments by their type in the operation table, and reads the user's files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/contract/schema.hpp"
#include "cli/grammar/command.hpp"
#include "cli/output/output_file.hpp"

namespace ws::cli {

/// "content_revision" -> "content-revision".
std::string kebab(std::string_view name);

/// The name of the flag of a parameter or member: what other commands call it, else `kebab`.
std::string flag_name(std::string_view member);

/// "1-100", "at most 300 characters", "one of open, resolved": what a value may be, for help; empty: anything.
std::string describe(const contract::Type& type);

/// What fills a parameter or a member of the body.
Subject named_by(const contract::Field& field);
/// The names that may be given, for help.
std::string describe(Subject names, const contract::Type& type);

/// The flag that fills a parameter or a member of the body.
Flag flag_of(const contract::Field& field);

/// A value of the type, as the body carries it. `null` stands for null where the field may be null and is no string.
/// Fails with `usage`, naming `spelled` and what it takes.
Result<Json> parse_value(const contract::Field& field, const std::vector<std::string>& given, std::string_view spelled);

/// A file of the user's: fails with `disk` (exit 14) also where it is missing.
Result<std::string> read_user_file(const std::string& path);
/// All of stdin, bounded. Fails with `disk`.
Result<std::string> read_stdin();
/// `@FILE`, `-` (stdin), or the text itself.
Result<std::string> text_or_file(const std::string& given);
/// `-f FILE|-` as Markdown: fails with `usage` where it is not UTF-8.
Result<std::string> read_markdown(const std::string& path);

/// -F and -J: no two may set the same member, or one a member of the other's. Fails with `usage`.
Result<void> check_overlays(const Parsed& arguments);
/// `-F a.b=1` where `a` is no object.
Failure overlaid_twice(char letter, std::string_view assignment);

/// The file that `--junit` and the like name; empty: none. Fails as `OutputFile::check`, and with `usage` for `-`, as
/// stdout has the answer.
Result<std::optional<OutputFile>> named_output(const Parsed& arguments,
                                               std::string_view flag,
                                               Overwrite overwrite,
                                               std::optional<unsigned> mode = std::nullopt);

/// Members that are secrets: they come by `@FILE`, `-`, environment or saved state, never as a flag's value.
bool is_secret(std::string_view member);
/// The secret that `@FILE` or `-` stands for, without the newline at its end. Fails with `usage` where it is given
/// itself.
Result<std::string> read_secret(const std::string& given, std::string_view spelled);
/// Fails with `usage` where `body`, which `--body` gave as `given`, stands on the command line and holds a secret.
Result<void> check_given_body(const std::string& given, const Json& body);

}  // namespace ws::cli
