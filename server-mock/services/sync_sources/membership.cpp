#include "server-mock/services/sync_sources/membership.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "server-mock/services/sync_sources/paths.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

#define WS_ENTRY_COLUMNS                                                                                           \
  "document_id, present, path, revision, first_entered_revision, entered_revision, path_revision, text_revision, " \
  "as_left"

/// In two statements: `returning` opens a temporary database each time, a third of what a commit costs.
Result<std::int64_t> next_revision(World& world, std::string_view source_id) {
  WS_TRY(put(
      world, "update sync_sources set revision = revision + 1, updated_at = ? where id = ?", world.now(), source_id));
  return read_number(world, "select revision from sync_sources where id = ?", source_id);
}

Result<std::vector<std::string>> sources_holding(World& world, std::string_view document_id) {
  return read_rows(
      world, read_text, "select source_id from sync_entries where document_id = ? and present = 1", document_id);
}

/// The folder of the document: the Pages between it and the source's root.
Result<std::string> folder_by_pages(World& world, std::string_view source_id, const Document& document) {
  WS_LET(const std::optional<Source> source, find_source(world, source_id));
  WS_LET(const std::vector<Node> line, node_and_above(world, document.parent_node_id));
  std::string folder;
  for (const Node& node : line) {
    if (!source || node.id == source->root_node_id) break;
    folder = folder.empty() ? segment_of(node.title) : joined(segment_of(node.title), folder);
  }
  return folder;
}

Result<void> set_path(World& world, std::string_view source_id, std::string_view document_id, std::string_view path) {
  WS_LET(const std::int64_t revision, next_revision(world, source_id));
  return put(world,
             "update sync_entries set path = ?1, path_key = ?2, revision = ?3, path_revision = ?3 "
             "where source_id = ?4 and document_id = ?5",
             path,
             utf8::fold_key(path),
             revision,
             source_id,
             document_id);
}

/// Whether no other document has this path or lies below it. A document with the name of one of its folders is allowed.
Result<bool> is_free(World& world, std::string_view source_id, std::string_view path, std::string_view document_id) {
  const std::string key = utf8::fold_key(path);
  WS_LET(const std::optional<SyncEntry> holder, find_holder(world, source_id, key));
  if (holder && holder->document_id != document_id) return false;
  WS_LET(const std::vector<std::string> inside, documents_in_folder(world, source_id, key));
  return std::ranges::all_of(inside, [&](const std::string& id) { return id == document_id; });
}

/// Removes the document and leaves a tombstone.
Result<void> leave_source(World& world, std::string_view source_id, std::string_view document_id) {
  WS_LET(const std::int64_t revision, next_revision(world, source_id));
  return put(world,
             "update sync_entries set present = 0, path_key = null, revision = ?, as_left = "
             "(select json_object('title', n.title, 'content_revision', d.content_revision, 'content_sha256', "
             "d.content_sha256, 'size_bytes', d.size_bytes, 'kind', d.updated_by_kind, 'id', d.updated_by_id, 'name', "
             "d.updated_by_name, 'updated_at', d.updated_at) from documents d join nodes n on n.id = d.node_id "
             "where d.id = document_id) where source_id = ? and document_id = ?",
             revision,
             source_id,
             document_id);
}

}  // namespace

Result<std::optional<Source>> find_source(World& world, std::string_view id) {
  return read_row(world, read_as<Source>, "select " WS_SOURCE_COLUMNS " from sync_sources where id = ?", id);
}

Result<std::optional<SyncEntry>> find_entry(World& world, std::string_view source_id, std::string_view document_id) {
  return read_row(world,
                  read_as<SyncEntry>,
                  "select " WS_ENTRY_COLUMNS " from sync_entries where source_id = ? and document_id = ?",
                  source_id,
                  document_id);
}

Result<void> show_as_left(Document& document, std::string_view as_left) {
  if (as_left.empty()) return {};
  WS_LET(const Json then, parse_bounded(as_left));
  const auto text = [&then](std::string_view name) { return find_text(then, name).value_or(""); };
  const auto number = [&then](std::string_view name) { return find_integer(then, name).value_or(0); };
  document.title = text("title");
  document.content_revision = number("content_revision");
  document.content_sha256 = text("content_sha256");
  document.size_bytes = number("size_bytes");
  document.updated_by = {.kind = text("kind"), .id = text("id"), .name = text("name")};
  document.updated_at = number("updated_at");
  return {};
}

Result<std::optional<Document>> find_entered(World& world, const std::optional<SyncEntry>& entry, WithContent content) {
  if (!entry) return std::nullopt;
  WS_LET(std::optional<Document> document, find_document(world, entry->document_id, content));
  if (document) WS_TRY(show_as_left(*document, entry->as_left));
  return document;
}

Result<std::optional<SyncEntry>> find_holder(World& world, std::string_view source_id, std::string_view path_key) {
  return read_row(world,
                  read_as<SyncEntry>,
                  "select " WS_ENTRY_COLUMNS " from sync_entries where source_id = ? and path_key = ?",
                  source_id,
                  path_key);
}

