#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/markdown.hpp"
#include "server-mock/services/questions/question_store.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/paging.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/sync/shared.hpp"
#include "server-mock/services/text_index/index.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

// Snippets of search results. Pure.

constexpr std::size_t max_snippet_bytes = 240;

/// How many bytes are shown before the first match.
constexpr std::size_t lead_bytes = 60;

/// Replaces every run of spaces and control characters by one space.
std::string on_one_line(std::string_view text) {
  std::string line;
  bool gap = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F) {
      gap = !line.empty();
      continue;
    }
    if (gap) line += ' ';
    gap = false;
    line += c;
  }
  return line;
}

bool is_inside_code_point(std::string_view text, std::size_t place) {
  return place < text.size() && (static_cast<unsigned char>(text[place]) & 0xC0U) == 0x80U;
}

/// The first word of the window with most terms; the number of words if none occurs.
std::size_t best_start(const std::vector<utf8::Word>& words, const std::vector<Term>& terms) {
  struct Found {
    std::size_t word = 0;
    std::size_t term = 0;
  };
  std::vector<Found> found;
  for (std::size_t word = 0; word < words.size(); ++word) {
    for (std::size_t term = 0; term < terms.size(); ++term) {
      if (stands_at(terms[term], words, word)) found.push_back({word, term});
    }
  }
  std::size_t best = words.size();
  std::size_t most = 0;
  for (std::size_t first = 0; first < found.size(); ++first) {
    const std::size_t limit = words[found[first].word].begin + max_snippet_bytes - lead_bytes;
    std::vector<bool> seen(terms.size(), false);
    std::size_t count = 0;
    for (std::size_t i = first; i < found.size() && words[found[i].word].end <= limit; ++i) {
      if (!seen[found[i].term]) ++count;
      seen[found[i].term] = true;
    }
    if (count > most) {
      most = count;
      best = found[first].word;
    }
    if (most == 0) best = found[first].word;  // a word longer than a snippet
    if (most == terms.size()) break;
  }
  return best;
}

std::string cut(std::string_view line, std::size_t around) {
  if (line.size() <= max_snippet_bytes) return std::string(line);
  std::size_t begin = around > lead_bytes ? around - lead_bytes : 0;
  if (begin + max_snippet_bytes > line.size()) begin = line.size() - max_snippet_bytes;
  if (begin > 0) {
    const std::size_t space = line.find(' ', begin);
    if (space != std::string_view::npos && space < around) begin = space + 1;
    while (is_inside_code_point(line, begin)) ++begin;
  }
  std::size_t end = std::min(begin + max_snippet_bytes, line.size());
  if (end < line.size()) {
    const std::size_t space = line.rfind(' ', end);
    if (space != std::string_view::npos && space > around + max_snippet_bytes / 3 && space > begin) end = space;
    while (is_inside_code_point(line, end)) --end;
  }
  std::string snippet = begin > 0 ? "…" : "";
  snippet += line.substr(begin, end - begin);
  if (end < line.size()) snippet += "…";
  return snippet;
}

/// Plain text on one line, at most `max_snippet_bytes` with an ellipsis at either end, around the place where most
/// terms occur; the beginning if none does. `source` is Markdown.
std::string make_snippet(std::string_view source, const std::vector<Term>& terms) {
  std::string line = on_one_line(markdown::plain_text(source));
  std::vector<utf8::Word> words = utf8::words(line);
  std::size_t start = best_start(words, terms);
  if (start == words.size()) {
    // A match only in a link's target or in HTML: show the Markdown source.
    std::string raw = on_one_line(source);
    std::vector<utf8::Word> raw_words = utf8::words(raw);
    const std::size_t raw_start = best_start(raw_words, terms);
    if (raw_start != raw_words.size()) {
      line = std::move(raw);
      words = std::move(raw_words);
      start = raw_start;
    }
  }
  return cut(line, start < words.size() ? words[start].begin : 0);
}

/// Limit of results (one more is looked for, to tell that there are more); a cursor stays valid until this many other
/// searches have requested a second page.
constexpr std::size_t max_results = 1000;
constexpr std::int64_t kept_rankings = 256;
constexpr std::int64_t offsets = 4096;  // a cursor's position: ranking * offsets + offset

