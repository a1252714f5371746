#include "sync-engine/conflicts/decide_place.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "sync-engine/changes/replace_file.hpp"
#include "sync-engine/conflicts/recorded_conflict.hpp"
#include "sync-engine/reconcile/free_name.hpp"

namespace ws::sync {
namespace {

enum class Carry { out, not_yet };

class PlaceDecision {
 public:
  PlaceDecision(Session& session,
                KnownPlaces& places,
                DocumentsHere& documents,
                const Conflict& conflict,
                Keep keep,
                SafeWriter& writer,
                Carry carry = Carry::out)
      : session_(session),
        places_(places),
        documents_(documents),
        conflict_(conflict),
        keep_(keep),
        writer_(writer),
        carry_(carry),
        decided_{.conflict = conflict} {}

  /// Resolves it on the service and renames files here; writing and removing texts, and the state, are left to the
  /// block.
  Result<DecidedConflict> carry_out() {
    if (conflict_.local) {
      WS_LET(on_disk_, read_if_there(writer_, conflict_.path));
    }
    if (!conflict_.is_here_only() && carry_ == Carry::out) WS_TRY(close_on_service());
    WS_TRY(decide());
    if (decided_.end.recorded.empty()) WS_TRY(record_unchanged());
    return std::move(decided_);
  }

  const std::optional<RelativePath>& moved_to() const { return moved_to_; }
  bool changed_places() const { return !decided_.end.base.empty() || !decided_.end.pending.empty(); }

 private:
  const BaseRow* base_row() const { return places_.row(conflict_.document); }
  const PendingRow* pending_row() const { return places_.pending(conflict_.document); }

  /// The newest known revision: a displaced file may have been pushed since the conflict was recorded.
  DocumentRevision revision_there() const {
    DocumentRevision revision = conflict_.remote ? conflict_.remote->revision : DocumentRevision{};
    if (conflict_.remote && base_row() != nullptr) revision = std::max(revision, base_row()->entry.revision);
    if (pending_row() != nullptr && pending_row()->entry) revision = std::max(revision, pending_row()->revision);
    return revision;
  }

  /// The document keeps its text; only the record is closed.
  Result<void> close_on_service() {
    auto closed = session_.remote->resolve(
        {.conflict_id = conflict_.id, .keep = Keep::remote, .expected_revision = revision_there()});
    const bool is_closed =
        closed || closed.error().code == "conflict_resolved" || closed.error().kind == Failure::Kind::not_found;
    return is_closed ? Result<void>() : fail(std::move(closed).error());
  }

  Result<void> decide() {
    if (conflict_.local && !on_disk_) return {};  // the file is gone: nothing is left to choose
    switch (conflict_.which) {
      case ConflictCase::renamed_on_both:
      case ConflictCase::renamed_on_both_kept_here: return renamed_on_both();
      case ConflictCase::two_documents:
      case ConflictCase::two_documents_kept_here: return two_documents();
      case ConflictCase::folder_there: return folder_there();
      case ConflictCase::document_there: return document_there();
      case ConflictCase::became_folder: return became_folder();
      case ConflictCase::not_synced: return not_synced();
      case ConflictCase::folder_at_old_name:
      case ConflictCase::place_refused: return is_gone_there() ? folder_took_the_old_place() : place_refused();
      case ConflictCase::edited_on_both:
      case ConflictCase::edited_at_one_revision:
      case ConflictCase::created_on_both:
      case ConflictCase::edited_and_archived:
      case ConflictCase::deleted_and_edited:
      case ConflictCase::service_went_back:
      case ConflictCase::document_went_back:
      case ConflictCase::attachment_edited_on_both:
      case ConflictCase::attachment_added_on_both:
      case ConflictCase::attachment_edited_and_removed:
      case ConflictCase::attachment_removed_and_edited:
      case ConflictCase::attachment_renamed_on_both:
      case ConflictCase::attachment_folder_there:
      case ConflictCase::attachment_folder_here: return {};  // not about a document
    }
    return {};
  }

