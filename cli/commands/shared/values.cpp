#include "cli/commands/shared/values.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/output/members.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t max_input_bytes = std::size_t{32} << 20U;

std::string range(const contract::Type& type, std::string_view unit) {
  if (type.min && type.max) return fmt::format("{}-{}{}", *type.min, *type.max, unit);
  if (type.max) return fmt::format("at most {}{}", *type.max, unit);
  if (type.min && *type.min > 0) return fmt::format("at least {}{}", *type.min, unit);
  if (!type.max_bytes) return {};
  constexpr std::size_t mebibyte = std::size_t{1} << 20U;
  const bool is_whole = *type.max_bytes % mebibyte == 0;
  return is_whole ? fmt::format("at most {} MiB", *type.max_bytes / mebibyte)
                  : fmt::format("at most {} bytes", *type.max_bytes);
}

std::string placeholder_of(const contract::Type& type) {
  switch (type.kind) {
    case contract::Kind::integer:
    case contract::Kind::number: return "N";
    case contract::Kind::uuid: return "ID";
    case contract::Kind::boolean: return "true|false";
    case contract::Kind::date_time: return "TIME";
    case contract::Kind::array:
      if (type.items != nullptr && type.items->kind == contract::Kind::uuid) return "ID,...";
      return type.items != nullptr && type.items->object != nullptr ? "JSON" : "A,B";
    case contract::Kind::object:
    case contract::Kind::free_object:
    case contract::Kind::text_map:
    case contract::Kind::any: return "JSON";
    case contract::Kind::string:
    case contract::Kind::choice: return "TEXT";
  }
  return "TEXT";
}

bool is_json_kind(const contract::Type& type) {
  using contract::Kind;
  return type.kind == Kind::object || type.kind == Kind::free_object || type.kind == Kind::text_map ||
         type.kind == Kind::any;
}

Failure unfit(std::string_view spelled, std::string_view what, const std::string& given) {
  return {.kind = Failure::Kind::usage, .what = fmt::format("{} takes {}, not `{}`", spelled, what, given)};
}

Result<Json> parse_json_text(const std::string& given, std::string_view spelled) {
  WS_LET(const std::string text, text_or_file(given));
  auto value = parse_bounded(text);
  if (!value) return fail(Failure::Kind::usage, fmt::format("{} takes JSON: {}", spelled, value.error().what));
  if (auto exact = check_numbers(*value, Numbers::of_64_bits); !exact) {
    return fail(Failure::Kind::usage, fmt::format("{}: {}", spelled, exact.error().what));
  }
  return std::move(*value);
}

Result<Json> parse_integer(const contract::Type& type, const std::string& given, std::string_view spelled) {
  if (const auto number = parse_whole<std::int64_t>(given)) return Json(*number);
  const std::string limits = describe(type);
  return fail(unfit(spelled, limits.empty() ? "an integer" : "an integer, " + limits, given));
}

Result<Json> parse_scalar(const contract::Field& field, const std::string& given, std::string_view spelled) {
  using contract::Kind;
  const contract::Type& type = field.type;
  const bool is_text = type.kind == Kind::string || type.kind == Kind::choice;
  if (given == "null" && field.null == contract::Null::yes && !is_text) return Json();
  switch (type.kind) {
    case Kind::integer: return parse_integer(type, given, spelled);
    case Kind::number: {
      auto value = parse_bounded(given);
      if (!value || !value->is_number()) return fail(unfit(spelled, "a number", given));
      return std::move(*value);
    }
    case Kind::boolean:
      if (given == "true" || given == "yes") return Json(true);
      if (given == "false" || given == "no") return Json(false);
      return fail(unfit(spelled, "true or false", given));
    default: break;
  }
  if (is_json_kind(type)) return parse_json_text(given, spelled);
  if (!is_secret(field.name)) return Json(given);
  WS_LET(std::string secret, read_secret(given, spelled));
  return Json(std::move(secret));
}

}  // namespace

std::string kebab(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

std::string flag_name(std::string_view member) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {{"project_id", "project"},
                                                                     {"conversation_id", "conversation"},
                                                                     {"parent_node_id", "parent"},
                                                                     {"worker_id", "worker"},
                                                                     {"display_name", "name"}};
  for (const auto& [known, name] : names) {
    if (member == known) return std::string(name);
  }
  return kebab(member);
}

std::string describe(const contract::Type& type) {
  using contract::Kind;
  switch (type.kind) {
    case Kind::string: return range(type, " characters");
    case Kind::integer:
    case Kind::number: return range(type, "");
    case Kind::choice: return fmt::format("one of {}", fmt::join(type.values, ", "));
    case Kind::uuid: return "a UUID";
    case Kind::date_time: return "an RFC 3339 time";
    case Kind::array: {
      const std::string items = type.items == nullptr ? std::string() : describe(*type.items);
      const std::string count = range(type, " items");
      return items.empty() || count.empty() ? items + count : count + ", each " + items;
    }
    default: return {};
  }
}

Flag flag_of(const contract::Field& field) {
  std::string fallback(field.fallback);
  if (fallback.size() >= 2 && fallback.front() == '"') fallback = fallback.substr(1, fallback.size() - 2);
  std::string placeholder = is_secret(field.name) ? "@FILE|-" : placeholder_of(field.type);
  const std::string name = flag_name(field.name);
  return {.name = name,
          .placeholder = std::move(placeholder),
          .is_repeated = field.type.kind == contract::Kind::array,
          .help = std::string(field.help),
          .limits = describe(named_by(field), field.type),
          .fallback = std::move(fallback),
          .names = named_by(field),
          .also = name == kebab(field.name) ? std::string() : kebab(field.name),
          .fills = std::string(field.name)};
}