/// Identifies a search for its cursors: the caller and the query.
std::string search_name(const ServiceCall& call) {
  Json same = {{"user", call.caller.owner_user_id}, {"agent", call.caller.agent_id}};
  if (call.caller.audience == Audience::workspace) same["workspace"] = call.caller.workspace_id;
  for (const char* member : {"query", "project_id", "kinds"}) {
    if (const Json* value = find(call.body, member); value != nullptr) same[member] = *value;
  }
  return "search.run\n" + canonical(same);
}

ApiResult<SearchScope> find_scope(World& world, const ServiceCall& call) {
  SearchScope scope = {.caller = call.caller, .project_id = id_of(call.body, "project_id")};
  if (call.caller.audience == Audience::workspace || !call.caller.agent_id.empty()) {
    scope.workspace_id = call.caller.workspace_id;
  }
  if (!scope.project_id.empty()) WS_API_TRY(find_visible_project(world, call, scope.project_id));
  const Json* kinds = find(call.body, "kinds");
  if (kinds != nullptr && kinds->is_array() && !kinds->empty()) {
    scope.kinds.clear();
    for (const Json& kind : *kinds) scope.kinds += kind.get_ref<const std::string&>() + ' ';
  }
  return scope;
}

/// Chunks with all terms; if there are none, chunks with any of the words.
Result<std::vector<Hit>> find_hits(World& world, const SearchScope& scope, std::string_view text) {
  const std::vector<Term> terms = parse_terms(text);
  if (terms.empty()) return std::vector<Hit>();
  WS_LET(std::vector<Hit> hits, rank(world, scope, to_expression(terms, Match::all), max_results + 1));
  if (!hits.empty()) return hits;
  return rank(world, scope, to_expression(parse_words(text, Fillers::drop), Match::any), max_results + 1);
}

/// Stores the order of the results, so that later writes do not move results between pages.
Result<std::int64_t> save_ranking(World& world, const std::string& list, const std::vector<Hit>& hits) {
  static_assert(std::is_trivially_copyable_v<Hit>);
  std::string bytes(hits.size() * sizeof(Hit), '\0');
  std::memcpy(bytes.data(), hits.data(), bytes.size());
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_LET(const sqlite::CachedStatement insert,
         world.database.cached("insert into search_rankings (list, hits, created_at) values (?, ?, ?)"));
  insert->bind(1, list);
  insert->bind_blob(2, bytes);
  insert->bind(3, world.now());
  WS_TRY(insert->run());
  const std::int64_t place = world.database.last_insert_rowid();
  WS_TRY(put(world, "delete from search_rankings where place <= ?", place - kept_rankings));
  WS_TRY(work.commit());
  return place;
}

Result<std::vector<Hit>> load_ranking(World& world, const std::string& list, std::int64_t place) {
  WS_LET(const sqlite::CachedStatement row,
         world.database.cached("select hits from search_rankings where place = ? and list = ?"));
  row->bind_all(place, list);
  WS_LET(const bool found, row->step());
  if (!found) return std::vector<Hit>();
  const std::string_view bytes = row->blob(0);
  std::vector<Hit> hits(bytes.size() / sizeof(Hit));
  std::memcpy(hits.data(), bytes.data(), hits.size() * sizeof(Hit));
  return hits;
}

/// The ranked results and the start of the page in them.
struct Ranking {
  std::vector<Hit> hits = {};
  std::size_t offset = 0;
  std::int64_t place = 0;  ///< rowid of the stored ranking; 0: not stored yet
};

ApiResult<Ranking> find_ranking(World& world,
                                const ServiceCall& call,
                                const SearchScope& scope,
                                const std::string& list) {
  const Json* cursor = find(call.body, "cursor");
  if (cursor == nullptr || !cursor->is_string()) {
    WS_API_LET(std::vector<Hit> hits, find_hits(world, scope, text_of(call.body, "query")));
    return Ranking{.hits = std::move(hits)};
  }
  const auto place = parse_cursor(list, cursor->get_ref<const std::string&>());
  if (!place) return invalid("body", "cursor", "value_error", "The cursor is malformed or of another search", *cursor);
  Ranking ranking = {.offset = static_cast<std::size_t>(*place % offsets), .place = *place / offsets};
  WS_API_LET(ranking.hits, load_ranking(world, list, ranking.place));
  if (ranking.hits.empty()) {
    return invalid("body", "cursor", "value_error", "The cursor has expired: search again", *cursor);
  }
  return ranking;
}

