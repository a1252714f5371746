#include "sync-engine/attachments/decide_attachment.hpp"

#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "sync-engine/attachments/restore_attachment.hpp"
#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/attachments/tell_attachments.hpp"
#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/reconcile/free_name.hpp"
#include "sync-engine/session/kept_bytes.hpp"

namespace ws::sync {
namespace {

class AttachmentDecision {
 public:
  AttachmentDecision(Session& session, const Clock& clock, AttachmentStore& store, SafeWriter& writer)
      : session_(session), clock_(clock), store_(store), writer_(writer) {}

  Result<void> decide(const RelativePath& path, const OpenAttachment& open, Keep keep) {
    const ConflictCase which = conflict_of(path, open).which;
    if (which == ConflictCase::attachment_renamed_on_both) {
      WS_TRY(choose_name(path, open, keep));
      return keep == Keep::remote ? keep_decided(path) : store_.drop_conflict(path);
    }
    const bool is_of_folder =
        which == ConflictCase::attachment_folder_there || which == ConflictCase::attachment_folder_here;
    if (is_of_folder && row_of(which).find(keep) == nullptr) {
      const bool is_here = which == ConflictCase::attachment_folder_here;
      return fail(Failure::Kind::conflict,
                  fmt::format("{} is a folder {}", path.text(), is_here ? "here" : "on the service"),
                  is_here ? "use --path mine, or rename your folder" : "use --path theirs, or rename your file");
    }
    if (which == ConflictCase::attachment_folder_there) {
      WS_TRY(step_aside(path, open));
      return store_.drop_conflict(path);
    }
    // Theirs lies beside the folder: that is its name from now on.
    if (which == ConflictCase::attachment_folder_here) keep = Keep::both;
    switch (keep) {
      case Keep::merged:
        return fail(Failure::Kind::usage,
                    fmt::format("{} is not a text that can be merged", path.text()),
                    "give --keep mine, theirs or both");
      case Keep::local: WS_TRY(keep_ours(path, open)); break;
      case Keep::remote: WS_TRY(take_theirs(path, open)); break;
      case Keep::both: WS_TRY(keep_both(path, open)); break;
    }
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    if (keep != Keep::remote) WS_TRY(record_kept(path, open));
    WS_TRY(agree_on_theirs(path, open));
    WS_TRY(is_of_folder || open.from ? store_.drop_conflict(path) : keep_decided(path));
    return transaction.commit();
  }

 private:
  /// Both sides agree on the name there from now on: ours is a rename of it, which the next run sends.
  Result<void> choose_name(const RelativePath& path, const OpenAttachment& open, Keep keep) {
    if (keep != Keep::local && keep != Keep::remote) {
      return fail(Failure::Kind::usage,
                  fmt::format("{} is one file with two names, and cannot keep both", path.text()),
                  "use --path mine or --path theirs");
    }
    if (keep == Keep::remote) WS_TRY(rename(path, *open.there, open.local->hash));
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    WS_TRY(store_.put_base(*open.there, *open.remote));
    WS_TRY(store_.forget_base(*open.from));
    WS_TRY(store_.put_wanted(keep == Keep::remote ? *open.there : path));
    if (keep == Keep::local) {
      // Whose file that is, for what comes before the next run; and a run all the same, which an undo meets first.
      if (const auto file = find_file_id(session_.root, path)) WS_TRY(store_.put_file(*open.there, *file));
      const Version same{.path = path, .hash = open.local->hash};
      WS_TRY(session_.state.operations().record({.origins = ChangeOrigin::decided, .before = same, .after = same}));
    }
    return transaction.commit();
  }

  Result<void> rename(const RelativePath& path, const RelativePath& to, const Sha256& hash) {
    return carry_out_step(session_, {.from = path, .to = to, .seen = hash, .result = hash}, ChangeOrigin::decided);
  }

  /// The folder of the service has the name from now on.
  Result<void> step_aside(const RelativePath& path, const OpenAttachment& open) {
    WS_LET(const AttachmentTree agreed, store_.base());
    const auto beside = name_beside(path, "local", [&](const RelativePath& each) {
      return !agreed.contains(each) && !session_.root.open_beneath(each.text(), O_PATH | O_NOFOLLOW);
    });
    if (!beside) return fail(Failure::Kind::conflict, fmt::format("no free name beside {}", path.text()));
    WS_TRY(rename(path, *beside, open.local->hash));
    return store_.put_wanted(*beside);
  }

