#include "server-mock/services/comments/anchors.hpp"

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "api-client/base/markdown.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr std::size_t preview_length = 1000;  // code points

/// The text without white space and Markdown marks, to compare selected text with its source.
std::string bare(std::string_view text) {
  std::string key;
  key.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ']' && i + 1 < text.size() && text[i + 1] == '(') {
      const std::size_t close = text.find_first_of(")\n", i);
      if (close != std::string_view::npos && text[close] == ')') i = close;
      continue;
    }
    if (std::string_view(" \t\r\n*_`~#>|\\[]-+").find(text[i]) == std::string_view::npos) key += text[i];
  }
  return key;
}

/// Compares one content with many quotes; the stripped content is computed once, on demand.
class Haystack {
 public:
  explicit Haystack(std::string_view content) : content_(content) {}
  bool holds(std::string_view quote) {
    if (content_.find(quote) != std::string_view::npos) return true;
    const std::string key = bare(quote);
    if (key.empty()) return false;
    if (!bare_) bare_ = bare(content_);
    return bare_->find(key) != std::string::npos;
  }

 private:
  std::string_view content_;
  std::optional<std::string> bare_ = {};
};

Json text_in(const Json& selection, std::string_view name) { return text_or_null(text_of(selection, name)); }

Json object_in(const Json& selection, std::string_view name) {
  const Json* member = find(selection, name);
  return member != nullptr && member->is_object() ? *member : Json(nullptr);
}

Json texts_in(const Json& selection, std::string_view name) {
  Json texts = Json::array();
  const Json* member = find(selection, name);
  if (member == nullptr || !member->is_array()) return texts;
  for (const Json& item : *member) {
    if (item.is_string()) texts.push_back(item);
  }
  return texts;
}

std::string_view quote_in(const Json& selection) {
  if (const std::string_view quote = text_of(selection, "quote"); !quote.empty()) return quote;
  std::string_view preview = text_of(selection, "selection_preview");
  for (const std::string_view ellipsis : {"…", "..."}) {
    if (preview.ends_with(ellipsis)) preview.remove_suffix(ellipsis.size());
  }
  return preview;
}

/// The headings above the first occurrence of the text.
Json headings_above(std::string_view content, std::string_view quote) {
  const std::size_t place = content.find(quote);
  std::size_t end = 0;
  for (const markdown::Section& section : markdown::sections(content)) {
    end += section.text.size();
    if (place < end) return Json(section.heading_path);
  }
  return Json::array();
}

/// Whether the text occurred in the revision that the selection was made in.
Result<bool> stood_before(World& world, const Document& document, std::int64_t revision, std::string_view quote) {
  if (revision >= document.content_revision) return false;
  WS_LET(const std::optional<PastText> past, find_text_at(world, document.id, revision));
  return past && Haystack(past->content).holds(quote);
}

struct Watched {
  std::int64_t sequence = 0;
  std::string quote = {};
  bool lost = false;
};

Result<std::vector<Watched>> watched_quotes(World& world, std::string_view document_id) {
  return read_rows(
      world,
      read_as<Watched>,
      "select sequence, quote, quote_lost from comment_threads where document_id = ? and quote <> '' order by sequence",
      document_id);
}

}  // namespace

Result<Anchor> make_anchor(World& world, const Json* selection, const Document& document) {
  const Json nothing = nullptr;
  const Json& from = selection != nullptr ? *selection : nothing;
  const std::string_view quote = quote_in(from);
  const std::int64_t revision = integer_of(from, "source_page_revision", document.content_revision);
  Anchor anchor;
  Json headings = texts_in(from, "heading_path");
  if (!quote.empty()) {
    const bool stands = Haystack(document.content).holds(quote);
    if (!stands) {
      WS_LET(anchor.quote_lost, stood_before(world, document, revision, quote));
    }
    if (stands || anchor.quote_lost) anchor.quote = quote;
    if (stands && headings.empty()) headings = headings_above(document.content, quote);
  }
  const std::string_view scope = text_of(from, "target_scope");
  Json preview = text_in(from, "selection_preview");
  if (preview.is_null()) preview = text_or_null(utf8::prefix(quote, preview_length));
  anchor.given = Json{{"target_scope", scope.empty() ? "body" : scope},
                      {"section_id", text_in(from, "section_id")},
                      {"source_block_ids", texts_in(from, "source_block_ids")},
                      {"anchor", text_in(from, "anchor")},
                      {"heading_path", std::move(headings)},
                      {"quote_hash", quote.empty() ? text_in(from, "quote_hash") : Json(Sha256::of(quote).hex())},
                      {"selection_preview", std::move(preview)},
                      {"selection_range_json", object_in(from, "selection_range_json")},
                      {"table_selection_json", object_in(from, "table_selection_json")},
                      {"surface_selection_json", object_in(from, "surface_selection_json")},
                      {"source_page_revision", revision}};
  return anchor;
}

Json to_json(const Anchor& anchor, bool needs_reanchor) {
  Json json = *anchor.given;
  const bool resolved = !anchor.quote.empty() && !anchor.quote_lost && !needs_reanchor;
  json["resolved_block_ids"] = resolved ? json["source_block_ids"] : Json::array();
  json["resolved_via"] = resolved ? Json("quote") : Json(nullptr);
  json["needs_reanchor"] = needs_reanchor;
  return json;
}

Result<void> check_anchors(World& world, std::string_view document_id, std::string_view content) {
  WS_LET(const std::vector<Watched> watched, watched_quotes(world, document_id));
  Haystack haystack(content);
  for (const Watched& thread : watched) {
    const bool lost = !haystack.holds(thread.quote);
    if (lost == thread.lost) continue;
    WS_TRY(put(world,
               "update comment_threads set quote_lost = ?2, updated_at = ?3, status = case "
               "when ?2 and status = 'open' then 'needs_reanchor' "
               "when not ?2 and status = 'needs_reanchor' then 'open' else status end, "
               "change = (select max(change) + 1 from comment_threads t where t.document_id = ?4) "
               "where sequence = ?1",
               thread.sequence,
               lost,
               world.now(),
               document_id));
  }
  return {};
}

}  // namespace ws::mock
