#include "server-mock/services/text_index/index.hpp"

#include <map>

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/files/assets.hpp"
#include "server-mock/services/shared/visibility.hpp"
#include "server-mock/services/text_index/chunks.hpp"

namespace ws::mock {
namespace {

/// The text as the index holds it: its words with spaces between.
std::string index_text(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (const utf8::Word& word : utf8::words(text)) {
    joined += word.key;
    joined += ' ';
  }
  return joined;
}

std::string dump_path(const std::vector<std::string>& path) { return dump(Json(path)); }

/// The chunks that a node had, to be taken over one by one.
class OldChunks {
 public:
  static Result<OldChunks> read(World& world, std::string_view node_id) {
    OldChunks old;
    WS_LET(const sqlite::Lent rows,
           world.database.cached("select place, heading_path, fingerprint from search_chunks where node_id = ? "
                                 "order by ordinal"));
    rows->bind(1, node_id);
    while (true) {
      WS_LET(const bool found, rows->step());
      if (!found) return old;
      old.places_.emplace(rows->integer(0), rows->string(1));
      old.by_text_.emplace(rows->string(1) + rows->string(2), rows->integer(0));
      old.by_path_.emplace(rows->string(1), rows->integer(0));
    }
  }

  bool is_empty() const { return places_.empty(); }
  /// The one with the same heading and text; 0: none is left.
  std::int64_t take_same(const std::string& path, const std::string& fingerprint) {
    return take(by_text_, path + fingerprint);
  }
  /// The first one left under the same heading.
  std::int64_t take_heading(const std::string& path) { return take(by_path_, path); }
  const std::map<std::int64_t, std::string>& left() const { return places_; }

 private:
  std::int64_t take(std::multimap<std::string, std::int64_t>& map, const std::string& key) {
    for (auto found = map.find(key); found != map.end() && found->first == key;) {
      const std::int64_t place = found->second;
      found = map.erase(found);
      if (places_.erase(place) > 0) return place;
    }
    return 0;
  }