/// The first source that contains the document and that the caller may see; null if there is none.
ApiResult<Json> source_of(World& world, const ServiceCall& call, const std::string& document_id) {
  WS_API_LET(const std::vector<std::string> sources,
             read_rows(world,
                       read_text,
                       "select source_id from sync_entries where document_id = ? and present = 1 order by source_id",
                       document_id));
  for (const std::string& source : sources) {
    const auto seen = find_visible_source(world, call, source);
    if (seen) return Json(source);
    if (seen.error().status >= 500) return refuse(seen.error());
  }
  return Json(nullptr);
}

ApiResult<Json> to_json(
    World& world, const ServiceCall& call, const FoundChunk& chunk, double score, const std::vector<Term>& terms) {
  const bool document = !chunk.document_id.empty();
  Json source = nullptr;
  if (document) {
    WS_API_LET(source, source_of(world, call, chunk.document_id));
  }
  Json links = {{"node", "/v1/nodes/" + chunk.node_id + ":move"}};
  if (!chunk.asset_id.empty()) links["asset"] = "/v1/files/" + chunk.asset_id;
  if (document) links["document"] = "/v1/documents/" + chunk.document_id;
  if (source.is_string()) links["source"] = "/v1/sync/sources/" + source.get<std::string>();
  return Json{{"object", "search_result"},
              {"kind", chunk.kind},
              {"title", chunk.title},
              {"snippet", make_snippet(chunk.text.empty() && !document ? chunk.title : chunk.text, terms)},
              {"score", score},
              {"page_id", text_or_null(chunk.page_id)},
              {"node_id", chunk.node_id},
              {"document_id", text_or_null(chunk.document_id)},
              {"chunk_id", chunk.text.empty() && !document ? Json(nullptr) : Json(chunk.id)},
              {"source_id", std::move(source)},
              {"heading_path", chunk.heading_path},
              {"content_revision", document ? Json(chunk.content_revision) : Json(nullptr)},
              {"links", std::move(links)}};
}

/// BM25 relative to the best result, with three digits: absolute values would disclose how rare a word is in texts that
/// the caller may not read.
double shown_score(const Ranking& ranking, std::size_t place) {
  const double best = ranking.hits.front().score;
  return best <= 0 ? 1.0 : std::max(0.0, std::round(ranking.hits[place].score / best * 1000) / 1000);
}

ServiceResult run_search(World& world, const ServiceCall& call) {
  WS_API_TRY(complete_due_questions(world));
  WS_API_TRY(refresh_search_index(world));
  WS_API_LET(const SearchScope scope, find_scope(world, call));
  const std::string list = search_name(call);
  WS_API_LET(Ranking ranking, find_ranking(world, call, scope, list));
  const std::vector<Term> terms = parse_words(text_of(call.body, "query"), Fillers::drop);
  const auto limit = static_cast<std::size_t>(integer_of(call.body, "limit", 20));
  Json data = Json::array();
  Json next = nullptr;
  const std::size_t shown = std::min(ranking.hits.size(), max_results);
  for (std::size_t place = ranking.offset; place < shown; ++place) {
    // Leaves out what the caller may no longer see.
    WS_API_LET(const std::optional<FoundChunk> chunk, read_chunk(world, scope, ranking.hits[place].place));
    if (!chunk) continue;
    if (data.size() == limit) {
      if (ranking.place == 0) {
        WS_API_LET(ranking.place, save_ranking(world, list, ranking.hits));
      }
      next = make_cursor(list, ranking.place * offsets + static_cast<std::int64_t>(place));
      break;
    }
    WS_API_LET(Json result, to_json(world, call, *chunk, shown_score(ranking, place), terms));
    data.push_back(std::move(result));
  }
  Answer answer = {.body =
                       Json{{"object", "search_results"}, {"data", std::move(data)}, {"next_cursor", std::move(next)}}};
  if (ranking.hits.size() > max_results) {
    answer.headers.emplace_back("X-Mock-Warning", fmt::format("there are more results than the {} shown", max_results));
  }
  return answer;
}

}  // namespace

ServiceTable search_services() {
  static constexpr ServiceEntry entries[] = {
      {"search.run", run_search},
  };
  return entries;
}

}  // namespace ws::mock
