#include "sync-engine/conflicts/decide_rewound.hpp"

#include <set>
#include <utility>

#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/survey/held_documents.hpp"
#include "sync-engine/survey/incoming.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {
namespace {

class RewoundDecision {
 public:
  RewoundDecision(Session& session, const Conflict& conflict, Keep keep, Survey here, SafeWriter files)
      : session_(session), conflict_(conflict), keep_(keep), here_(std::move(here)), files_(std::move(files)) {}

  Result<void> carry_out() {
    if (conflict_.which == ConflictCase::document_went_back) {
      const auto row = here_.pending.find(conflict_.document);
      WS_TRY(settle(conflict_.document, row == here_.pending.end() ? nullptr : &row->second));
      return finish();
    }
    const IncomingOptions options{.since_revision = {}, .keep_texts = true};
    WS_LET(Incoming incoming, pull_incoming(session_, here_.base_rows, here_.pending, options));
    if (incoming.foreign) {
      return fail(Failure::Kind::conflict,
                  "the service answered for another source: nothing was decided",
                  "`ws sync status` shows the difference");
    }
    const std::set<DocumentId> unknown(incoming.out_of_reach.begin(), incoming.out_of_reach.end());
    for (const auto& [document, base] : here_.base_rows) {
      const auto row = incoming.rows.find(document);
      // It exists on the service, with an invalid path or no access: undecided.
      if (unknown.contains(document) || (row == incoming.rows.end() && incoming.listed.contains(document))) continue;
      WS_TRY(settle(document, row == incoming.rows.end() ? nullptr : &row->second));
    }
    for (const auto& [document, row] : incoming.rows) {
      if (!here_.base_rows.contains(document)) end_.pending.insert_or_assign(document, row);
    }
    WS_TRY(put_back_list(session_, incoming.parts, keep_));
    // Where something could not be read, the next pull starts from 0.
    const bool read_all = incoming.out_of_reach.empty() && incoming.damaged.empty() && incoming.without_id.empty();
    end_.source_revision = read_all ? incoming.end.revision : SourceRevision{};
    WS_LET(const InvalidPaths invalid_paths, session_.state.invalid_paths());
    WS_TRY(store_invalid_paths(session_.state, invalid_paths, invalid_paths_after(invalid_paths, incoming)));
    return finish();
  }

 private:
  /// `there`: the document on the service now; null or without an entry: none.
  Result<void> settle(const DocumentId& document, const PendingRow* there) {
    end_.pending.insert_or_assign(document, std::nullopt);
    const auto tracked = here_.local.tracked.find(document);
    const bool is_here = tracked != here_.local.tracked.end();
    const bool is_there = there != nullptr && there->entry;
    if (keep_ == Keep::local) {
      keep_their_edit(document, there);
      end_.base.insert_or_assign(
          document, is_there ? std::optional(as_there(*there, is_here ? &tracked->second : nullptr)) : std::nullopt);
      // What is out of sight here stays so: its absence is no delete.
      const auto base = here_.base_rows.find(document);
      if (is_there && base != here_.base_rows.end()) end_.base.at(document)->left_out = base->second.left_out;
      return {};
    }
    if (is_there) end_.pending.insert_or_assign(document, *there);
    if (!is_here) {
      end_.base.insert_or_assign(document, std::nullopt);
      return {};
    }
    if (!is_there) end_.pending.insert_or_assign(document, PendingRow{});
    WS_LET(const std::string text, files_.read(tracked->second.path));
    BaseRow row{.entry = tracked->second};
    row.entry.hash = Sha256::of(text);
    row.entry.revision = is_there ? there->entry->revision : DocumentRevision{};
    WS_LET(row.blob, session_.history.keep(text));
    kept_.push_back({.path = tracked->second.path.string(), .blob = row.blob});
    end_.base.insert_or_assign(document, std::move(row));
    return {};
  }

  /// Keeps an edit that was made on the service since it went back, as ours will replace it.
  void keep_their_edit(const DocumentId& document, const PendingRow* there) {
    if (there == nullptr || !there->entry || there->blob.empty()) return;
    const auto base = here_.base_rows.find(document);
    if (base != here_.base_rows.end() && base->second.entry.hash == there->entry->hash) return;
    theirs_.push_back({.path = there->entry->path.string(), .blob = there->blob});
  }

  /// The texts become the base without being a state of the history: recorded, so that `ws sync log` shows them.
  Result<void> finish() {
    WS_TRY(session_.history.record_before(kept_, theirs_));
    return end_conflict(session_, conflict_, end_);
  }

  static BaseRow as_there(const PendingRow& there, const Entry* file) {
    BaseRow row{.entry = *there.entry, .blob = there.blob};
    if (file != nullptr) row.set_disk_path(file->path);
    row.document_follows_file = row.displaced_to.has_value();
    return row;
  }

  Session& session_;
  const Conflict& conflict_;
  Keep keep_;
  Survey here_;
  SafeWriter files_;
  TextChanges kept_;
  TextChanges theirs_;
  ConflictEnd end_ = {.drops_staged = true};
};

}  // namespace

Result<void> decide_rewound(Session& session, const Conflict& conflict, Keep keep) {
  if (keep != Keep::local && keep != Keep::remote) {
    return fail(Failure::Kind::usage,
                "the service went back to an older state: choose which side to keep",
                "use --keep mine or --keep theirs");
  }
  WS_LET(Survey here, survey(session, {.merge = false, .offline = true}, PullMode::inspect));
  WS_LET(SafeWriter files, SafeWriter::open(session.root));
  return RewoundDecision(session, conflict, keep, std::move(here), std::move(files)).carry_out();
}

}  // namespace ws::sync
