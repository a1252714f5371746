/// What a comment points at in its document, and whether that still stands there.
///
/// `selection` is free-form: what is read of it are the members that the published anchor has, and the quoted text
/// (`quote`, or else `selection_preview`). A text that was found in the document is watched: the edit that removes it
/// sets `needs_reanchor`, one that brings it back takes that away. What never stood there cannot be removed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct Anchor {
  std::string quote = {};  ///< watched; empty: none
  bool quote_lost = false;
  JsonBox given = {};  ///< the published members that the selection gave or that follow from it
};

/// Of `selection` (null: the comment is on the document as a whole). `document` is as it is now, with its content.
Result<Anchor> make_anchor(World& world, const Json* selection, const Document& document);

/// As published. `needs_reanchor` is the anchor's own: the quoted text is gone, or somebody said so by the status.
Json to_json(const Anchor& anchor, bool needs_reanchor);

/// Whether the text stands in the Markdown, whatever its marks and white space.
bool holds_quote(std::string_view content, std::string_view quote);

/// To be called with every change of a document's text: open threads whose quote is gone need to be anchored anew,
/// those whose quote came back are open again. Resolved ones stay resolved.
Result<void> check_anchors(World& world, std::string_view document_id, std::string_view content);

}  // namespace ws::mock
