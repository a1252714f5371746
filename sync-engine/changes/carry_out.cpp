#include "sync-engine/changes/carry_out.hpp"

#include <algorithm>
#include <utility>

#include "sync-engine/changes/move_order.hpp"
#include "sync-engine/reconcile/free_name.hpp"

namespace ws::sync {
namespace {

/// Where a file of a circle is until its place is free.
std::optional<RelativePath> place_aside(const RelativePath& from) {
  return name_beside(from, "moving", [](const RelativePath&) { return true; });
}

class Carrying {
 public:
  Carrying(StepWriters writers,
           const std::vector<FileStep>& steps,
           StagedTexts& staged,
           bool was_begun,
           const StepEnded& ended)
      : writers_(writers),
        steps_(steps),
        staged_(staged),
        was_begun_(was_begun),
        ended_(ended),
        is_ended_(steps.size()) {}

  Result<void> run() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (staged_[i] && !*staged_[i]) WS_TRY(end(i, fail(Failure(staged_[i]->error()))));
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const FileStep& step = steps_[i];
      if (!step.to && !is_ended_[i]) WS_TRY(end(i, writers_.of(step).remove(*step.from, *step.seen)));
    }
    WS_TRY(move());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (is_ended_[i]) continue;
      const FileStep& step = steps_[i];
      WS_TRY(end(i, staged_[i] ? writers_.of(step).place(**staged_[i], *step.to, step.seen) : Result<void>()));
      staged_[i].reset();  // closes an unnamed file
    }
    return writers_.flush_folders();
  }

 private:
  Result<void> end(std::size_t step, Result<void> outcome) {
    is_ended_[step] = true;
    return ended_(step, std::move(outcome));
  }

  Result<void> move() {
    std::vector<std::size_t> places;
    std::vector<PlannedMove> moves;
    const BegunSteps begun(writers_.of(steps_.front()), steps_);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const FileStep& step = steps_[i];
      if (is_ended_[i] || !step.is_rename() || (was_begun_ && begun.is_moved(step))) continue;
      RelativePath from = *step.from;
      const auto aside = was_begun_ ? place_aside(from) : std::nullopt;
      if (aside && !begun.has_text(from, *step.seen) && begun.has_text(*aside, *step.seen)) from = *aside;
      places.push_back(i);
      moves.push_back({.from = std::move(from), .to = *step.to});
    }
    std::vector<RelativePath> now;
    now.reserve(moves.size());
    for (const PlannedMove& each : moves) now.push_back(each.from);
    const auto carry = [&](std::size_t which) -> Result<void> {
      const std::size_t i = places[which];
      Result<void> moved = writers_.of(steps_[i]).move(now[which], *steps_[i].to, *steps_[i].seen);
      if (moved && staged_[i]) return {};  // it ends with its text
      return end(i, std::move(moved));
    };
    const auto step_aside = [&](std::size_t which) {
      const auto aside = place_aside(now[which]);
      const FileStep& step = steps_[places[which]];
      if (!aside || !writers_.of(step).move(now[which], *aside, *step.seen)) return false;
      now[which] = *aside;
      return true;
    };
    return move_in_order(moves, carry, step_aside);
  }

  StepWriters writers_;
  const std::vector<FileStep>& steps_;
  StagedTexts& staged_;
  bool was_begun_;
  const StepEnded& ended_;
  std::vector<bool> is_ended_;
};

}  // namespace

bool BegunSteps::has_text(const RelativePath& path, const Sha256& text) const {
  return writer_.hash(path).value_or(std::nullopt) == text;
}

bool BegunSteps::has_arrived(const FileStep& step) const {
  return has_text(*step.to, *step.seen) || has_text(*step.to, *step.result);
}

bool BegunSteps::is_moved(const FileStep& step) const {
  const auto aside = place_aside(*step.from);
  if (aside && has_text(*aside, *step.seen)) return false;
  return has_arrived(step) && !has_text(*step.from, *step.seen);
}

bool BegunSteps::is_written(const FileStep& step) const {
  if (!has_text(*step.to, *step.result)) return false;
  if (step.from) return step.from == step.to || is_moved(step);
  return std::ranges::none_of(steps_, [&](const FileStep& other) {
    const bool leaves = other.from == step.to && other.is_rename() && other.seen == step.result;
    return leaves && !has_arrived(other);
  });
}

Result<void> StepWriters::flush_texts() const {
  if (texts != nullptr) WS_TRY(texts->flush_texts());
  return bytes != nullptr ? bytes->flush_texts() : Result<void>();
}

Result<void> StepWriters::flush_folders() const {
  if (texts != nullptr) WS_TRY(texts->flush_folders());
  return bytes != nullptr ? bytes->flush_folders() : Result<void>();
}

Result<void> carry_out(StepWriters writers,
                       const std::vector<FileStep>& steps,
                       StagedTexts& staged,
                       bool was_begun,
                       const StepEnded& ended) {
  return steps.empty() ? Result<void>() : Carrying(writers, steps, staged, was_begun, ended).run();
}

}  // namespace ws::sync
