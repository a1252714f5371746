#include "sync-engine/undo/plan_undo.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "sync-engine/reconcile/overlapping_paths.hpp"
#include "sync-engine/undo/taken_places.hpp"

namespace ws::sync {
namespace {

struct Candidate {
  const OperationRow* row = nullptr;
  DocumentId document = {};  ///< whose file it is now; empty: nobody's yet
  FileStep step = {};
};

class Undoer {
 public:
  Undoer(const std::vector<OperationRow>& rows, const UndoWorld& world) : rows_(rows), world_(world) {
    for (const auto& [document, entry] : world.local.tracked) by_path_.emplace(entry.path.text(), &document);
  }

  UndoPlan plan() {
    for (OperationRow& row : rows_) {
      if (!row.changes()) {
        if (row.origins == ChangeOrigins(ChangeOrigin::merged) && is_wanted(row))
          leave_for_good(row, "text from the service was merged into it");
        continue;
      }
      row = as_of_now(std::move(row));
      if (!is_wanted(row)) {
        plan_.is_partial = true;
        continue;
      }
      decide(row);
    }
    join_replacements();
    drop_blocked();
    keep_copies();
    finish();
    return std::move(plan_);
  }

 private:
  bool is_wanted(const OperationRow& row) const {
    if (!world_.only) return true;
    return (row.before && world_.only(row.before->path)) || (row.after && world_.only(row.after->path));
  }

  void leave(const OperationRow& row, std::string_view why) {
    plan_.left.push_back({.path = row.before ? row.before->path : row.after->path, .why = std::string(why)});
  }

  /// No later call can take it back either.
  void leave_for_good(const OperationRow& row, std::string_view why) {
    leave(row, why);
    plan_.left.back().is_final = true;
  }

  const Entry* tracked(const DocumentId& document) const {
    const auto found = document.empty() ? world_.local.tracked.end() : world_.local.tracked.find(document);
    return found == world_.local.tracked.end() ? nullptr : &found->second;
  }

  /// The document whose file has this path; null: none.
  const DocumentId* document_at(const RelativePath& path) const {
    const auto found = by_path_.find(path.text());
    return found == by_path_.end() ? nullptr : found->second;
  }

  /// The row, applied to the document that replaced an archived one: the one with its path and text.
  OperationRow as_of_now(OperationRow row) const {
    if (row.document.empty() || !row.after || world_.base.documents.contains(row.document)) return row;
    const DocumentId* const remade = document_at(row.after->path);
    if (remade != nullptr && world_.local.tracked.at(*remade).hash == row.after->hash) row.document = *remade;
    return row;
  }

  /// Why nothing of a document may be changed now; empty: it may.
  std::string_view skip_reason(const OperationRow& row) const {
    if (world_.refused.contains(row.document) || (row.before && world_.refused_paths.contains(row.before->path)) ||
        (row.after && world_.refused_paths.contains(row.after->path)))
      return "changed since, and the two changes collide";
    if (row.document.empty()) return {};
    if (world_.in_conflict.contains(row.document)) return "a conflict about it is open";
    if (const auto out = world_.local.unsyncable.find(row.document); out != world_.local.unsyncable.end()) {
      if (out->second == SkipReason::left_out) return left_out_now;
      return out->second == SkipReason::ignored ? ignored_now : "the file cannot be read now";
    }
    if (std::ranges::binary_search(world_.remote.absent, row.document)) return "the service does not show it now";
    return {};
  }

  void decide(const OperationRow& row) {
    if (const auto why = skip_reason(row); !why.empty()) return leave(row, why);
    if (world_.opened_here.contains(row.document)) return decide_opened_here(row);
    if (row.document.empty() || (row.origins.has(ChangeOrigin::restored) && tracked(row.document) == nullptr))
      return decide_file(row);
    if (row.before && row.after) return decide_changed(row);
    row.before ? decide_gone(row) : decide_created(row);
  }

  /// The service's own change of a document that is not here yet; null: there is none.
  const Entry* changed_there(const DocumentId& document) const {
    const auto found = world_.remote.changed.find(document);
    return found == world_.remote.changed.end() ? nullptr : &found->second;
  }

  bool has_new_text_there(const DocumentId& document) const {
    const Entry* const there = changed_there(document);
    const auto base = world_.base.documents.find(document);
    return there != nullptr && (base == world_.base.documents.end() || base->second.hash != there->hash);
  }

  bool is_moved_there(const DocumentId& document) const {
    const Entry* const there = changed_there(document);
    const auto base = world_.base.documents.find(document);
    return there != nullptr && base != world_.base.documents.end() && base->second.path != there->path;
  }