  /// Recorded for `undo`, which renames the file back.
  Result<void> record_decision(const DocumentId& document, const RelativePath& now, ChangeOrigins origins) {
    if (carry_ == Carry::not_yet) return {};
    Version here{.path = conflict_.path, .hash = Sha256::of(*on_disk_)};
    WS_LET(here.blob, session_.history.keep(*on_disk_));
    OperationRow row{.document = document, .origins = origins, .before = here};
    row.after = std::move(here);
    row.after->path = now;
    decided_.end.recorded.push_back(std::move(row));
    return {};
  }

  /// A run all the same: what `undo` takes back by itself is the last one.
  Result<void> record_unchanged() {
    if (on_disk_) return record_decision(conflict_.document, conflict_.path, ChangeOrigin::decided);
    if (!conflict_.remote) return {};
    const Version same{.path = conflict_.path, .hash = conflict_.remote->hash};
    decided_.end.recorded.push_back(
        {.document = conflict_.document, .origins = ChangeOrigin::decided, .before = same, .after = same});
    return {};
  }

  /// One document, two new names.
  Result<void> renamed_on_both() {
    if (keep_ == Keep::both) {
      return fail(Failure::Kind::usage,
                  fmt::format("{} is one document with two names, and cannot keep both", conflict_.path.text()),
                  "use --path mine or --path theirs");
    }
    if (base_row() == nullptr) return {};
    if (keep_ == Keep::local) return take_new_name(conflict_.path);
    const RelativePath& place = conflict_.remote->path;
    if (has_file(place) || is_place_of_another(place) || is_beneath_a_file(place)) {
      // The next run knows whose file has the path: it moves both, or tells the conflict of the two.
      WS_TRY(take_new_name(conflict_.path));
      BaseRow now = *base_row();
      now.document_follows_file = false;
      put(conflict_.document, std::move(now));
      return {};
    }
    WS_TRY(move_file(place));
    WS_TRY(record_decision(conflict_.document, place, ChangeOrigin::decided));
    open_again_by_undo();
    return take_new_name(std::nullopt);
  }

  /// The service has its name from before the decision, and an undo leaves it that one. Where the text there changed as
  /// well, the run that merges it is undone first.
  void open_again_by_undo() {
    if (decided_.end.recorded.empty() || conflict_.remote->hash != base_row()->entry.hash) return;
    decided_.end.decided = DecidedText{.document = conflict_.document,
                                       .text = conflict_.remote->hash,
                                       .conflict = conflict_,
                                       .local_blob = decided_.end.recorded.back().before->blob};
  }

  /// The name is all that the decision changes, and here alone.
  Result<void> move_aside(const RelativePath& to) {
    const auto owner = documents_.find(conflict_.path);
    ChangeOrigins origins = ChangeOrigin::decided;
    origins.add(ChangeOrigin::restored);
    WS_TRY(record_decision(owner == documents_.end() ? DocumentId{} : owner->second, to, origins));
    return move_file(to);
  }

  /// The file that is in question; it stays its document's.
  Result<void> move_file(const RelativePath& to) {
    moved_to_ = to;
    if (carry_ == Carry::not_yet) return {};
    const Sha256 text = Sha256::of(*on_disk_);
    WS_TRY(writer_.move(conflict_.path, to, text));
    const auto owner = documents_.find(conflict_.path);
    if (owner == documents_.end()) return {};
    decided_.end.files.push_back({.document = owner->second, .path = to, .text = text});
    documents_.insert_or_assign(to, owner->second);
    documents_.erase(owner);
    return {};
  }

  bool has_file(const RelativePath& place) const {
    return place.twin_key() != conflict_.path.twin_key() &&
           session_.root.open_beneath(place.text(), O_PATH | O_NOFOLLOW);
  }

