#include "server-mock/services/text_index/index.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/markdown.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/files/files.hpp"
#include "server-mock/services/shared/visibility.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

/// The unit of search and citation.
struct Chunk {
  std::vector<std::string> heading_path = {};  ///< plain text; empty: before the first heading
  std::size_t start_byte = 0;
  std::string_view text = {};  ///< points into the content
};

/// A longer section is split between paragraphs.
constexpr std::size_t max_chunk_bytes = 4096;
/// After so many headings a text is split by size only: 1 MiB of `#` must not become 500,000 rows.
constexpr std::size_t max_sections = 2000;
constexpr std::size_t max_heading_code_points = 200;

/// Where to split a text that is too long: after the last paragraph that fits, else after the last line, else between
/// two code points.
std::size_t end_of_part(std::string_view text) {
  const std::string_view head = text.substr(0, max_chunk_bytes);
  if (const std::size_t gap = head.rfind("\n\n"); gap != std::string_view::npos && gap > 0) return gap + 2;
  if (const std::size_t line = head.rfind('\n'); line != std::string_view::npos) return line + 1;
  std::size_t end = head.size();
  while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return end;
}

void add_parts(std::vector<Chunk>& chunks,
               const std::vector<std::string>& path,
               std::size_t start,
               std::string_view text) {
  while (text.size() > max_chunk_bytes) {
    const std::size_t end = end_of_part(text);
    chunks.push_back({.heading_path = path, .start_byte = start, .text = text.substr(0, end)});
    start += end;
    text.remove_prefix(end);
  }
  if (!text.empty() || chunks.empty()) chunks.push_back({.heading_path = path, .start_byte = start, .text = text});
}

/// One chunk for each heading, in order; concatenated they are the content. At least one, even if it is empty, so that
/// the title can be found.
std::vector<Chunk> split_chunks(std::string_view content) {
  std::vector<Chunk> chunks;
  std::size_t start = 0;
  for (markdown::Section& section : markdown::sections(content, max_sections)) {
    for (std::string& heading : section.heading_path) {
      heading.resize(utf8::prefix(heading, max_heading_code_points).size());
    }
    add_parts(chunks, section.heading_path, start, section.text);
    start += section.text.size();
  }
  if (chunks.empty()) chunks.emplace_back();
  return chunks;
}

/// The text as it is indexed: words separated by spaces.
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

/// The old chunks of a node, to be reused one by one.
class OldChunks {
 public:
  static Result<OldChunks> read(World& world, std::string_view node_id) {
    OldChunks old;
    WS_LET(const sqlite::CachedStatement rows,
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
  /// The next one with the same heading and text; 0: none.
  std::int64_t take_same(const std::string& path, const std::string& fingerprint) {
    return take(by_text_, path + fingerprint);
  }
  /// The next one with the same heading.
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
  return put(world, "delete from search_words where rowid = ?", place);
}

Result<void> remove_chunks(World& world, const OldChunks& old) {
  for (const auto& [place, path] : old.left()) {
    WS_TRY(remove_words(world, place));
    WS_TRY(put(world, "delete from search_chunks where place = ?", place));
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
  std::int64_t place = 0;  ///< rowid of the chunk that it replaces; 0: none
  std::string path = {};
  std::string fingerprint = {};
};

/// Assigns the ids of old chunks to new ones: first those with equal text, then with equal heading.
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
    WS_TRY(put(world,
               "update search_chunks set ordinal = ?, start_byte = ?, size_bytes = ?, "
               "fingerprint = ? where place = ?",
               place_among,
               start,
               size,
               made.fingerprint,
               made.place));
    return made.place;
  }
  WS_TRY(put(world,
             "insert into search_chunks (id, node_id, document_id, ordinal, heading_path, start_byte, "
             "size_bytes, fingerprint) values (?, ?, ?, ?, ?, ?, ?, ?)",
             world.ids.uuid("chunk"),
             node.id,
             node.document_id,
             place_among,
             made.path,
             start,
             size,
             made.fingerprint));
  return world.database.last_insert_rowid();
}

Result<void> index_content(World& world, const IndexedNode& node, std::string_view content, OldChunks& old) {
  const std::vector<Chunk> chunks = split_chunks(content);
  const std::vector<NewChunk> fresh = take_over(chunks, old);
  WS_TRY(remove_chunks(world, old));
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    WS_LET(const std::int64_t place, put_chunk(world, node, fresh[i], i));
    std::string headings;
    for (const std::string& heading : fresh[i].chunk.heading_path) headings += index_text(heading);
    WS_LET(const sqlite::CachedStatement insert,
           world.database.cached("insert into search_words (rowid, title, headings, body) values (?, ?, ?, ?)"));
    // The title is indexed once for each document, with its first chunk.
    insert->bind_all(place, i == 0 ? index_text(node.title) : std::string(), headings, index_text(fresh[i].chunk.text));
    WS_TRY(insert->run());
  }
  return {};
}