  void decide_changed(const OperationRow& row) {
    const Entry* const now = tracked(row.document);
    if (now == nullptr) {
      return leave(row, world_.base.documents.contains(row.document) ? "deleted here since" : "archived since");
    }
    if (world_.remote.gone.contains(row.document)) return leave(row, "archived since");
    if (is_taken_back_with_others(row, *now)) return;
    Candidate one{.row = &row, .document = row.document};
    one.step = {.from = now->path, .to = now->path, .seen = now->hash, .result = now->hash};
    one.step.seen_blob = blob_of(row, *now);
    if (row.before->hash != row.after->hash && now->hash != row.before->hash) {
      const std::optional<UndoText> text = text_for(row, *now);
      if (!text) return leave(row, "edited since, and the two edits collide");
      one.step.result = text->hash;
      one.step.result_blob = text->blob;
      if (has_new_text_there(row.document) && changed_there(row.document)->hash != text->hash &&
          !world_.merges_there(row.document, *text))
        return leave(row, "edited on the service since, and the two edits collide");
    }
    if (row.before->path != row.after->path && now->path != row.before->path) {
      if (now->path == row.after->path && !is_moved_there(row.document)) {
        one.step.to = row.before->path;
      } else {
        leave(row, "renamed since: it keeps that name");
      }
    }
    add(std::move(one));
  }

  /// A rename that a later run sent went with that run.
  bool is_taken_back_with_others(const OperationRow& row, const Entry& now) const {
    if (now.path == row.after->path && now.hash == row.after->hash) return false;
    const auto [first, last] = world_.taken_back.equal_range(row.document);
    return std::any_of(
        first, last, [&](const auto& each) { return each.second.path == now.path && each.second.hash == now.hash; });
  }

  bool opens_again(const OperationRow& row) const { return world_.opened_again.contains(row.document); }

  /// Where the history has what is in the file now; empty: perhaps nowhere.
  git::ObjectId blob_of(const OperationRow& row, const Entry& now) const {
    if (now.hash == row.after->hash) return row.after->blob;
    return opens_again(row) ? world_.keep_text(now.path) : git::ObjectId{};
  }

  std::optional<UndoText> text_for(const OperationRow& row, const Entry& now) const {
    if (now.hash == row.after->hash || opens_again(row))
      return UndoText{.hash = row.before->hash, .blob = row.before->blob};
    return world_.take_out(row, now.path);
  }

  static void lead_to(const Version& version, FileStep& step) {
    step.to = version.path;
    step.result = version.hash;
    step.result_blob = version.blob;
  }

  void add(Candidate one) {
    if (one.step.from == one.step.to && one.step.seen == one.step.result) return;
    const bool arrives = one.step.to && one.step.to != one.step.from;
    if (arrives && world_.why_not_synced) {
      const auto why = world_.why_not_synced(*one.step.to, one.step.result_blob);
      if (!why.empty()) return leave(*one.row, why);
    }
    candidates_.push_back(std::move(one));
  }

  void decide_gone(const OperationRow& row) {
    if (const Entry* const now = tracked(row.document); now != nullptr) {
      if (now->hash != row.before->hash || now->path != row.before->path) leave_for_good(row, "it came back since");
      return;
    }
    if (world_.base.documents.contains(row.document)) return leave(row, "changed since");
    Candidate one{.row = &row};
    lead_to(*row.before, one.step);
    add(std::move(one));
  }

  void decide_created(const OperationRow& row) {
    const Entry* const now = tracked(row.document);
    if (now == nullptr) {
      // The service still has it: that it went here was not sent yet.
      const bool is_there = world_.base.documents.contains(row.document) && !world_.remote.gone.contains(row.document);
      return is_there ? leave(row, "deleted here since") : void();
    }
    if (now->hash != row.after->hash && !opens_again(row)) return leave(row, "edited since");
    if (now->path != row.after->path) return leave(row, "renamed since");
    const std::optional<StepSide> side = world_.is_first ? side_of_first(row) : StepSide::both;
    if (!side) return leave_for_good(row, "both sides had it before this run");
    const bool goes_there = *side != StepSide::here;
    // Kept when it was archived: it would be nowhere.
    if (!goes_there && world_.base.left_out.contains(row.document))
      return leave(row, "the service does not have it any more");
    if (goes_there && changed_there(row.document) != nullptr) return leave(row, "changed on the service since");
    add({.row = &row,
         .document = row.document,
         .step = {.from = now->path, .seen = now->hash, .seen_blob = blob_of(row, *now), .side = *side}});
  }

