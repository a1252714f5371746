/// The merge that understands Markdown: three texts in, one out, or the places that a person must decide.
///
/// Lines first; where lines of both sides collide, prose is merged word by word, tables cell by cell, lists item by
/// item, never what lies in code; front matter key by key. Line ends, a byte order mark and a missing final newline are
/// taken off before and put back after: the side that changed one wins. What is not sure is a conflict.
///
/// Laws (I13): merge(b,x,b) = x; merge(b,b,x) = x; merge(b,x,x) = x; a clean merge(b,x,y) is merge(b,y,x); each word
/// that a side inserted stands in a clean result.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/merge/text_form.hpp"

namespace ws::sync::merge {

/// A stretch of whole lines.
struct Piece {
  enum class Kind {
    same,
    ours,      ///< only we changed it
    theirs,    ///< only they did
    both,      ///< both, alike
    merged,    ///< both, and `text` has both changes
    conflict,  ///< both, and `text` is empty: somebody must choose
  };
  Kind kind = Kind::same;
  std::string text = {};  ///< the result
  std::string base = {};  ///< the three texts; where `kind` is `same` they are `text`, and empty here
  std::string ours = {};
  std::string theirs = {};
  /// What settled the place, or why it is a conflict.
  enum class Reason {
    lines,         ///< one side alone changed these lines or this key, or both did alike
    words,         ///< different words, cells or items of one place
    entries,       ///< both sides' entries of one list
    sections,      ///< both sides' sections
    blanks,        ///< one side changed blanks alone
    stamp,         ///< the later date
    collide,       ///< conflict: both changed the same, and no rule is sure of it
    twice,         ///< conflict: both brought in, or moved, the same to different places
    rules_differ,  ///< conflict: by words it is another text than by entries
    taken_away,    ///< conflict: one side removed, or moved, what the other added to
    context,       ///< conflict: one side changed what gives the other's rows or items their meaning
  };
  Reason reason = Reason::lines;
};

struct Merge {
  std::vector<Piece> pieces = {};  ///< in order; LF alone
  TextForm form = {};              ///< what `text()` puts back

  bool is_clean() const;
  /// The result; a conflict counts as ours. In the text's own form.
  std::string text() const;
};

struct MergeOptions {
  /// Further keys of front matter whose later date wins where both sides changed them, beside those of `stamps.hpp`.
  std::vector<std::string> merge_later = {};
};

/// Takes time about linear in the texts: what would take longer to tell apart is a conflict. Fails with `internal`
/// where libgit2 cannot be opened.
Result<Merge> merge_markdown(std::string_view base,
                             std::string_view ours,
                             std::string_view theirs,
                             const MergeOptions& options = {});

/// The pieces with each conflict between `<<<<<<< LABEL`, `||||||| base`, `=======` and `>>>>>>> LABEL`, as git's diff3
/// style has it. In the text's own form.
std::string with_markers(const Merge& merge, std::string_view our_label, std::string_view their_label);

/// Whether a line of `text` is such a marker: a person has left one in.
bool has_markers(std::string_view text);

/// The merged text; empty where changes of both sides collide or touch, as in git. Both sides' same change counts once.
/// The time grows about as the length does. Fails with `internal`.
Result<std::optional<std::string>> merge_lines(std::string_view base, std::string_view ours, std::string_view theirs);

/// Whether `text` holds lines that `write_markers` writes, more of them than any of `others`: a note about git may hold
/// markers of its own.
bool adds_markers(std::string_view text, const std::vector<std::string_view>& others);

}  // namespace ws::sync::merge