Result<void> index_node(World& world, const std::string& node_id) {
  WS_LET(OldChunks old, OldChunks::read(world, node_id));
  WS_LET(const sqlite::CachedStatement row,
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

/// The node ids are in the order in which the nodes were made.
constexpr const char* unindexed_nodes =
    "select node_id from search_dirty union select node_id from documents where sequence > "
    "coalesce((select through_sequence from search_progress), 0) order by 1";

// Visibility of nodes (visibility.hpp; assets belong to the Workspace), and the limits of a search. ?1 person, ?2 only
// this Workspace, ?3 agent, ?4 the Workspace of the key, ?5 whether the caller is an admin in it, ?6 Project, ?7 kinds,
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
                 bound_admin_flag(caller),
                 scope.project_id,
                 scope.kinds,
                 static_cast<int>(scope.corpus));
}

}  // namespace

Result<void> refresh_search_index(World& world) {
  WS_LET(const std::vector<std::string> nodes, read_rows(world, read_text, unindexed_nodes));
  if (nodes.empty()) return {};
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  for (const std::string& node : nodes) WS_TRY(index_node(world, node));
  WS_TRY(put(world, "delete from search_dirty"));
  WS_TRY(put(world,
             "insert or replace into search_progress (place, through_sequence) "
             "select 1, coalesce(max(sequence), 0) from documents"));
  return work.commit();
}

Result<std::vector<Hit>> rank(World& world, const SearchScope& scope, const std::string& expression, std::size_t most) {
  WS_LET(const sqlite::CachedStatement rows, world.database.cached(rank_query));
  bind_scope(*rows, scope);
  rows->bind(9, expression);
  rows->bind(10, static_cast<std::int64_t>(most));
  return read_all(*rows, [](const sqlite::Statement& row) { return Hit{row.integer(0), row.real(1)}; });
}

Result<std::optional<FoundChunk>> read_chunk(World& world, const SearchScope& scope, std::int64_t place) {
  WS_LET(const sqlite::CachedStatement row, world.database.cached(chunk_query));
  bind_scope(*row, scope);
  row->bind(9, place);
  return read_next(*row, [&world](const sqlite::Statement& found) -> Result<FoundChunk> {
    auto chunk = read_as<FoundChunk>(found);
    if (!found.text(11).empty()) {
      WS_LET(chunk.text, part_of_blob(world, found.string(11), chunk.start_byte, found.integer(12)));
    }
    return chunk;
  });
}

