/// The full-text index: FTS5 over heading-sized chunks, ranked by BM25.
///
/// Writers insert only one small row: triggers record changes (store/schema.cpp), and the next search indexes them. A
/// chunk keeps its id as long as its heading exists in the document. Archived documents have no chunks.
///
/// Both query functions return only what the caller may read now; visibility is part of their SQL. BM25 uses word
/// counts of all texts of the server, so absolute scores could disclose texts that the caller may not read: show them
/// only relative to the best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Indexes all changes. Costs one query if there are none.
Result<void> refresh_search_index(World& world);

/// The artifacts of questions are documents too; answering distinguishes them.
enum class Corpus { everything, documents, artifacts };

/// Limits of a search; empty texts mean no limit.
struct SearchScope {
  const Caller& caller;
  std::string workspace_id = {};
  std::string project_id = {};
  std::string kinds = "page document asset";
  Corpus corpus = Corpus::everything;
};

struct Hit {
  std::int64_t place = 0;  ///< rowid of the chunk, for `read_chunk`
  double score = 0;        ///< BM25, larger is better
};
/// The visible chunks that match an FTS5 expression, best first.
Result<std::vector<Hit>> rank(World& world, const SearchScope& scope, const std::string& expression, std::size_t most);

/// A chunk with its document or asset.
struct FoundChunk {
  std::string id = {};
  std::string kind = {};  ///< "page", "document", "asset"
  std::string title = {};
  std::string node_id = {};
  std::string page_id = {};      ///< the Page itself, or the parent Page; empty: none
  std::string document_id = {};  ///< empty: no document
  std::int64_t content_revision = 0;
  std::vector<std::string> heading_path = {};
  std::size_t start_byte = 0;
  std::string text = {};      ///< as in the document or asset
  std::string asset_id = {};  ///< empty: no asset
};
/// Empty if it no longer exists or the caller may not see it.
Result<std::optional<FoundChunk>> read_chunk(World& world, const SearchScope& scope, std::int64_t place);

// Turns search text into terms for the index. Pure.
//
// Terms consist of letters and digits (`utf8::words`), so no input - quotes, operators, column names - becomes FTS5
// syntax.

/// Consecutive words; the last may be a prefix ("kno" finds "knots").
struct Term {
  std::vector<std::string> keys = {};
  bool is_prefix = false;
  bool operator==(const Term&) const = default;
};

/// Further terms of a text are ignored.
inline constexpr std::size_t max_terms = 64;

/// A term for each part between spaces: "well-known knots" is `well known`, `knots`.
std::vector<Term> parse_terms(std::string_view text);

enum class Fillers { keep, drop };
/// A term for each different word; in scripts without spaces for each pair of characters. `drop` leaves out stop words,
/// unless there are only stop words.
std::vector<Term> parse_words(std::string_view text, Fillers fillers);

enum class Match { all, any };
/// The terms as an FTS5 expression. `terms` is not empty.
std::string to_expression(const std::vector<Term>& terms, Match match);

/// Whether the term occurs at that word.
bool stands_at(const Term& term, const std::vector<utf8::Word>& words, std::size_t place);
/// The number of terms that occur in the words.
std::size_t count_found(const std::vector<Term>& terms, const std::vector<utf8::Word>& words);

}  // namespace ws::mock
