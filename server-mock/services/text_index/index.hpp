/// The full-text index: FTS5 over heading-sized chunks, ranked by BM25, asked by one caller at a time.
///
/// Writers pay one small row: triggers note what changed (store/schema.cpp), and the next search indexes it. A chunk
/// keeps its id as long as its heading stands in the document. Archived documents have no chunks.
///
/// Nothing leaves here that the caller may not read now: both ways out ask in SQL who sees the node. BM25 weighs words
/// by all texts of the server, so `rank` is for ordering alone and its scores are shown only in proportion to the best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Indexes what changed since the last time. Costs one lookup where nothing did.
Result<void> refresh_search_index(World& world);

/// The artifacts of questions are documents too; who answers a question tells them from the others.
enum class Corpus { everything, documents, artifacts };

/// Where to look. Empty texts: no such limit.
struct SearchScope {
  const Caller& caller;
  std::string workspace_id = {};
  std::string project_id = {};
  std::string kinds = "page document asset";
  Corpus corpus = Corpus::everything;
};

struct Hit {
  std::int64_t place = 0;  ///< names the chunk, for `read_chunk`
  double score = 0;        ///< BM25, larger is better
};
/// What the caller sees and matches an FTS5 expression, best first.
Result<std::vector<Hit>> rank(World& world, const SearchScope& scope, const std::string& expression, std::size_t most);

/// A chunk with what it hangs on.
struct FoundChunk {
  std::string id = {};
  std::string kind = {};  ///< "page", "document", "asset"
  std::string title = {};
  std::string node_id = {};
  std::string page_id = {};      ///< the Page itself, or the one that holds it; empty: none does
  std::string document_id = {};  ///< empty: no document
  std::int64_t content_revision = 0;
  std::vector<std::string> heading_path = {};
  std::size_t start_byte = 0;
  std::string text = {};      ///< as it stands in the document, or in the asset
  std::string asset_id = {};  ///< empty: no asset
};
/// Empty where it is gone, or the caller does not see it (any more).
Result<std::optional<FoundChunk>> read_chunk(World& world, const SearchScope& scope, std::int64_t place);

/// The place of a chunk by its id; empty where there is none.
Result<std::optional<std::int64_t>> find_chunk(World& world, std::string_view id);

}  // namespace ws::mock