  bool is_place_of_another(const RelativePath& place) const {
    return std::ranges::any_of(places_.documents_at(place),
                               [&](const DocumentId& document) { return document != conflict_.document; });
  }

  /// Whether a file or link has the name of a folder above `place`.
  bool is_beneath_a_file(const RelativePath& place) const {
    return !session_.root.open_beneath(place.folder(), O_PATH | O_DIRECTORY) && errno != ENOENT;
  }

  /// Moves the base to the service's name. `stays_at`: the file keeps this path, and the service renames it to that.
  Result<void> take_new_name(std::optional<RelativePath> stays_at) {
    BaseRow now = *base_row();
    const bool same_text = conflict_.remote->hash == now.entry.hash;
    now.entry.path = conflict_.remote->path;
    if (same_text) now.entry.revision = conflict_.remote->revision;
    now.document_follows_file = stays_at.has_value();
    now.displaced_to = std::move(stays_at);
    put(conflict_.document, std::move(now));
    if (same_text) settle(conflict_.document);
    return {};
  }

  /// A file in a folder here where the service has a document.
  Result<void> document_there() {
    // The document is renamed to its displaced file, which frees the path.
    if (base_row() != nullptr && base_row()->displaced_to) return stay();
    if (keep_ == Keep::local) return give_way_to(conflict_.remote->path);
    const auto place = free_place(conflict_.remote->path, conflict_.path, "local");
    return place ? move_aside(*place) : no_free_name();
  }

  /// An unsynced file has the path, or a twin of it, or is where the service has a folder; or the file of another
  /// document had it, and has a name now that is not synced. Only the user can move it.
  Result<void> not_synced() {
    const auto unsynced = find_taken(session_.root, conflict_.path);
    if (!conflict_.remote || (!unsynced && !is_place_of_another(conflict_.path))) return {};
    if (keep_ == Keep::local) return give_way_to(conflict_.path);
    return fail(Failure::Kind::conflict,
                unsynced ? fmt::format("{} has the name of a document on the service, and is not synced", *unsynced)
                         : fmt::format("the file that was {} now has a name that is not synced", conflict_.path.text()),
                "move it elsewhere, then `ws sync`; with --path mine the document gets another name");
  }

  /// Renamed here, archived on the service, where a folder has its old path.
  Result<void> folder_took_the_old_place() {
    if (keep_ == Keep::remote) decided_.files.push_back({.path = conflict_.path, .now = on_disk_});
    forget(conflict_.document);
    return {};
  }

  bool is_gone_there() const { return pending_row() != nullptr && !pending_row()->entry; }

  /// The service refused the path and has no document there. `local`: tried again by the next run. `remote`: a new file
  /// is renamed, a renamed one moved back.
  Result<void> place_refused() {
    if (keep_ == Keep::local) return {};
    if (base_row() == nullptr || base_row()->disk_path() == conflict_.path) return step_aside();
    if (!is_nowhere(base_row()->disk_path())) return no_free_name();
    return move_aside(base_row()->disk_path());
  }

  /// A file here, a folder of the service at the same path.
  Result<void> folder_there() { return keep_ == Keep::local ? give_way_to(conflict_.path) : step_aside(); }

  /// What is here at `taken` keeps its name: the document is displaced, and the service renames it to that.
  Result<void> give_way_to(const RelativePath& taken) {
    if (base_row() != nullptr && base_row()->displaced_to) return stay();
    // The file at `taken` is another document's, also where this one lay there before it was deleted here.
    const bool has_file = base_row() != nullptr && base_row()->disk_path() != taken && is_file(base_row()->disk_path());
    if (has_file) return take_new_name(base_row()->disk_path());
    auto place = free_place(taken, conflict_.remote->path, "remote");
    if (!place) return no_free_name();
    WS_LET(std::string text, remote_text());
    WS_LET(const git::ObjectId blob, session_.history.keep(text));
    decided_.files.push_back({.path = *place, .text = std::move(text)});
    put(conflict_.document,
        {.entry = *conflict_.remote, .blob = blob, .displaced_to = std::move(place), .document_follows_file = true});
    settle(conflict_.document);
    return {};
  }

