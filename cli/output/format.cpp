#include "cli/output/format.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/text.hpp"

namespace ws::cli {
namespace {

constexpr std::pair<std::string_view, Format> formats[] = {
    {"table", Format::table},
    {"tsv", Format::tsv},
    {"json", Format::json},
    {"ndjson", Format::ndjson},
    {"yaml", Format::yaml},
    {"csv", Format::csv},
    {"ids", Format::ids},
};

struct FixedColumns {
  std::string_view operation;
  std::vector<std::string> paths;
};

const std::vector<FixedColumns>& fixed_columns() {
  static const std::vector<FixedColumns> all = {
      {"docs.list", {"id", "title", "content_revision", "updated_at"}},
      {"workspaces.list", {"id", "name", "role", "created_at"}},
      {"questions.list", {"id", "status", "prompt", "created_at"}},
      {"conversations.list", {"id", "title", "status", "question_count", "last_question_at"}},
      {"search.run", {"document_id", "kind", "title", "score", "snippet"}},
      {"comments.list", {"id", "status", "created_by_kind", "last_activity_at", "entries.0.body"}},
      {"files.list", {"id", "original_file_name", "mime_type", "size_bytes", "status", "created_at"}},
      {"agents.list", {"id", "handle", "display_name", "status", "last_seen_at"}},
      {"tests.cases_list", {"case_id", "title", "capability", "owner", "cost_class"}},
      {"tests.suites_list", {"suite_id", "title", "runnable"}},
      {"ws.sync_report", {"state", "action", "path", "previous_path", "reason"}},
      {"ws.commands", {"id", "command", "summary"}},
      {"ws.exit_codes", {"exit", "name", "meaning"}},
      {"ws.settings", {"key", "value", "where", "place"}},
      {"ws.explanation", {"wins", "value", "where", "place"}},
      {"ws.differences", {"only", "method", "path", "id"}},
      {"ws.checks", {"check", "state", "detail"}},
      {"ws.batch", {"id", "ok", "error.message"}},
      {"ws.uploaded", {"id", "ok", "result.id", "error.message"}},
      {"ws.exported", {"id", "state", "file", "error.message"}},
      {"ws.downloaded", {"id", "ok", "result.path", "error.message"}},
      {"ws.keys", {"current", "profile", "workspace_name", "base_url", "key_id", "expires_at"}},
      {"ws.states", {"state", "time", "author", "message", "files", "first"}},
      {"ws.blame", {"line", "revision", "author", "time", "text"}},
      {"ws.runs", {"run", "time", "command", "counts", "note", "device"}},
      {"ws.run_rows", {"action", "path", "previous_path", "way"}},
      {"ws.diff", {"side", "before", "after"}},
      {"ws.roots", {"folder", "state", "name", "source_id"}},
      {"ws.links", {"path", "line", "column", "message"}},
      {"ws.conflicts", {"path", "kind", "reason", "id"}},
      {"ws.uploads", {"upload_id", "file_name", "size_bytes", "state", "expires_at", "path"}},
      {"ws.resolved", {"path", "keep", "resolved", "id"}},
      {"tests.runs_list", {"id", "status", "selection_kind", "suite_id", "created_at"}},
  };
  return all;
}

/// Shorter headings for members whose names are longer than their values.
constexpr std::pair<std::string_view, std::string_view> short_headings[] = {{"original_file_name", "FILE"},
                                                                            {"mime_type", "TYPE"},
                                                                            {"size_bytes", "BYTES"},
                                                                            {"question_count", "QUESTIONS"},
                                                                            {"last_question_at", "LAST ASKED"},
                                                                            {"created_by_kind", "BY"},
                                                                            {"result.id", "FILE ID"},
                                                                            {"result.path", "FILE"},
                                                                            {"error.message", "ERROR"}};

/// "content_revision" -> "REVISION", "updated_at" -> "UPDATED", "updated_by.name" -> "UPDATED BY NAME".
std::string heading_of(std::string_view path) {
  for (const auto& [member, heading] : short_headings) {
    if (path == member) return std::string(heading);
  }
  constexpr std::string_view time_ending = "_at";
  constexpr std::string_view content = "content_";
  if (path.size() > time_ending.size() && path.substr(path.size() - time_ending.size()) == time_ending) {
    path.remove_suffix(time_ending.size());
  }
  if (path.substr(0, content.size()) == content) path.remove_prefix(content.size());
  std::string heading(path);
  for (char& c : heading) {
    if (c == '_' || c == '.') c = ' ';
    c = to_upper(c);
  }
  return heading;
}

void flatten_into(const Json& value, const std::string& prefix, std::vector<std::pair<std::string, const Json*>>& out) {
  if (!value.is_object() || value.empty()) {
    out.emplace_back(prefix, &value);
    return;
  }
  for (const auto& member : value.items()) {
    flatten_into(member.value(), prefix.empty() ? member.key() : prefix + "." + member.key(), out);
  }
}

}  // namespace

bool set_at_path(Json& target, std::string_view path, Json value) {
  Json* place = &target;
  while (true) {
    const std::size_t dot = path.find('.');
    if (!place->is_object() && !place->is_null()) return false;
    Json& member = (*place)[std::string(path.substr(0, dot))];
    if (dot == std::string_view::npos) {
      member = std::move(value);
      return true;
    }
    place = &member;
    path.remove_prefix(dot + 1);
  }
}

const Json* find_items(const Json& whole) {
  for (const std::string_view key : item_members) {
    const Json* const found = find(whole, key);
    if (found != nullptr && found->is_array()) return found;
  }
  return nullptr;
}

Json* find_items(Json& whole) { return const_cast<Json*>(find_items(std::as_const(whole))); }

std::optional<Format> find_format(std::string_view name) {
  for (const auto& [text, format] : formats) {
    if (text == name) return format;
  }
  return std::nullopt;
}

bool is_json(Format format) { return format == Format::json || format == Format::ndjson; }

std::vector<Column> columns_of_fields(const std::vector<std::string>& fields) {
  std::vector<Column> columns;
  columns.reserve(fields.size());
  for (const std::string& field : fields) columns.push_back({field, heading_of(field)});
  return columns;
}

std::vector<Column> columns_for(std::string_view operation, const Json& first_item) {
  for (const FixedColumns& fixed : fixed_columns()) {
    if (fixed.operation == operation) return columns_of_fields(fixed.paths);
  }
  std::vector<std::string> paths;
  if (first_item.is_object()) {
    for (const auto& member : first_item.items()) {
      if (member.value().is_structured() || member.key() == "object") continue;
      paths.push_back(member.key());
      if (paths.size() == 6) break;
    }
  }
  return columns_of_fields(paths);
}

const Json* at_path(const Json& value, std::string_view path) {
  const Json* place = &value;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    if (place->is_array()) {
      const auto index = parse_whole<std::size_t>(step);
      if (!index || *index >= place->size()) return nullptr;
      place = &(*place)[*index];
    } else {
      place = find(*place, step);
      if (place == nullptr) return nullptr;
    }
    if (dot == std::string_view::npos) return place;
    path.remove_prefix(dot + 1);
  }
}

