#include "cli/walk/choices.hpp"

#include <algorithm>
#include <utility>

#include "api-client/base/text.hpp"
#include "sync-engine/git/changed_lines.hpp"
#include "sync-engine/merge/merge.hpp"

namespace ws::cli::walk {
namespace {

using sync::merge::Piece;

Stretch::Kind kind_of(Piece::Kind kind) {
  switch (kind) {
    case Piece::Kind::same: return Stretch::Kind::same;
    case Piece::Kind::ours: return Stretch::Kind::mine;
    case Piece::Kind::theirs: return Stretch::Kind::theirs;
    case Piece::Kind::both:
    case Piece::Kind::merged: return Stretch::Kind::merged;
    case Piece::Kind::conflict: return Stretch::Kind::collision;
  }
  return Stretch::Kind::same;
}

std::string joined(const std::vector<std::string_view>& lines, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += lines[i];
  return text;
}

/// Compares the two texts without a common base.
struct Compared {
  std::vector<Stretch> stretches = {};
  sync::merge::TextForm form = {};
};

Result<Compared> compare(const std::string& mine, const std::string& theirs) {
  const auto my_form = sync::merge::take_form(mine);
  const auto their_form = sync::merge::take_form(theirs);
  const bool as_it_is = !my_form || !their_form;  // mixed line ends
  const std::string& left = as_it_is ? mine : my_form->lines;
  const std::string& right = as_it_is ? theirs : their_form->lines;
  Compared compared;
  compared.form =
      as_it_is ? sync::merge::TextForm{.ends = sync::merge::TextForm::Ends::lf, .final_newline = true} : my_form->form;
  WS_LET(const std::vector<sync::git::ChangedLines> changes, sync::git::changed_lines(left, right));
  if (changes.empty() && mine != theirs) {  // line ends, or the newline at the end
    compared.stretches.push_back({.kind = Stretch::Kind::collision, .mine = left, .theirs = right});
    return compared;
  }
  const auto my_lines = whole_lines(left);
  const auto their_lines = whole_lines(right);
  std::size_t at = 0;
  const auto keep_until = [&](std::size_t end) {
    if (end > at) {
      compared.stretches.push_back({.kind = Stretch::Kind::same, .merged = joined(my_lines, at, end)});
    }
  };
  for (const sync::git::ChangedLines& change : changes) {
    keep_until(change.before_begin);
    compared.stretches.push_back({.kind = Stretch::Kind::collision,
                                  .mine = joined(my_lines, change.before_begin, change.before_end),
                                  .theirs = joined(their_lines, change.after_begin, change.after_end)});
    at = change.before_end;
  }
  keep_until(my_lines.size());
  return compared;
}

std::string both_of(const Stretch& stretch) {
  const bool needs_break = !stretch.mine.empty() && !stretch.mine.ends_with('\n');
  return stretch.mine + (needs_break ? "\n" : "") + stretch.theirs;
}

std::string text_of_take(const Stretch& stretch, Take take) {
  if (stretch.kind == Stretch::Kind::same) return stretch.merged;
  switch (take) {
    case Take::mine: return stretch.mine;
    case Take::theirs: return stretch.theirs;
    case Take::both: return both_of(stretch);
    case Take::merged: return stretch.merged;
  }
  return {};
}

}  // namespace

Result<Choices> Choices::of(const std::optional<std::string>& base,
                            std::string mine,
                            std::string theirs,
                            const sync::merge::MergeOptions& options) {
  Choices choices;
  choices.mine_ = std::move(mine);
  choices.theirs_ = std::move(theirs);
  choices.has_base_ = base.has_value();
  if (!base) {
    WS_LET(Compared compared, compare(choices.mine_, choices.theirs_));
    choices.form_ = compared.form;
    for (Stretch& stretch : compared.stretches) choices.add(std::move(stretch));
    return choices;
  }
  WS_LET(sync::merge::Merge merge, sync::merge::merge_markdown(*base, choices.mine_, choices.theirs_, options));
  choices.form_ = merge.form;
  // If one text is taken as a whole, there is one stretch without sides.
  const bool is_whole = merge.pieces.size() == 1 && merge.pieces.front().kind != Piece::Kind::conflict;
  for (Piece& piece : merge.pieces) {
    if (is_whole) {
      piece.base = *base;
      piece.ours = choices.mine_;
      piece.theirs = choices.theirs_;
    }
    choices.add({.kind = kind_of(piece.kind),
                 .merged = std::move(piece.text),
                 .base = std::move(piece.base),
                 .mine = std::move(piece.ours),
                 .theirs = std::move(piece.theirs)});
  }
  return choices;
}

void Choices::add(Stretch stretch) {
  if (stretch.kind == Stretch::Kind::same && stretch.merged.empty()) return;
  const bool is_open = stretch.kind == Stretch::Kind::collision;
  takes_.push_back(is_open ? std::optional<Take>() : Take::merged);
  stretches_.push_back(std::move(stretch));
}

std::size_t Choices::count(Stretch::Kind kind) const {
  return static_cast<std::size_t>(std::ranges::count(stretches_, kind, &Stretch::kind));
}

std::size_t Choices::open() const {
  return static_cast<std::size_t>(std::ranges::count(takes_, std::optional<Take>()));
}

std::optional<Take> Choices::taken(std::size_t stretch) const { return takes_.at(stretch); }

void Choices::take(std::size_t stretch, Take take) {
  const Stretch::Kind kind = stretches_.at(stretch).kind;
  const bool has_merged = kind != Stretch::Kind::collision;
  if (kind == Stretch::Kind::same || (take == Take::merged && !has_merged)) return;
  steps_.push_back({.stretch = stretch, .before = takes_[stretch]});
  takes_[stretch] = take;
}

std::optional<std::size_t> Choices::undo() {
  if (steps_.empty()) return std::nullopt;
  const Step last = steps_.back();
  steps_.pop_back();
  takes_[last.stretch] = last.before;
  return last.stretch;
}

bool Choices::is_all(const Takes& takes, Take take) const {
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    const Stretch& stretch = stretches_[i];
    if (stretch.kind == Stretch::Kind::same || takes[i] == take) continue;
    // The automatic merge may equal that side's text.
    const std::string& wanted = take == Take::mine ? stretch.mine : stretch.theirs;
    if (takes[i] != Take::merged || stretch.merged != wanted) return false;
  }
  return true;
}