  /// A free path for `path`, which is `taken` or beneath it, in a file or folder beside `taken`.
  std::optional<RelativePath> free_place(const RelativePath& taken, const RelativePath& path, std::string_view word) {
    // By parts, not by length: the two may spell a name in two forms.
    std::size_t end = path.string().find('/');
    for (auto above = std::count(taken.string().begin(), taken.string().end(), '/'); above > 0; --above) {
      end = path.string().find('/', end + 1);
    }
    const std::string rest = end == std::string::npos ? "" : path.string().substr(end);
    std::optional<RelativePath> found;
    name_beside(taken, word, [&](const RelativePath& beside) {
      const auto place = RelativePath::parse(beside.string() + rest);
      if (!place || !is_free(*place) || (!rest.empty() && is_file(beside))) return false;
      found = *place;
      return true;
    });
    return found;
  }

  /// A folder replaced the file here; its document was edited on the service and is displaced.
  Result<void> became_folder() {
    if (base_row() == nullptr || !base_row()->displaced_to) return lies_elsewhere();
    if (keep_ != Keep::local) return stay();
    WS_LET(std::optional<std::string> text, read_if_there(writer_, *base_row()->displaced_to));
    if (text) {
      Version gone{.path = *base_row()->displaced_to, .hash = Sha256::of(*text)};
      WS_LET(gone.blob, session_.history.keep(*text));
      decided_.end.recorded.push_back(
          {.document = conflict_.document, .origins = ChangeOrigin::decided, .before = std::move(gone)});
    }
    decided_.files.push_back({.path = *base_row()->displaced_to, .now = std::move(text)});
    return {};
  }

  /// Two documents for one path: the file that has it, and a displaced one.
  Result<void> two_documents() {
    forget_archived_document();
    return keep_ == Keep::local ? give_way_to(conflict_.path) : step_aside();
  }

  /// Where the local file's own document is archived, it becomes a new document.
  void forget_archived_document() {
    for (const DocumentId& document : places_.documents_at(conflict_.path)) {
      const PendingRow* const pending = places_.pending(document);
      if (pending != nullptr && !pending->entry) forget(document);
    }
  }

  Result<void> stay() {
    BaseRow now = *base_row();
    now.document_follows_file = true;
    put(conflict_.document, std::move(now));
    return {};
  }

  Result<void> step_aside() {
    const auto copy =
        name_beside(conflict_.path, "local", [this](const RelativePath& place) { return is_free(place); });
    if (!copy) return no_free_name();
    return move_aside(*copy);
  }

  Result<void> no_free_name() const {
    return fail(Failure::Kind::conflict, fmt::format("no free name beside {}", conflict_.path.text()));
  }

  Result<void> lies_elsewhere() const {
    return fail(Failure::Kind::conflict,
                fmt::format("the service's document for {} is part of another conflict", conflict_.path.text()),
                "decide the other conflicts first, or keep theirs: `ws sync conflicts` lists them");
  }

  bool is_nowhere(const RelativePath& place) const {
    const auto text = writer_.read(place);
    return !text && text.error().kind == Failure::Kind::not_found;
  }

  bool is_file(const RelativePath& place) const {
    const auto text = writer_.read(place);
    return text.has_value();
  }

  bool is_free(const RelativePath& place) const { return is_nowhere(place) && !places_.is_taken(place); }

  Result<std::string> remote_text() {
    if (carry_ == Carry::not_yet) return std::string();
    const git::ObjectId blob = pending_row() == nullptr ? git::ObjectId{} : pending_row()->blob;
    WS_LET(std::optional<std::string> text,
           fetch_remote_text(session_, conflict_.document, blob, conflict_.remote->hash));
    return text ? Result<std::string>(std::move(*text)) : fail(changed_again(conflict_));
  }