  std::map<std::int64_t, std::string> places_ = {};
  std::multimap<std::string, std::int64_t> by_text_ = {};  // equal keys keep the order of insertion
  std::multimap<std::string, std::int64_t> by_path_ = {};
};

Result<void> remove_words(World& world, std::int64_t place) {
  WS_LET(const sqlite::Lent remove, world.database.cached("delete from search_words where rowid = ?"));
  remove->bind(1, place);
  return remove->run();
}

Result<void> remove_chunks(World& world, const OldChunks& old) {
  for (const auto& [place, path] : old.left()) {
    WS_TRY(remove_words(world, place));
    WS_LET(const sqlite::Lent remove, world.database.cached("delete from search_chunks where place = ?"));
    remove->bind(1, place);
    WS_TRY(remove->run());
  }
  return {};
}

struct IndexedNode {
  std::string_view id = {};
  std::string_view title = {};
  std::string_view document_id = {};
};

struct NewChunk {
  const Chunk& chunk;
  std::int64_t place = 0;  ///< of the one that it takes over; 0: none
  std::string path = {};
  std::string fingerprint = {};
};

/// Which old chunk each of the new ones goes on with: the same text first, then the same heading.
std::vector<NewChunk> take_over(const std::vector<Chunk>& chunks, OldChunks& old) {
  std::vector<NewChunk> fresh;
  fresh.reserve(chunks.size());
  for (const Chunk& chunk : chunks) {
    NewChunk made = {.chunk = chunk,
                     .path = dump_path(chunk.heading_path),
                     .fingerprint = Sha256::of(chunk.text).hex().substr(0, 16)};
    if (!old.is_empty()) made.place = old.take_same(made.path, made.fingerprint);
    fresh.push_back(std::move(made));
  }
  for (NewChunk& made : fresh) {
    if (made.place == 0 && !old.is_empty()) made.place = old.take_heading(made.path);
  }
  return fresh;
}

Result<std::int64_t> put_chunk(World& world, const IndexedNode& node, const NewChunk& made, std::size_t ordinal) {
  const auto start = static_cast<std::int64_t>(made.chunk.start_byte);
  const auto size = static_cast<std::int64_t>(made.chunk.text.size());
  const auto place_among = static_cast<std::int64_t>(ordinal);
  if (made.place != 0) {
    WS_TRY(remove_words(world, made.place));
    WS_LET(const sqlite::Lent update,
           world.database.cached("update search_chunks set ordinal = ?, start_byte = ?, size_bytes = ?, "
                                 "fingerprint = ? where place = ?"));
    update->bind_all(place_among, start, size, made.fingerprint, made.place);
    WS_TRY(update->run());
    return made.place;
  }
  WS_LET(
      const sqlite::Lent insert,
      world.database.cached("insert into search_chunks (id, node_id, document_id, ordinal, heading_path, start_byte, "
                            "size_bytes, fingerprint) values (?, ?, ?, ?, ?, ?, ?, ?)"));
  insert->bind_all(
      world.ids.uuid("chunk"), node.id, node.document_id, place_among, made.path, start, size, made.fingerprint);
  WS_TRY(insert->run());
  return world.database.last_insert_rowid();
}

Result<void> index_content(World& world, const IndexedNode& node, std::string_view content, OldChunks& old) {
  const std::vector<Chunk> chunks = cut_chunks(content);
  const std::vector<NewChunk> fresh = take_over(chunks, old);
  WS_TRY(remove_chunks(world, old));
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    WS_LET(const std::int64_t place, put_chunk(world, node, fresh[i], i));
    std::string headings;
    for (const std::string& heading : fresh[i].chunk.heading_path) headings += index_text(heading);
    WS_LET(const sqlite::Lent insert,
           world.database.cached("insert into search_words (rowid, title, headings, body) values (?, ?, ?, ?)"));
    // The title is found once a document, by its first chunk.
    insert->bind_all(place, i == 0 ? index_text(node.title) : std::string(), headings, index_text(fresh[i].chunk.text));
    WS_TRY(insert->run());
  }
  return {};
}

Result<void> index_node(World& world, const std::string& node_id) {
  WS_LET(OldChunks old, OldChunks::read(world, node_id));
  WS_LET(const sqlite::Lent row,
         world.database.cached("select n.title, coalesce(d.id, ''), coalesce(d.content, ''), "
                               "iif(a.is_text, a.blob, '') from nodes n left join documents d on d.node_id = n.id "
                               "left join assets a on a.node_id = n.id where n.id = ? and n.kind <> 'project' "
                               "and n.archived = 0 and coalesce(d.status, 'active') = 'active'"));
  row->bind(1, node_id);
  WS_LET(const bool found, row->step());
  if (!found) return remove_chunks(world, old);
  const IndexedNode node = {.id = node_id, .title = row->text(0), .document_id = row->text(1)};
  if (row->text(3).empty()) return index_content(world, node, row->text(2), old);
  WS_LET(const std::string text, text_of_asset(world, row->text(3), searched_text_bytes));
  return index_content(world, node, text, old);
}

Result<std::vector<std::string>> dirty_nodes(World& world) {
  WS_LET(const sqlite::Lent rows, world.database.cached("select node_id from search_dirty order by place"));
  std::vector<std::string> nodes;
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return nodes;
    nodes.push_back(rows->string(0));
  }
}

// Who sees a node (visibility.hpp; an asset is the Workspace's), and the limits of a search. ?1 person, ?2 only this
// Workspace, ?3 agent, ?4 the Workspace of the key and ?5 whether the caller is an admin in it, ?6 Project, ?7 kinds,
// ?8 corpus.
#define WS_SEARCH_SEEN                                                                                          \
  "from search_words w cross join search_chunks c on c.place = w.rowid cross join nodes n on n.id = c.node_id " \
  "left join documents d on d.node_id = n.id "                                                                  \
  "join members m on m.workspace_id = n.workspace_id and m.user_id = ?1 "                                       \
  "where n.archived = 0 and coalesce(d.status, 'active') = 'active' and (?2 = '' or n.workspace_id = ?2) "      \
  "and (n.project_id <> '' or n.kind = 'asset' "                                                                \
  "  or (?3 = '' and (n.created_by_user_id = ?1 "                                                               \
  "    or iif(n.workspace_id = ?4, ?5, ?5 is not null and m.role in ('owner', 'admin')))) "                     \
  "  or (?3 <> '' and n.created_by_agent_id = ?3) "                                                             \
  "  or exists (select 1 from shares s where s.document_id = d.id "                                             \
  "    and s.grantee_kind = iif(?3 = '', 'user', 'agent') and s.grantee_id = iif(?3 = '', ?1, ?3))) "           \
  "and (?6 = '' or n.project_id = ?6) and instr(?7, n.kind) > 0 "                                               \
  "and (?8 = 0 or (?8 = 2) = exists (select 1 from questions q where q.artifact_document_id = d.id)) "