  /// A decision that changes nothing here: its undo tells so.
  Result<void> record_kept(const RelativePath& path, const OpenAttachment& open) {
    OperationRow row{.origins = ChangeOrigin::decided};
    if (open.local) row.before = row.after = Version{.path = path, .hash = open.local->hash};
    return session_.state.operations().record(row);
  }

  /// Its undo opens the conflict again.
  Result<void> keep_decided(const RelativePath& path) {
    Operations operations = session_.state.operations();
    WS_TRY(operations.begin_record());
    const auto operation = operations.current();
    return operation ? store_.set_decided(path, 0, *operation) : store_.drop_conflict(path);
  }

  Result<void> note(const RelativePath& path, const std::optional<Attachment>& file, std::string_view how) {
    return store_.add_version(clock_.now(), path, file, how);
  }

  /// What the service has is what both sides agree on from now on: ours is an edit of it, which the next run sends.
  Result<void> agree_on_theirs(const RelativePath& path, const OpenAttachment& open) {
    const RelativePath& known = open.from.value_or(path);
    return open.remote ? store_.put_base(known, *open.remote) : store_.forget_base(known);
  }

  Result<void> drop_beside(const OpenAttachment& open) {
    // One that somebody changed stays.
    if (open.beside && open.remote) static_cast<void>(writer_.remove(*open.beside, open.remote->hash));
    return writer_.flush_folders();
  }

  Result<void> keep_ours(const RelativePath& path, const OpenAttachment& open) {
    // Nothing else would tell which Asset has the bytes that lost.
    if (open.remote) WS_TRY(note(path, open.remote, "not kept in a conflict"));
    return drop_beside(open);
  }

  Result<void> keep_both(const RelativePath& path, const OpenAttachment& open) {
    if (open.remote && !open.beside) {
      return fail(Failure::Kind::conflict,
                  fmt::format("theirs of {} has not been received yet", path.text()),
                  "`ws sync` receives it, then decide");
    }
    return open.beside ? store_.put_wanted(*open.beside) : Result<void>();
  }

  Result<void> take_theirs(const RelativePath& path, const OpenAttachment& open) {
    if (!open.local) {
      return fail(Failure::Kind::conflict,
                  fmt::format("{} was removed here, and another file may have its name", path.text()),
                  "give --keep mine, or both to have theirs beside it");
    }
    WS_LET(const auto now, writer_.hash(path));
    const bool is_placed = now == (open.remote ? std::optional(open.remote->hash) : std::nullopt);
    // One that an earlier call placed is in that call's operation.
    if (!is_placed) WS_TRY(place_theirs(path, open));
    return drop_beside(open);
  }

  /// Not done again where an earlier call was cut off after it.
  Result<void> place_theirs(const RelativePath& path, const OpenAttachment& open) {
    WS_TRY(note(path, open.local, "replaced"));
    FileStep step{.from = path, .seen = open.local->hash};
    if (open.remote) {
      step.to = path;
      step.result = open.remote->hash;
      // Where that fails the bytes are fetched.
      if (open.beside) static_cast<void>(writer_.keep_copy(*open.beside, *step.result));
    }
    WS_TRY(put_in_place(session_, step, open.remote, ChangeOrigin::decided));
    return open.remote ? note(path, open.remote, "received") : Result<void>();
  }

  Session& session_;
  const Clock& clock_;
  AttachmentStore& store_;
  SafeWriter& writer_;
};

}  // namespace

Result<void> decide_attachment(Session& session, const Clock& clock, const RelativePath& path, Keep keep) {
  AttachmentStore store = session.attachments();
  WS_LET(const auto open, store.conflicts());
  const auto found = open.find(path);
  if (found == open.end()) {
    return fail(Failure::Kind::not_found, fmt::format("there is no open conflict at {}", path.text()));
  }
  WS_LET(SafeWriter writer, SafeWriter::open(session.root, attachments_folder));
  return AttachmentDecision(session, clock, store, writer).decide(path, found->second, keep);
}

}  // namespace ws::sync
