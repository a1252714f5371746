/// Lines that both sides changed: word by word, cell by cell, item by item.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/merge/markdown_lines.hpp"
#include "sync-engine/merge/three_way.hpp"

namespace ws::sync::merge {

struct LinesOf {
  const std::vector<MarkdownLine>& lines;  ///< of the whole text
  Span span = {};
};

/// The merged lines; empty where code is among them, where changes meet, or where one side wrote a sentence, cell or
/// item anew that the other changed too. Fails with `internal`.
Result<std::optional<std::string>> merge_inside_lines(const LinesOf& base, const LinesOf& ours, const LinesOf& theirs);

}  // namespace ws::sync::merge
