#include "sync-engine/merge/merge.hpp"

#include <algorithm>

#include "api-client/base/markdown.hpp"
#include "sync-engine/merge/body.hpp"
#include "sync-engine/merge/front_matter.hpp"
#include "sync-engine/merge/line_merge.hpp"
#include "sync-engine/merge/list_numbers.hpp"

namespace ws::sync::merge {
namespace {

using PieceKind = Piece::Kind;

constexpr std::size_t marker_length = 7;

Merge whole(PieceKind kind, std::string_view text) {
  return {.pieces = {{.kind = kind, .text = std::string(text)}}, .form = {}};
}

Merge collision(std::string_view base, std::string_view ours, std::string_view theirs) {
  return {.pieces = {{.kind = PieceKind::conflict,
                      .base = std::string(base),
                      .ours = std::string(ours),
                      .theirs = std::string(theirs)}},
          .form = {}};
}

/// Texts with mixed line ends: whole lines, as they are.
Result<Merge> merge_raw(std::string_view base, std::string_view ours, std::string_view theirs) {
  WS_LET(const std::optional<std::string> merged, merge_lines(base, ours, theirs));
  Merge merge = merged ? whole(PieceKind::merged, *merged) : collision(base, ours, theirs);
  merge.form = {.ends = TextForm::Ends::lf, .final_newline = true};
  return merge;
}

struct Parts {
  std::string_view front_matter = {};
  std::string_view body = {};
};

Parts parts_of(std::string_view text) {
  const std::size_t offset = markdown::body_offset(text);
  return {.front_matter = text.substr(0, offset), .body = text.substr(offset)};
}

void append(std::vector<Piece>& pieces, std::vector<Piece> more) {
  std::ranges::move(more, std::back_inserter(pieces));
}

/// The lists of a clean result are numbered through where all three texts had them so.
void renumber(std::vector<Piece>& pieces, std::string_view base, std::string_view ours, std::string_view theirs) {
  const bool is_clean =
      std::ranges::none_of(pieces, [](const Piece& piece) { return piece.kind == PieceKind::conflict; });
  if (!is_clean || !has_sequential_numbers(base) || !has_sequential_numbers(ours) || !has_sequential_numbers(theirs))
    return;
  std::string text;
  for (const Piece& piece : pieces) text += piece.text;
  const std::string numbered = renumber_lists(text);
  std::size_t at = 0;
  for (Piece& piece : pieces) {
    const auto lines = std::ranges::count(piece.text, '\n');
    std::size_t end = at;
    for (std::ptrdiff_t i = 0; i < lines; ++i) end = numbered.find('\n', end) + 1;
    piece.text = numbered.substr(at, end - at);
    at = end;
  }
}

bool is_marker(std::string_view line, char sign) {
  return line.size() >= marker_length && line.find_first_not_of(sign) >= marker_length &&
         (line.size() == marker_length || line[marker_length] == ' ');
}

}  // namespace

bool Merge::is_clean() const {
  return std::ranges::none_of(pieces, [](const Piece& piece) { return piece.kind == PieceKind::conflict; });
}

std::string Merge::text() const {
  std::string lines;
  for (const Piece& piece : pieces) lines += piece.kind == PieceKind::conflict ? piece.ours : piece.text;
  return with_form(lines, form);
}

Result<Merge> merge_markdown(std::string_view base,
                             std::string_view ours,
                             std::string_view theirs,
                             const MergeOptions& options) {
  if (ours == theirs) return whole(ours == base ? PieceKind::same : PieceKind::both, ours);
  if (theirs == base) return whole(PieceKind::ours, ours);
  if (ours == base) return whole(PieceKind::theirs, theirs);
  const auto plain_base = take_form(base);
  const auto plain_ours = take_form(ours);
  const auto plain_theirs = take_form(theirs);
  if (!plain_base || !plain_ours || !plain_theirs) return merge_raw(base, ours, theirs);
  const auto form = merge_forms(plain_base->form, plain_ours->form, plain_theirs->form);
  if (!form) {
    Merge merge = collision(plain_base->lines, plain_ours->lines, plain_theirs->lines);
    merge.form = plain_ours->form;
    return merge;
  }
  const Parts in_base = parts_of(plain_base->lines);
  const Parts in_ours = parts_of(plain_ours->lines);
  const Parts in_theirs = parts_of(plain_theirs->lines);
  Merge merge{.pieces = {}, .form = *form};
  WS_LET(merge.pieces,
         merge_front_matter(in_base.front_matter, in_ours.front_matter, in_theirs.front_matter, options.merge_later));
  WS_LET(std::vector<Piece> body, merge_body(in_base.body, in_ours.body, in_theirs.body));
  renumber(body, in_base.body, in_ours.body, in_theirs.body);
  append(merge.pieces, std::move(body));
  return merge;
}

std::string with_markers(const Merge& merge, std::string_view our_label, std::string_view their_label) {
  std::string lines;
  const auto mark = [&](char sign, std::string_view label) {
    lines.append(marker_length, sign);
    if (!label.empty()) lines.append(" ").append(label);
    lines += '\n';
  };
  for (const Piece& piece : merge.pieces) {
    if (piece.kind != PieceKind::conflict) {
      lines += piece.text;
      continue;
    }
    mark('<', our_label);
    lines += piece.ours;
    mark('|', "base");
    lines += piece.base;
    mark('=', "");
    lines += piece.theirs;
    mark('>', their_label);
  }
  return with_form(lines, merge.form);
}

bool has_markers(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_marker(line, '<') || is_marker(line, '|') || is_marker(line, '>')) return true;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return false;
}

}  // namespace ws::sync::merge