  /// The file gets its text back, and the service keeps its own.
  void decide_opened_here(const OperationRow& row) {
    const Entry* const now = tracked(row.document);
    const auto base = world_.base.documents.find(row.document);
    const bool is_there = base != world_.base.documents.end();
    if (changed_there(row.document) != nullptr || world_.remote.gone.contains(row.document) ||
        is_there != row.after.has_value() || (is_there && base->second.hash != world_.opened_here.at(row.document)))
      return leave(row, "changed on the service since");
    if (row.after && now == nullptr) return leave(row, "deleted here since");
    if (row.after && now->hash != row.after->hash) return leave(row, "edited since");
    if (row.after && now->path != row.after->path) return leave(row, "renamed since");
    Candidate one{.row = &row, .document = row.document, .step = {.side = StepSide::in_the_end}};
    if (row.after) {
      one.step.from = now->path;
      one.step.seen = now->hash;
      one.step.seen_blob = row.after->blob;
    }
    if (row.before) lead_to(*row.before, one.step);
    add(std::move(one));
  }

  /// The copy of a decision that kept both stays where the text that it has does not come back.
  void keep_copies() {
    std::set<Sha256> not_back;
    for (const OperationRow& row : rows_) {
      const bool is_back = std::ranges::any_of(candidates_, [&](const Candidate& one) { return one.row == &row; });
      if (row.before && world_.opened_here.contains(row.document) && !is_back) not_back.insert(row.before->hash);
    }
    std::erase_if(candidates_, [&](const Candidate& one) {
      const bool is_copy = one.row->document.empty() && one.row->origins.has(ChangeOrigin::decided) && !one.row->before;
      if (!is_copy || !not_back.contains(one.row->after->hash)) return false;
      leave(*one.row, "the file that it is a copy of keeps another text");
      return true;
    });
  }

  /// A restored file, whether or not it is a document yet.
  void decide_file(const OperationRow& row) {
    const auto created = world_.local.created.find(row.path());
    std::optional<Sha256> now;
    DocumentId document;
    if (created != world_.local.created.end()) now = created->second;
    if (const DocumentId* const at = document_at(row.path()); at != nullptr) {
      now = world_.local.tracked.at(*at).hash;
      document = *at;
    }
    const auto hash_of_side = [](const std::optional<Version>& side) {
      return side ? std::optional(side->hash) : std::nullopt;
    };
    const bool is_renamed = row.before && row.after && row.before->path != row.after->path;
    const bool is_rename_alone = is_renamed && row.before->hash == row.after->hash;
    if (!is_renamed && now == hash_of_side(row.before)) return;
    if (is_rename_alone && now) {
      // Whatever was written in it since goes with its name.
      Candidate back{.row = &row, .document = document};
      back.step = {.from = row.path(), .to = row.before->path, .seen = now, .result = *now};
      return add(std::move(back));
    }
    if (now != hash_of_side(row.after)) return leave(row, now ? "edited since" : "deleted or renamed since");
    Candidate one{.row = &row, .document = document};
    if (row.after) one.step = {.from = row.path(), .seen = now, .seen_blob = row.after->blob};
    if (row.before) lead_to(*row.before, one.step);
    add(std::move(one));
  }

  /// A document that replaced another gets the other's text back and keeps its own id.
  void join_replacements() {
    std::map<std::string, Candidate*> leaving;
    for (Candidate& one : candidates_) {
      if (one.step.from && !one.step.to) leaving.emplace(one.step.from->twin_key(), &one);
    }
    for (Candidate& one : candidates_) {
      if (one.step.from || !one.step.to) continue;
      const auto old = leaving.find(one.step.to->twin_key());
      if (old == leaving.end() || *old->second->step.from != *one.step.to) continue;
      FileStep& step = old->second->step;
      step.to = one.step.to;
      step.result = one.step.result;
      step.result_blob = one.step.result_blob;
      one.row = nullptr;
      leaving.erase(old);
    }
    std::erase_if(candidates_, [](const Candidate& one) {
      return one.row == nullptr || (one.step.from == one.step.to && one.step.seen == one.step.result);
    });
  }

  /// Two files cannot have one path, nor one be above the other.
  void drop_blocked() {
    while (true) {
      OverlappingPaths taken;
      for (const std::string& key : places_that_stay()) taken.add(key);
      std::vector<Candidate> kept;
      for (Candidate& one : candidates_) {
        const bool arrives = one.step.to && one.step.to != one.step.from;
        const std::string key = one.step.to ? one.step.to->twin_key() : std::string();
        const bool only_recased = arrives && one.step.from && one.step.from->twin_key() == key;
        if (arrives && !only_recased && taken.overlaps(key)) {
          if (is_unsent_already(one)) {
            FileStep& step = one.step;  // to be sent as it is
            step.from = step.to;
            step.seen = step.result;
            step.seen_blob = step.result_blob;
            kept.push_back(std::move(one));
          } else if (!is_there_already(one)) {
            leave(*one.row, place_is_taken);
          }
          continue;
        }
        if (arrives) taken.add(key);
        kept.push_back(std::move(one));
      }
      const bool settled = kept.size() == candidates_.size();
      candidates_ = std::move(kept);
      if (settled) return;
    }
  }

