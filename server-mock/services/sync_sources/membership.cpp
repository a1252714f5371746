#include "server-mock/services/sync_sources/membership.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "server-mock/services/sync_sources/paths.hpp"

namespace ws::mock {
namespace {

#define WS_ENTRY_COLUMNS \
  "document_id, present, path, revision, first_entered_revision, entered_revision, path_revision, text_revision"

SyncEntry read_entry(const sqlite::Statement& row) {
  return {.document_id = row.string(0),
          .present = row.integer(1) != 0,
          .path = row.string(2),
          .revision = row.integer(3),
          .first_entered_revision = row.integer(4),
          .entered_revision = row.integer(5),
          .path_revision = row.integer(6),
          .text_revision = row.integer(7)};
}

Result<std::int64_t> next_revision(World& world, std::string_view source_id) {
  WS_LET(const sqlite::Lent raise,
         world.database.cached(
             "update sync_sources set revision = revision + 1, updated_at = ? where id = ? returning revision"));
  raise->bind_all(world.now(), source_id);
  WS_TRY(raise->step());
  return raise->integer(0);
}

Result<std::vector<std::string>> sources_holding(World& world, std::string_view document_id) {
  WS_LET(const sqlite::Lent rows,
         world.database.cached("select source_id from sync_entries where document_id = ? and present = 1"));
  rows->bind(1, document_id);
  std::vector<std::string> ids;
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return ids;
    ids.push_back(rows->string(0));
  }
}

/// The Pages between the source's root and the document, as a folder.
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
  WS_LET(const sqlite::Lent update,
         world.database.cached("update sync_entries set path = ?1, path_key = ?2, revision = ?3, path_revision = ?3 "
                               "where source_id = ?4 and document_id = ?5"));
  update->bind_all(path, utf8::fold_key(path), revision, source_id, document_id);
  return update->run();
}

/// A document above is no obstacle: its Pages give a document its folder, whatever else has the name of one.
Result<bool> is_free(World& world, std::string_view source_id, std::string_view path, std::string_view document_id) {
  const std::string key = utf8::fold_key(path);
  WS_LET(const std::optional<SyncEntry> holder, find_holder(world, source_id, key));
  if (holder && holder->document_id != document_id) return false;
  WS_LET(const std::vector<std::string> inside, documents_in_folder(world, source_id, key));
  return std::ranges::all_of(inside, [&](const std::string& id) { return id == document_id; });
}

}  // namespace

Result<std::optional<Source>> find_source(World& world, std::string_view id) {
  WS_LET(const sqlite::Lent row,
         world.database.cached(
             "select id, workspace_id, name, root_node_id, project_id, revision, created_by_user_id, "
             "created_by_agent_id, last_committed_at, created_at, updated_at from sync_sources where id = ?"));
  row->bind(1, id);
  WS_LET(const bool found, row->step());
  if (!found) return std::nullopt;
  return Source{.id = row->string(0),
                .workspace_id = row->string(1),
                .name = row->string(2),
                .root_node_id = row->string(3),
                .project_id = row->string(4),
                .revision = row->integer(5),
                .created_by_user_id = row->string(6),
                .created_by_agent_id = row->string(7),
                .last_committed_at = row->optional_integer(8),
                .created_at = row->integer(9),
                .updated_at = row->integer(10)};
}

Result<std::optional<SyncEntry>> find_entry(World& world, std::string_view source_id, std::string_view document_id) {
  WS_LET(
      const sqlite::Lent row,
      world.database.cached("select " WS_ENTRY_COLUMNS " from sync_entries where source_id = ? and document_id = ?"));
  row->bind_all(source_id, document_id);
  WS_LET(const bool found, row->step());
  if (!found) return std::nullopt;
  return read_entry(*row);
}

Result<std::optional<SyncEntry>> find_holder(World& world, std::string_view source_id, std::string_view path_key) {
  WS_LET(const sqlite::Lent row,
         world.database.cached("select " WS_ENTRY_COLUMNS " from sync_entries where source_id = ? and path_key = ?"));
  row->bind_all(source_id, path_key);
  WS_LET(const bool found, row->step());
  if (!found) return std::nullopt;
  return read_entry(*row);
}

