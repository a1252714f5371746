/// How a result may be printed (`cli.md`, "Output").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"

namespace ws::cli {

enum class Format { table, tsv, json, ndjson, yaml, csv, ids };

std::optional<Format> find_format(std::string_view name);
/// JSON, NDJSON: errors are JSON too.
bool is_json(Format format);

/// Where the items of a list stand in its answer.
inline constexpr std::string_view item_members[] = {"data", "threads"};
/// The items of a list; null where it is none.
const Json* find_items(const Json& whole);
Json* find_items(Json& whole);

/// Columns of a list: dotted paths into an item ("updated_by.name") and the words above them.
struct Column {
  std::string path;
  std::string heading;
};
/// Of a list command: the fixed columns where there are some, else those of the first item's plain members. Scripts
/// that read TSV depend on the fixed ones.
std::vector<Column> columns_for(std::string_view operation, const Json& first_item);
/// `--fields a,b.c` as columns.
std::vector<Column> columns_of_fields(const std::vector<std::string>& fields);

/// The value at a dotted path; null where there is none. Numbers are places in an array.
const Json* at_path(const Json& value, std::string_view path);
/// Sets `target` at a dotted path, making the objects on the way. False, and nothing is set, where a value that has no
/// members stands on the way.
bool set_at_path(Json& target, std::string_view path, Json value);
/// Only the named paths, nested as they were; a missing one is null.
Json pick(const Json& value, const std::vector<std::string>& paths);

/// Plain text of a value: strings as they are, null empty, everything else JSON on one line.
std::string plain_text(const Json& value);
/// For TSV: tab, newline, carriage return and backslash escaped.
std::string escape_tsv(std::string_view text);
/// RFC 4180: quoted where needed.
std::string escape_csv(std::string_view text);

/// Every plain member with its dotted path, in order; arrays stay whole. The values point into `value`.
std::vector<std::pair<std::string, const Json*>> flatten(const Json& value);
/// The identifier of an item: `id`, else `case_id`, `suite_id`, `operation_id`, ...; empty where it has none.
std::string id_of(const Json& item);

}  // namespace ws::cli