Json pick(const Json& value, const std::vector<std::string>& paths) {
  Json picked = Json::object();
  for (const std::string& path : paths) {
    const Json* found = at_path(value, path);
    static_cast<void>(set_at_path(
        picked, path, found == nullptr ? Json() : *found));  // cannot fail: a path of the value fits into a part of it
  }
  return picked;
}

std::string plain_text(const Json& value) {
  if (value.is_null()) return {};
  if (const auto* text = value.get_ptr<const Json::string_t*>()) return *text;
  return dump(value);
}

std::string escape_tsv(std::string_view text) {
  if (text.find_first_of("\t\n\r\\") == std::string_view::npos) return std::string(text);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '\t': escaped += "\\t"; break;
      case '\n': escaped += "\\n"; break;
      case '\r': escaped += "\\r"; break;
      case '\\': escaped += "\\\\"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string escape_csv(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) return std::string(text);
  std::string escaped = "\"";
  for (const char c : text) {
    if (c == '"') escaped += '"';
    escaped += c;
  }
  return escaped + "\"";
}

std::vector<std::pair<std::string, const Json*>> flatten(const Json& value) {
  std::vector<std::pair<std::string, const Json*>> members;
  flatten_into(value, "", members);
  return members;
}

std::string id_of(const Json& item) {
  for (const std::string_view key :
       {"id", "case_id", "suite_id", "operation_id", "upload_id", "agent_id", "document_id"}) {
    if (auto id = find_text(item, key)) return *id;
  }
  return {};
}

}  // namespace ws::cli
