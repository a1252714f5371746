/// Rows and items that read otherwise in the merged text than in the side that wrote them.
///
/// A row is read under the header of its table, an item below the item that it hangs on. Rules that look at the
/// changed lines alone do not see that the other side changed what these lines rest on, maybe far above.
#pragma once

#include <vector>

#include "sync-engine/merge/markdown_lines.hpp"
#include "sync-engine/merge/merge.hpp"

namespace ws::sync::merge {

/// Makes one conflict of the changes from a header or an item down to a line that was not written for it: a new row
/// where the other side changed the columns in any way, an edited one where it moved columns, an item that would get
/// another parent. The lines are those of the three texts, the pieces what was made of them.
void doubt_lines_out_of_context(std::vector<Piece>& pieces,
                                const std::vector<MarkdownLine>& base,
                                const std::vector<MarkdownLine>& ours,
                                const std::vector<MarkdownLine>& theirs);

}  // namespace ws::sync::merge
