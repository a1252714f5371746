/// Anchors of comments: the part of a document that a comment refers to, and whether it still exists.
///
/// `selection` is free-form: the members of the published anchor are read from it, and the quoted text (`quote`, or
/// else `selection_preview`). If the quote was found in the document, edits are checked against it: an edit that
/// removes it sets `needs_reanchor`, one that restores it clears that. A quote that was never found cannot be lost.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct Anchor {
  std::string quote = {};  ///< checked at every edit; empty: none
  bool quote_lost = false;
  JsonBox given = {};  ///< the published members, as given or derived
};

/// Makes an anchor from `selection` (null: on the whole document). `document` is current, with its content.
Result<Anchor> make_anchor(World& world, const Json* selection, const Document& document);

/// The published form. `needs_reanchor`: the quote was lost, or the status was set so.
Json to_json(const Anchor& anchor, bool needs_reanchor);

/// Call it with every change of a document's text. Open threads whose quote was lost get `needs_reanchor`; those whose
/// quote was restored become open again. Resolved threads stay resolved.
Result<void> check_anchors(World& world, std::string_view document_id, std::string_view content);

}  // namespace ws::mock