  /// A file that no run has sent has the path and the text.
  bool is_unsent_already(const Candidate& one) const {
    const auto created = world_.local.created.find(*one.step.to);
    return !one.step.from && created != world_.local.created.end() && created->second == *one.step.result;
  }

  bool is_there_already(const Candidate& one) const {
    if (one.step.from) return false;
    const DocumentId* const at = document_at(*one.step.to);
    return at != nullptr && world_.local.tracked.at(*at).hash == *one.step.result;
  }

  std::set<std::string> places_that_stay() const {
    std::set<RelativePath> leaving;
    for (const Candidate& one : candidates_) {
      if (one.step.from && one.step.to != one.step.from) leaving.insert(*one.step.from);
    }
    std::set<std::string> keys;
    const auto stay = [&](const RelativePath& path) {
      if (!leaving.contains(path)) keys.insert(path.twin_key());
    };
    for (const auto& [document, entry] : world_.local.tracked) stay(entry.path);
    for (const auto& [path, hash] : world_.local.created) stay(path);
    for (const RelativePath& path : world_.local.obstacles) stay(path);
    for (const Skipped& each : world_.local.skipped) {
      if (const auto path = RelativePath::parse(each.path)) stay(*path);
    }
    for (const auto& [document, why] : world_.local.unsyncable) stay(world_.base.disk_path(document));
    return keys;
  }

  void finish() {
    plan_.local = world_.local;
    for (Candidate& one : candidates_) {
      if (one.step.side == StepSide::in_the_end) {
        one.step.document = one.document;
        plan_.steps.push_back(std::move(one.step));
        continue;
      }
      if (one.step.from) {
        if (one.document.empty()) plan_.local.created.erase(*one.step.from);
        const bool goes_there = !one.step.to && one.step.side != StepSide::here;
        if (!one.document.empty() && goes_there) plan_.local.tracked.erase(one.document);
      }
      if (one.step.to && one.document.empty()) plan_.local.created.insert_or_assign(*one.step.to, *one.step.result);
      if (one.step.to && !one.document.empty()) {
        plan_.local.tracked.insert_or_assign(one.document, Entry{.path = *one.step.to, .hash = *one.step.result});
      }
      const bool is_on_service = world_.base.documents.contains(one.row->document);
      if (!one.step.from && !one.row->document.empty() && !is_on_service) plan_.anew.push_back(*one.row);
      one.step.document = one.document;
      plan_.steps.push_back(std::move(one.step));
    }
  }

  std::vector<OperationRow> rows_;
  const UndoWorld& world_;
  std::unordered_map<std::string_view, const DocumentId*> by_path_;
  UndoPlan plan_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::set<RelativePath> paths_of(const std::vector<FileStep>& steps) {
  std::set<RelativePath> paths;
  for (const FileStep& step : steps) {
    if (step.from) paths.insert(*step.from);
    if (step.to) paths.insert(*step.to);
  }
  return paths;
}

std::optional<StepSide> side_of_first(const OperationRow& row) {
  const bool was_here = row.origins.has(ChangeOrigin::sent);
  const bool was_there = row.origins.has(ChangeOrigin::received);
  if (row.before || was_here == was_there || row.origins.has(ChangeOrigin::merged)) return std::nullopt;
  return was_here ? StepSide::service : StepSide::here;
}

std::vector<FileStep> steps_to_send(std::vector<FileStep> steps) {
  std::erase_if(steps, [](const FileStep& step) { return is_here_alone(step.side); });
  return steps;
}

std::set<RelativePath> files_that_stay(const std::vector<FileStep>& steps) {
  std::set<RelativePath> stay;
  for (const FileStep& step : steps) {
    if (step.side == StepSide::service) stay.insert(*step.from);
  }
  return stay;
}

std::string_view reason_of(StepSide side) {
  switch (side) {
    case StepSide::both: return {};
    case StepSide::here: return "stays on the service";
    case StepSide::service: return "stays here";
    case StepSide::in_the_end: return "the service keeps its text";
  }
  return {};
}

UndoPlan plan_undo(const std::vector<OperationRow>& rows, const UndoWorld& world) { return Undoer(rows, world).plan(); }

}  // namespace ws::sync