  void put(const DocumentId& document, BaseRow now) {
    places_.put(document, now);
    decided_.end.base.insert_or_assign(document, std::move(now));
  }
  void settle(const DocumentId& document) {
    places_.settle(document);
    decided_.end.pending.insert_or_assign(document, std::nullopt);
  }
  void forget(const DocumentId& document) {
    places_.forget(document);
    decided_.end.base.insert_or_assign(document, std::nullopt);
    settle(document);
  }

  Session& session_;
  KnownPlaces& places_;
  DocumentsHere& documents_;
  const Conflict& conflict_;
  Keep keep_;
  SafeWriter& writer_;
  Carry carry_;
  std::optional<std::string> on_disk_;
  std::optional<RelativePath> moved_to_ = {};
  DecidedConflict decided_;
};

}  // namespace

Result<PlaceDecisions> PlaceDecisions::open(Session& session, SafeWriter& writer) {
  PlaceDecisions decisions(session, writer);
  WS_LET(decisions.places_, KnownPlaces::load(session.state));
  WS_LET(decisions.documents_, find_documents_here(session));
  return decisions;
}

Result<void> PlaceDecisions::add(std::size_t choice, const Conflict& conflict, Keep keep) {
  if (keep == Keep::merged) {
    return fail(Failure::Kind::usage,
                fmt::format("the conflict at {} is about a name, not about a text", conflict.path.text()),
                "use --path mine or --path theirs");
  }
  PlaceDecision decision(*session_, places_, documents_, conflict, keep, *writer_);
  auto decided = decision.carry_out();
  if (!decided) {
    if (decision.changed_places()) {
      // Discards what the failed decision changed in memory.
      WS_LET(places_, KnownPlaces::load(session_->state));
      for (const DecidedConflict& each : block_) places_.apply(each.end);
    }
    return fail(std::move(decided).error());
  }
  bytes_ += decided->bytes();
  block_.push_back(std::move(*decided));
  choices_.push_back(choice);
  return {};
}

bool PlaceDecisions::must_finish_before(const Conflict& next) const {
  constexpr std::size_t max_at_once = 500;
  constexpr std::size_t max_bytes = std::size_t{32} << 20U;  // of texts, in memory
  // Two decisions about one path must not be in one block.
  return block_.size() == max_at_once || bytes_ > max_bytes ||
         std::ranges::any_of(block_, [&](const DecidedConflict& each) {
           const bool same_document = !next.document.empty() && each.conflict.document == next.document;
           return same_document || each.conflict.path == next.path;
         });
}

std::vector<std::pair<std::size_t, Result<void>>> PlaceDecisions::finish() {
  std::vector<std::pair<std::size_t, Result<void>>> told;
  if (block_.empty()) return told;
  std::vector<Result<void>> results = ws::sync::carry_out(*session_, *writer_, block_);
  bool all_done = true;
  for (std::size_t i = 0; i < results.size(); ++i) {
    all_done = all_done && results[i];
    told.emplace_back(choices_[i], std::move(results[i]));
  }
  block_.clear();
  choices_.clear();
  bytes_ = 0;
  if (all_done) return told;
  if (auto places = KnownPlaces::load(session_->state)) places_ = std::move(*places);
  return told;
}

Result<ForeseenPlace> foresee_place(Session& session,
                                    SafeWriter& writer,
                                    KnownPlaces places,
                                    DocumentsHere documents,
                                    const Conflict& conflict,
                                    Keep keep) {
  PlaceDecision decision(session, places, documents, conflict, keep, writer, Carry::not_yet);
  WS_LET(DecidedConflict decided, decision.carry_out());
  return ForeseenPlace{.decided = std::move(decided), .moved_to = decision.moved_to()};
}

}  // namespace ws::sync