Result<std::vector<std::string>> documents_in_folder(World& world,
                                                     std::string_view source_id,
                                                     std::string_view folder_key) {
  WS_LET(const sqlite::Lent rows,
         world.database.cached("select document_id from sync_entries where source_id = ?1 and path_key > ?2 || '/' and "
                               "path_key < ?2 || '0'"));
  rows->bind_all(source_id, folder_key);
  std::vector<std::string> ids;
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return ids;
    ids.push_back(rows->string(0));
  }
}

Result<std::vector<std::string>> sources_above(World& world, std::string_view node_id) {
  WS_LET(const sqlite::Lent rows,
         world.database.cached("with recursive above (id, parent_id) as ("
                               "  select id, parent_id from nodes where id = ?"
                               "  union all select n.id, n.parent_id from nodes n join above a on n.id = a.parent_id)"
                               "select s.id from above a join sync_sources s on s.root_node_id = a.id order by s.id"));
  rows->bind(1, node_id);
  std::vector<std::string> ids;
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return ids;
    ids.push_back(rows->string(0));
  }
}

Result<std::string> free_path(World& world,
                              std::string_view source_id,
                              std::string_view path,
                              std::string_view document_id) {
  const auto numbered = [&](int number) { return with_suffix(path, fmt::format(" ({})", number)); };
  WS_LET(bool free, is_free(world, source_id, path, document_id));
  if (free) return std::string(path);
  // In leaps and then by halves: thousands of one title would each try all numbers before theirs.
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
    // Pages too deep for a path: the file goes to the top rather than nowhere.
    if (path_problem(wanted)) wanted = segment_of(document.title) + ".md";
    WS_LET(place, free_path(world, source_id, wanted, document.id));
  }
  WS_LET(const std::int64_t revision, next_revision(world, source_id));
  WS_LET(const sqlite::Lent put,
         world.database.cached(
             "insert into sync_entries (source_id, document_id, present, path, path_key, revision, "
             "first_entered_revision, entered_revision, path_revision, text_revision) "
             "values (?1, ?2, 1, ?3, ?4, ?5, ?5, ?5, ?5, ?5) "
             "on conflict (source_id, document_id) do update set present = 1, path = ?3, path_key = ?4, revision = ?5, "
             "entered_revision = ?5, path_revision = ?5, text_revision = ?5"));
  put->bind_all(source_id, document.id, place, utf8::fold_key(place), revision);
  return put->run();
}

Result<void> leave_source(World& world, std::string_view source_id, std::string_view document_id) {
  WS_LET(const std::int64_t revision, next_revision(world, source_id));
  WS_LET(const sqlite::Lent update,
         world.database.cached("update sync_entries set present = 0, path_key = null, revision = ? "
                               "where source_id = ? and document_id = ?"));
  update->bind_all(revision, source_id, document_id);
  return update->run();
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
    WS_LET(const sqlite::Lent update,
           world.database.cached("update sync_entries set revision = ?1, text_revision = iif(?2, ?1, text_revision) "
                                 "where source_id = ?3 and document_id = ?4"));
    update->bind_all(revision, what == Changed::text, source, document_id);
    WS_TRY(update->run());
  }
  return {};
}

Result<void> follow_move(World& world,
                         const Document& document,
                         const std::vector<std::string>& above,
                         const std::optional<PathWish>& wish) {
  WS_LET(const std::vector<std::string> before, sources_holding(world, document.id));
  for (const std::string& source : before) {
    if (std::ranges::find(above, source) == above.end()) WS_TRY(leave_source(world, source, document.id));
  }
  for (const std::string& source : above) {
    const bool wished = wish && wish->source_id == source;
    if (std::ranges::find(before, source) == before.end()) {
      WS_TRY(enter_source(world, source, document, wished ? std::optional(wish->path) : std::nullopt));
      continue;
    }
    WS_LET(const std::optional<SyncEntry> entry, find_entry(world, source, document.id));
    std::string path = wished ? wish->path : std::string();
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
  WS_LET(const sqlite::Lent update,
         world.database.cached("update sync_entries set path_key = null where source_id = ? and document_id = ?"));
  update->bind_all(source_id, document_id);
  return update->run();
}

}  // namespace ws::mock