Result<std::vector<std::string>> documents_in_folder(World& world,
                                                     std::string_view source_id,
                                                     std::string_view folder_key) {
  return read_rows(world,
                   read_text,
                   "select document_id from sync_entries where source_id = ?1 and path_key > ?2 || '/' and "
                   "path_key < ?2 || '0'",
                   source_id,
                   folder_key);
}

Result<std::vector<std::string>> sources_above(World& world, std::string_view node_id) {
  return read_rows(world,
                   read_text,
                   "with recursive above (id, parent_id) as (  select id, parent_id from nodes where id = ?"
                   "  union all select n.id, n.parent_id from nodes n join above a on n.id = a.parent_id)"
                   "select s.id from above a join sync_sources s on s.root_node_id = a.id order by s.id",
                   node_id);
}

Result<std::string> free_path(World& world,
                              std::string_view source_id,
                              std::string_view path,
                              std::string_view document_id) {
  const auto numbered = [&](int number) { return with_suffix(path, fmt::format(" ({})", number)); };
  WS_LET(bool free, is_free(world, source_id, path, document_id));
  if (free) return std::string(path);
  // Exponential and then binary search: with thousands of equal titles, counting up would be quadratic.
  int taken = 1;
  int number = 2;
  while (true) {
    WS_LET(free, is_free(world, source_id, numbered(number), document_id));
    if (free) break;
    taken = number;
    number *= 2;
  }
  while (number - taken > 1) {
    const int middle = taken + (number - taken) / 2;
    WS_LET(free, is_free(world, source_id, numbered(middle), document_id));
    (free ? number : taken) = middle;
  }
  return numbered(number);
}

Result<void> enter_source(World& world,
                          const std::string& source_id,
                          const Document& document,
                          const std::optional<std::string>& path) {
  std::string place;
  if (path) {
    place = *path;
  } else {
    WS_LET(const std::string folder, folder_by_pages(world, source_id, document));
    std::string wanted = joined(folder, segment_of(document.title) + ".md");
    // The folder is too deep for a valid path: place the file at the root.
    if (path_problem(wanted)) wanted = segment_of(document.title) + ".md";
    WS_LET(place, free_path(world, source_id, wanted, document.id));
  }
  WS_LET(const std::int64_t revision, next_revision(world, source_id));
  return put(world,
             "insert into sync_entries (source_id, document_id, present, path, path_key, revision, "
             "first_entered_revision, entered_revision, path_revision, text_revision) "
             "values (?1, ?2, 1, ?3, ?4, ?5, ?5, ?5, ?5, ?5) "
             "on conflict (source_id, document_id) do update set present = 1, as_left = '', path = ?3, path_key = ?4, "
             "revision = ?5, "
             "entered_revision = ?5, path_revision = ?5, text_revision = ?5",
             source_id,
             document.id,
             place,
             utf8::fold_key(place),
             revision);
}

Result<void> leave_all_sources(World& world, std::string_view document_id) {
  WS_LET(const std::vector<std::string> sources, sources_holding(world, document_id));
  for (const std::string& source : sources) WS_TRY(leave_source(world, source, document_id));
  return {};
}

Result<void> touch_sources(World& world, std::string_view document_id, Changed what) {
  WS_LET(const std::vector<std::string> sources, sources_holding(world, document_id));
  for (const std::string& source : sources) {
    WS_LET(const std::int64_t revision, next_revision(world, source));
    WS_TRY(put(world,
               "update sync_entries set revision = ?1, text_revision = iif(?2, ?1, text_revision) "
               "where source_id = ?3 and document_id = ?4",
               revision,
               what == Changed::text,
               source,
               document_id));
  }
  return {};
}

Result<void> follow_move(World& world,
                         const Document& document,
                         const std::vector<std::string>& above,
                         const std::optional<RequestedPath>& requested) {
  WS_LET(const std::vector<std::string> before, sources_holding(world, document.id));
  for (const std::string& source : before) {
    if (std::ranges::find(above, source) == above.end()) WS_TRY(leave_source(world, source, document.id));
  }
  for (const std::string& source : above) {
    const bool wished = requested && requested->source_id == source;
    if (std::ranges::find(before, source) == before.end()) {
      WS_TRY(enter_source(world, source, document, wished ? std::optional(requested->path) : std::nullopt));
      continue;
    }
    WS_LET(const std::optional<SyncEntry> entry, find_entry(world, source, document.id));
    std::string path = wished ? requested->path : std::string();
    if (!wished) {
      WS_LET(const std::string folder, folder_by_pages(world, source, document));
      path = joined(folder, file_name_of(entry->path));
      if (path_problem(path)) path = file_name_of(entry->path);
      if (path == entry->path) continue;
      WS_LET(path, free_path(world, source, path, document.id));
    }
    WS_TRY(set_path(world, source, document.id, path));
  }
  return {};
}

Result<void> release_path(World& world, std::string_view source_id, std::string_view document_id) {
  return put(
      world, "update sync_entries set path_key = null where source_id = ? and document_id = ?", source_id, document_id);
}

}  // namespace ws::mock