constexpr const char* rank_query = "select w.rowid, -bm25(search_words, 4.0, 2.0, 1.0) as score " WS_SEARCH_SEEN
                                   "and search_words match ?9 order by score desc, w.rowid limit ?10";

constexpr const char* chunk_query =
    "select c.id, n.kind, n.title, n.id, iif(n.kind = 'page', n.id, coalesce((select p.id from nodes p "
    "where p.id = n.parent_id and p.kind = 'page'), '')), c.document_id, coalesce(d.content_revision, 0), "
    "c.heading_path, c.start_byte, substr(cast(d.content as blob), c.start_byte + 1, c.size_bytes), "
    "coalesce((select a.id from assets a where a.node_id = n.id), ''), "
    "coalesce((select iif(a.is_text, a.blob, '') from assets a where a.node_id = n.id), ''), "
    "c.size_bytes " WS_SEARCH_SEEN "and w.rowid = ?9";

Result<std::string> part_of_blob(World& world, const std::string& blob, std::size_t start, std::int64_t size) {
  WS_LET(const BlobReader reader, world.blobs.open(blob));
  std::string text(static_cast<std::size_t>(size), '\0');
  WS_LET(const std::size_t count, reader.read(start, text));
  text.resize(count);
  return text;
}

void bind_scope(sqlite::Statement& query, const SearchScope& scope) {
  const Caller& caller = scope.caller;
  query.bind_all(caller.owner_user_id,
                 scope.workspace_id,
                 caller.agent_id,
                 caller.workspace_id,
                 admin_here(caller),
                 scope.project_id,
                 scope.kinds,
                 static_cast<int>(scope.corpus));
}

}  // namespace

Result<void> refresh_search_index(World& world) {
  {
    WS_LET(const sqlite::Lent any, world.database.cached("select 1 from search_dirty limit 1"));
    WS_LET(const bool found, any->step());
    if (!found) return {};
  }
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_LET(const std::vector<std::string> nodes, dirty_nodes(world));
  for (const std::string& node : nodes) WS_TRY(index_node(world, node));
  WS_LET(const sqlite::Lent clean, world.database.cached("delete from search_dirty"));
  WS_TRY(clean->run());
  return work.commit();
}

Result<std::vector<Hit>> rank(World& world, const SearchScope& scope, const std::string& expression, std::size_t most) {
  WS_LET(const sqlite::Lent rows, world.database.cached(rank_query));
  bind_scope(*rows, scope);
  rows->bind(9, expression);
  rows->bind(10, static_cast<std::int64_t>(most));
  std::vector<Hit> hits;
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return hits;
    hits.push_back({.place = rows->integer(0), .score = rows->real(1)});
  }
}

Result<std::optional<FoundChunk>> read_chunk(World& world, const SearchScope& scope, std::int64_t place) {
  WS_LET(const sqlite::Lent row, world.database.cached(chunk_query));
  bind_scope(*row, scope);
  row->bind(9, place);
  WS_LET(const bool found, row->step());
  if (!found) return std::optional<FoundChunk>();
  WS_LET(const Json path, parse_bounded(row->text(7)));
  FoundChunk chunk = {.id = row->string(0),
                      .kind = row->string(1),
                      .title = row->string(2),
                      .node_id = row->string(3),
                      .page_id = row->string(4),
                      .document_id = row->string(5),
                      .content_revision = row->integer(6),
                      .start_byte = static_cast<std::size_t>(row->integer(8)),
                      .text = std::string(row->blob(9)),
                      .asset_id = row->string(10)};
  if (!row->text(11).empty()) {
    WS_LET(chunk.text, part_of_blob(world, row->string(11), chunk.start_byte, row->integer(12)));
  }
  for (const Json& heading : path) chunk.heading_path.push_back(heading.get<std::string>());
  return std::optional(std::move(chunk));
}

Result<std::optional<std::int64_t>> find_chunk(World& world, std::string_view id) {
  WS_LET(const sqlite::Lent row, world.database.cached("select place from search_chunks where id = ?"));
  row->bind(1, id);
  WS_LET(const bool found, row->step());
  return found ? std::optional(row->integer(0)) : std::nullopt;
}

}  // namespace ws::mock