namespace {

/// Shorter words match only whole words.
constexpr std::size_t shortest_prefix = 3;

// Stop words of questions. (English, German, French; other languages have none.)
constexpr std::string_view fillers[] = {
    "a",    "about", "after", "all",   "am",    "an",     "and", "any",  "are",   "as",   "at",     "au",   "auf",
    "be",   "but",   "by",    "can",   "ce",    "could",  "das", "de",   "dem",   "den",  "der",    "des",  "did",
    "die",  "do",    "does",  "du",    "ein",   "eine",   "er",  "es",   "est",   "et",   "for",    "from", "had",
    "has",  "have",  "he",    "her",   "his",   "how",    "i",   "ich",  "if",    "il",   "im",     "in",   "into",
    "is",   "ist",   "it",    "its",   "je",    "l",      "la",  "le",   "les",   "many", "me",     "mit",  "much",
    "must", "my",    "no",    "not",   "of",    "on",     "or",  "ou",   "our",   "par",  "please", "pour", "qu",
    "que",  "qui",   "s",     "shall", "she",   "should", "sie", "sind", "so",    "t",    "tell",   "than", "that",
    "the",  "their", "them",  "there", "they",  "this",   "to",  "un",   "und",   "une",  "us",     "von",  "was",
    "we",   "were",  "what",  "when",  "where", "which",  "who", "whom", "whose", "why",  "wie",    "will", "with",
    "wo",   "would", "you",   "your",  "zu",
};

bool is_filler(const utf8::Word& word) { return std::ranges::find(fillers, word.key) != std::end(fillers); }

bool may_begin(const utf8::Word& word) { return !word.alone && utf8::code_points(word.key) >= shortest_prefix; }

void add_once(std::vector<Term>& terms, Term term) {
  if (terms.size() < max_terms && std::ranges::find(terms, term) == terms.end()) terms.push_back(std::move(term));
}

std::string to_phrase(const Term& term) { return fmt::format("\"{}\"", fmt::join(term.keys, " ")); }

}  // namespace

std::vector<Term> parse_terms(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n\f\v";
  std::vector<Term> terms;
  while (true) {
    const std::size_t begin = text.find_first_not_of(spaces);
    if (begin == std::string_view::npos) return terms;
    text.remove_prefix(begin);
    const std::string_view piece = text.substr(0, text.find_first_of(spaces));
    text.remove_prefix(piece.size());
    Term term;
    for (utf8::Word& word : utf8::words(piece)) {
      term.is_prefix = may_begin(word);
      if (term.keys.size() < max_terms) term.keys.push_back(std::move(word.key));
    }
    if (!term.keys.empty()) add_once(terms, std::move(term));
  }
}

std::vector<Term> parse_words(std::string_view text, Fillers mode) {
  const std::vector<utf8::Word> words = utf8::words(text);
  const bool drop = mode == Fillers::drop && !std::ranges::all_of(words, is_filler);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < words.size() && terms.size() < max_terms; ++i) {
    const utf8::Word& word = words[i];
    const auto adjoins = [&](std::size_t a, std::size_t b) {
      return b < words.size() && words[a].alone && words[b].alone && words[a].end == words[b].begin;
    };
    if (adjoins(i, i + 1)) {
      add_once(terms, {.keys = {word.key, words[i + 1].key}});
    } else if (i == 0 || !adjoins(i - 1, i)) {
      if (!drop || !is_filler(word)) add_once(terms, {.keys = {word.key}, .is_prefix = may_begin(word)});
    }
  }
  return terms;
}

std::string to_expression(const std::vector<Term>& terms, Match match) {
  std::string expression;
  for (const Term& term : terms) {
    if (!expression.empty()) expression += match == Match::all ? " AND " : " OR ";
    const std::string phrase = to_phrase(term);
    // Exact matches count twice, longer forms once.
    expression += term.is_prefix ? fmt::format("({0} OR {0} *)", phrase) : phrase;
  }
  return expression;
}

bool stands_at(const Term& term, const std::vector<utf8::Word>& words, std::size_t place) {
  if (place + term.keys.size() > words.size()) return false;
  for (std::size_t i = 0; i < term.keys.size(); ++i) {
    const std::string& key = words[place + i].key;
    const bool last = i + 1 == term.keys.size();
    if (last && term.is_prefix ? !key.starts_with(term.keys[i]) : key != term.keys[i]) return false;
  }
  return true;
}

std::size_t count_found(const std::vector<Term>& terms, const std::vector<utf8::Word>& words) {
  std::size_t count = 0;
  for (const Term& term : terms) {
    for (std::size_t place = 0; place < words.size(); ++place) {
      if (!stands_at(term, words, place)) continue;
      ++count;
      break;
    }
  }
  return count;
}

}  // namespace ws::mock
