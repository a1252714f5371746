#include "sync-engine/steps/decide_rewound.hpp"

#include <set>
#include <utility>

#include "sync-engine/steps/conflict_files.hpp"
#include "sync-engine/steps/incoming.hpp"
#include "sync-engine/steps/local_conflicts.hpp"
#include "sync-engine/steps/survey.hpp"
#include "sync-engine/tree/safe_write.hpp"

namespace ws::sync {
namespace {

class RewoundDecision {
 public:
  RewoundDecision(Session& session, const Conflict& conflict, Keep keep, Survey here, SafeWriter files)
      : session_(session), conflict_(conflict), keep_(keep), here_(std::move(here)), files_(std::move(files)) {}

  Result<void> carry_out() {
    if (!is_rewound_service(conflict_)) {
      const auto row = here_.pending.find(conflict_.document);
      WS_TRY(settle(conflict_.document, row == here_.pending.end() ? nullptr : &row->second));
      return store(std::nullopt);
    }
    const IncomingOptions options{.since_revision = 0, .keep_texts = true};
    WS_LET(Incoming incoming, pull_incoming(session_, here_.base_rows, here_.pending, options));
    for (const auto& [document, base] : here_.base_rows) {
      const auto row = incoming.rows.find(document);
      WS_TRY(settle(document, row == incoming.rows.end() ? nullptr : &row->second));
    }
    for (const auto& [document, row] : incoming.rows) {
      if (!here_.base_rows.contains(document)) pending_.insert_or_assign(document, row);
    }
    return store(incoming.end.revision);
  }

 private:
  /// `there`: as the service has it now; null or without an entry: it has no such document.
  Result<void> settle(const DocumentId& document, const PendingRow* there) {
    pending_.insert_or_assign(document, std::nullopt);
    const auto tracked = here_.local.tracked.find(document);
    const bool is_here = tracked != here_.local.tracked.end();
    const bool is_there = there != nullptr && there->entry;
    if (keep_ == Keep::local) {
      base_.insert_or_assign(
          document, is_there ? std::optional(as_there(*there, is_here ? &tracked->second : nullptr)) : std::nullopt);
      return {};
    }
    if (is_there) pending_.insert_or_assign(document, *there);
    if (!is_here) {
      base_.insert_or_assign(document, std::nullopt);
      return {};
    }
    if (!is_there) pending_.insert_or_assign(document, PendingRow{});
    WS_LET(const std::string text, files_.read(tracked->second.path));
    BaseRow row{.entry = tracked->second};
    row.entry.hash = Sha256::of(text);
    row.entry.revision = is_there ? there->entry->revision : 0;
    WS_LET(row.blob, session_.history.keep(text));
    base_.insert_or_assign(document, std::move(row));
    return {};
  }

  static BaseRow as_there(const PendingRow& there, const Entry* file) {
    BaseRow row{.entry = *there.entry, .blob = there.blob};
    if (file != nullptr && file->path != row.entry.path) {
      row.placed = file->path;
      row.stays = true;
    }
    return row;
  }

  Result<void> store(const std::optional<std::uint64_t>& revision) {
    WS_TRY(session_.history.flush());
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const auto& [document, row] : base_) {
      if (row) {
        WS_TRY(session_.state.put_base(document, *row));
      } else {
        WS_TRY(session_.state.forget_base(document));
      }
    }
    for (const auto& [document, row] : pending_) {
      if (row) {
        WS_TRY(session_.state.put_pending(document, *row));
      } else {
        WS_TRY(session_.state.drop_pending(document));
      }
    }
    if (revision) WS_TRY(session_.state.set_source_revision(*revision));
    WS_TRY(session_.state.clear_staged());
    WS_TRY(session_.state.drop_conflict(conflict_.id));
    WS_TRY(transaction.commit());
    remove_conflict_files(session_.root.path(), conflict_.id);
    return {};
  }

  Session& session_;
  const Conflict& conflict_;
  Keep keep_;
  Survey here_;
  SafeWriter files_;
  std::map<DocumentId, std::optional<BaseRow>> base_;        ///< empty: forgotten
  std::map<DocumentId, std::optional<PendingRow>> pending_;  ///< empty: none
};

}  // namespace

Result<void> decide_rewound(Session& session, const Conflict& conflict, Keep keep) {
  if (keep != Keep::local && keep != Keep::remote) {
    return fail(Failure::Kind::usage,
                "after a service went back to an older state, one of the two sides holds",
                "say --keep local or --keep remote");
  }
  WS_LET(Survey here, survey(session, {.merge = false, .offline = true}, Pulled::look_at));
  WS_LET(SafeWriter files, SafeWriter::open(session.root));
  return RewoundDecision(session, conflict, keep, std::move(here), std::move(files)).carry_out();
}

}  // namespace ws::sync