std::string describe(Subject names, const contract::Type& type) {
  switch (names) {
    case Subject::document:
      return "a document: its id, the end of an id shown before, a synced file, its title, or `last`";
    case Subject::agent: return "an agent: its id, the end of an id shown before, its handle, or `last`";
    case Subject::project: return "its id, the end of an id shown before, its title where `ws` created it, or `last`";
    case Subject::thing: return "an id, or the end of one shown before";
    case Subject::text: break;
  }
  return describe(type);
}

Subject named_by(const contract::Field& field) {
  if (field.name == "document_id") return Subject::document;
  if (field.name == "agent_id") return Subject::agent;
  if (field.name == "project_id") return Subject::project;
  return field.type.kind == contract::Kind::uuid ? Subject::thing : Subject::text;
}

Result<Json> parse_value(const contract::Field& field,
                         const std::vector<std::string>& given,
                         std::string_view spelled) {
  if (field.type.kind != contract::Kind::array) return parse_scalar(field, given.back(), spelled);
  if (given.size() == 1 && given.front().substr(0, 1) == "[") return parse_json_text(given.front(), spelled);
  const bool of_objects = field.type.items != nullptr && is_json_kind(*field.type.items);
  contract::Field item = field;
  item.type = field.type.items == nullptr ? contract::string() : *field.type.items;
  Json list = Json::array();
  for (const std::string& one : given) {
    for (const std::string_view part : of_objects ? std::vector<std::string_view>{one} : split(one, ',')) {
      WS_LET(Json value, parse_scalar(item, std::string(part), spelled));
      list.push_back(std::move(value));
    }
  }
  return list;
}

Result<void> check_overlays(const Parsed& arguments) {
  std::vector<std::string> keys;
  for (const char* const letter : {"F", "J"}) {
    for (const std::string& one : arguments.values(letter)) keys.push_back(one.substr(0, one.find('=')));
  }
  for (const std::string& outer : keys) {
    for (const std::string& inner : keys) {
      if (inner.substr(0, outer.size() + 1) != outer + ".") continue;
      return fail(Failure::Kind::usage, fmt::format("`{}` and `{}`, a member of it, are both set", outer, inner));
    }
  }
  return {};
}

Failure overlaid_twice(char letter, std::string_view assignment) {
  return {
      .kind = Failure::Kind::usage,
      .what = fmt::format("-{} {}: the member above it already has a value that is not an object", letter, assignment)};
}

Result<std::string> read_user_file(const std::string& path) {
  auto text = read_file(path, max_input_bytes, Source::anything);
  if (!text) {
    Failure failure = text.error();
    if (failure.kind == Failure::Kind::not_found) failure.kind = Failure::Kind::disk;
    return fail(std::move(failure));
  }
  return text;
}

Result<std::string> read_stdin() {
  static bool was_read = false;
  if (std::exchange(was_read, true)) {
    return fail(Failure::Kind::usage, "stdin is named twice, and can be read once", "give one of the two as a file");
  }
  std::string text;
  char buffer[64 * 1024];
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (count == 0) return text;
    if (count < 0) return fail(Failure::Kind::disk, std::string("cannot read stdin: ") + std::strerror(errno));
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > max_input_bytes) return fail(Failure::Kind::usage, "stdin is larger than 32 MiB");
  }
}

Result<std::string> text_or_file(const std::string& given) {
  if (given == "-") return read_stdin();
  if (!given.empty() && given.front() == '@') return read_user_file(given.substr(1));
  return given;
}

Result<std::string> read_markdown(const std::string& path) {
  WS_LET(std::string text, path == "-" ? read_stdin() : read_user_file(path));
  if (!utf8::is_valid(text)) return fail(Failure::Kind::usage, (path == "-" ? "stdin" : path) + " is not UTF-8");
  return text;
}

Result<std::optional<OutputFile>> named_output(const Parsed& arguments,
                                               std::string_view flag,
                                               Overwrite overwrite,
                                               std::optional<unsigned> mode) {
  const auto path = arguments.value(flag);
  if (!path) return std::optional<OutputFile>();
  if (*path == "-") {
    return fail(Failure::Kind::usage,
                fmt::format("--{} takes a file, not -: stdout has the answer", flag),
                "name a file; ./- is one of that name");
  }
  OutputFile file(*path, overwrite, mode);
  WS_TRY(file.check());
  return std::optional<OutputFile>(std::move(file));
}

bool is_secret(std::string_view member) {
  return member == "device_code" || member == "lease_token" || member == "source_event_lease_token";
}

Result<std::string> read_secret(const std::string& given, std::string_view spelled) {
  if (given != "-" && given.substr(0, 1) != "@") {
    return fail(Failure::Kind::usage, fmt::format("{} is a secret; give it as @FILE or -", spelled));
  }
  WS_LET(std::string secret, text_or_file(given));
  trim_end(secret, "\r\n");
  return secret;
}

Result<void> check_given_body(const std::string& given, const Json& body) {
  if (given.substr(0, 1) == "@" || given == "-" || !body.is_object()) return {};
  for (const auto& member : body.items()) {
    if (!is_secret(member.key())) continue;
    return fail(Failure::Kind::usage, "the body's `" + member.key() + "` is a secret; give the body as @FILE or -");
  }
  return {};
}

}  // namespace ws::cli