std::string Choices::text_of(const Takes& takes) const {
  // Line endings, the final newline and moved blocks cannot be chosen place by place.
  if (is_all(takes, Take::mine)) return mine_;
  if (is_all(takes, Take::theirs)) return theirs_;
  std::string lines;
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    lines += text_of_take(stretches_[i], takes[i].value_or(Take::mine));
  }
  return sync::merge::with_form(lines, form_);
}

std::string Choices::text_where_it_collides(Take take) const {
  Takes takes = takes_;
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    if (stretches_[i].kind == Stretch::Kind::collision) takes[i] = take;
  }
  return text_of(takes);
}

bool Choices::merges_more_than(Take side) const {
  return text_where_it_collides(side) != (side == Take::mine ? mine_ : theirs_);
}

std::string Choices::text_with_markers(std::string_view my_label, std::string_view their_label) const {
  if (open() == 0) return text();
  sync::merge::Merge merge{.pieces = {}, .form = form_};
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    const Stretch& stretch = stretches_[i];
    if (takes_[i]) {
      merge.pieces.push_back({.kind = Piece::Kind::same, .text = text_of_take(stretch, *takes_[i])});
    } else {
      merge.pieces.push_back(
          {.kind = Piece::Kind::conflict, .base = stretch.base, .ours = stretch.mine, .theirs = stretch.theirs});
    }
  }
  return sync::merge::with_markers(merge, my_label, their_label);
}

bool has_open_markers(std::string_view text) { return sync::merge::has_markers(text); }

}  // namespace ws::cli::walk
