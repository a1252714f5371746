#include "sync-engine/attachments/publish_list.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "sync-engine/manifest/manifest.hpp"
#include "sync-engine/remote/assets.hpp"
#include "sync-engine/session/kept_bytes.hpp"

namespace ws::sync {
namespace {

constexpr const char* commit_note = "commit";
constexpr const char* untitled_note = "untitled";
constexpr int max_rounds = 6;
constexpr const char* list_title = "Attachments";

constexpr const char* files_member = "files";

/// A part as it is to be.
struct PartToWrite {
  PushItem item;
  std::string text = {};
};

/// With the bytes that each file has here by what it tells; null: it is gone.
std::string encode_request(const CommitRequest& request, const RowChanges& changes) {
  Json files = Json::object();
  for (const auto& [path, change] : changes) files[path.string()] = change.now ? Json(change.now->hash.hex()) : Json();
  return dump(Json{{files_member, std::move(files)},
                   {"source_id", request.source_id},
                   {"plan_id", request.plan_id},
                   {"push_ids", request.push_ids},
                   {"expected_revision", request.expected_revision.number},
                   {"client_id", request.client_id},
                   {"message", request.message}});
}

CommitRequest decode_request(const Json& value) {
  CommitRequest request{
      .source_id = find_text(value, "source_id").value_or(""),
      .plan_id = find_text(value, "plan_id").value_or(""),
      .expected_revision = {static_cast<std::uint64_t>(find_integer(value, "expected_revision").value_or(0))},
      .client_id = find_text(value, "client_id").value_or(""),
      .message = find_text(value, "message").value_or("")};
  if (const Json* ids = find(value, "push_ids"); ids != nullptr && ids->is_array()) {
    for (const Json& id : *ids) {
      if (id.is_string()) request.push_ids.push_back(id.get<std::string>());
    }
  }
  return request;
}

/// Whether a file is not as that commit tells: somebody took a change back, or went on.
Result<bool> is_withdrawn(Session& session, AttachmentStore& store, const Json& noted) {
  const Json* const files = find(noted, files_member);
  if (files == nullptr || !files->is_object()) return false;
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root, attachments_folder));
  for (const auto& [name, told] : files->items()) {
    const auto path = RelativePath::parse(name);
    if (!path) continue;
    WS_LET(const RelativePath disk, spelled_here(session, store, *path));
    WS_LET(const auto now, writer.hash(disk));
    const auto wanted = told.is_string() ? Sha256::from_hex(told.get<std::string>()) : std::nullopt;
    if (now != wanted) return true;
  }
  return false;
}

bool surely_not_done(const Failure& failure) {
  return failure.kind == Failure::Kind::invalid || failure.kind == Failure::Kind::not_found ||
         failure.kind == Failure::Kind::conflict || failure.kind == Failure::Kind::forbidden;
}

/// The service's text wins: ours is merged into it by the next round.
Result<void> yield_to_service(Session& session, const RecordedConflict& recorded, std::optional<DocumentId>& document) {
  if (recorded.id.empty()) return {};
  WS_LET(const ServiceConflict conflict, session.remote->find_conflict(recorded.id));
  if (!conflict.remote.document.empty()) document = conflict.remote.document;
  const auto resolved = session.remote->resolve(
      {.conflict_id = recorded.id, .keep = Keep::remote, .expected_revision = conflict.remote.revision});
  // It moved again, or somebody decided it: what is there now is asked for in any case.
  if (!resolved && !surely_not_done(resolved.error())) return fail(Failure(resolved.error()));
  return {};
}

/// People find it by its title. Where it may not be set the list serves as well. Fails where a later try may succeed.
Result<void> give_title(Session& session, KnownList& list, const DocumentId& document) {
  Assets* const assets = session.remote->assets();
  if (assets == nullptr) return {};
  StoredPart& part = list.parts.at(document);
  const auto revision = assets->set_title(document.text(), list_title, part.revision);
  if (!revision) return surely_not_done(revision.error()) ? Result<void>() : fail(Failure(revision.error()));
  if (revision->is_known()) part.revision = *revision;
  list.changed.insert(document);
  return {};
}

/// The note stays while a title is missing that a later run may set. Fails with `auth`, or as the store does.
Result<void> give_titles(Session& session,
                         AttachmentStore& store,
                         KnownList& list,
                         const std::vector<DocumentId>& documents) {
  bool all = true;
  for (const DocumentId& document : documents) {
    const auto given = give_title(session, list, document);
    if (!given && given.error().kind == Failure::Kind::auth) return fail(Failure(given.error()));
    all = all && given.has_value();
  }
  WS_TRY(store_parts(store, list));
  return all ? store.set_note(untitled_note, "") : Result<void>();
}

class ListWriter {
 public:
  ListWriter(Session& session, AttachmentStore& store, KnownList& list, const RowChanges& changes)
      : session_(session), store_(store), list_(list), changes_(changes) {}

  Result<std::set<RelativePath>> write() {
    for (int round = 0; round < max_rounds; ++round) {
      done_.clear();
      const AttachmentTree rows = changed_rows();
      WS_LET(const std::vector<std::vector<PartToWrite>> commits, parts_to_write(rows));
      bool is_met = true;
      for (const std::vector<PartToWrite>& parts : commits) {
        WS_LET(is_met, commit(parts));
        if (!is_met) break;
      }
      if (is_met) return std::move(done_);
    }
    return fail(Failure::Kind::conflict,
                "the list of attachments changed on the service again and again while it was written",
                "run the same command again");
  }

 private:
  AttachmentTree changed_rows() {
    const AttachmentTree there = list_.rows();
    AttachmentTree rows = there;
    std::vector<const RowChanges::value_type*> arriving;
    for (const RowChanges::value_type& each : changes_) {
      const auto& [path, change] = each;
      if (is_at(there, path, change.now)) {
        done_.insert(path);
      } else if (!is_at(there, path, change.seen) || (change.from && !is_at(there, *change.from, change.now))) {
        continue;  // somebody else changed it, or renamed it to another name
      } else if (change.now && !change.seen) {
        arriving.push_back(&each);
      } else {
        done_.insert(path);
        rows.erase(path);
        if (change.now) rows.emplace(path, *change.now);
      }
    }
    if (arriving.empty()) return rows;
    std::set<std::string> names;
    for (const auto& [path, row] : rows) names.insert(path.twin_key());
    for (const RowChanges::value_type* each : arriving) {
      if (!names.insert(each->first.twin_key()).second) continue;  // somebody else took its name, in another case
      done_.insert(each->first);
      rows.emplace(each->first, *each->second.now);
    }
    return rows;
  }

  /// Whether these bytes are at the path; or nothing, where there are none.
  static bool is_at(const AttachmentTree& rows, const RelativePath& path, const std::optional<Attachment>& file) {
    return hash_of(row_at(rows, path)) == hash_of(file);
  }

  /// What is new comes before what shrinks for it: no row is on no part in between.
  Result<std::vector<std::vector<PartToWrite>>> parts_to_write(const AttachmentTree& rows) {
    std::map<std::size_t, DocumentId> documents;
    std::vector<AttachmentTree> held;
    for (const auto& [document, part] : list_.parts) {
      if (!part.is_gone) documents.emplace(number_of(part.path), document);
    }
    std::vector<std::size_t> numbers;
    for (const auto& [number, document] : documents) {
      numbers.push_back(number);
      held.push_back(list_.rows_by_part.at(document));
    }
    std::vector<std::vector<PartToWrite>> commits;
    if (rows.empty() && held.empty()) return commits;
    const std::vector<AttachmentTree> divided = divide_rows(rows, held);
    const std::uint64_t edition = list_.edition + 1;
    std::vector<PartToWrite> created;
    std::vector<PartToWrite> updated;
    std::size_t next_number = 1;
    for (std::size_t place = 0; place < divided.size(); ++place) {
      const bool is_new = place >= numbers.size();
      if (is_new) {
        while (documents.contains(next_number) || occupied_.contains(next_number)) ++next_number;
        created.push_back(new_part(next_number++, render_manifest(divided[place], edition)));
        continue;
      }
      const DocumentId& document = documents.at(numbers[place]);
      const StoredPart& part = list_.parts.at(document);
      if (divided[place] == held[place] && !part.is_due) continue;
      PartToWrite write = new_part(numbers[place], render_manifest(divided[place], edition));
      write.item.kind = ActionKind::push_update;
      write.item.document = document;
      write.item.revision = part.revision;
      updated.push_back(std::move(write));
    }
    if (!created.empty()) commits.push_back(std::move(created));
    if (!updated.empty()) commits.push_back(std::move(updated));
    return commits;
  }

  static std::size_t number_of(const std::string& path) {
    for (std::size_t number = 1; number < 10'000; ++number) {
      if (manifest_path(number).string() == path) return number;
    }
    return 10'000;
  }

  static PartToWrite new_part(std::size_t number, std::string text) {
    const Sha256 hash = Sha256::of(text);
    const std::uint64_t bytes = text.size();
    return {.item = {.kind = ActionKind::push_create, .path = manifest_path(number), .hash = hash, .size_bytes = bytes},
            .text = std::move(text)};
  }

  /// False: somebody was quicker, and `list_` has what is there now.
  Result<bool> commit(const std::vector<PartToWrite>& parts) {
    std::vector<PushItem> items;
    items.reserve(parts.size());
    for (const PartToWrite& part : parts) items.push_back(part.item);
    WS_LET(const SourceRevision known, session_.state.source_revision());
    WS_LET(const PlanAnswer plan,
           session_.remote->plan(session_.binding.source_id, known, session_.binding.client_id, items));
    WS_LET(const PushAnswer pushed,
           session_.remote->push(session_.binding.source_id, plan.plan_id, items, [&](std::size_t place) {
             return Result<std::optional<std::string>>(parts[place].text);
           }));
    if (!pushed.rejected.empty()) {
      return fail(Failure{
          .kind = Failure::Kind::service,
          .what = fmt::format("the service refused the list of attachments: {}", pushed.rejected.front().message),
          .code = pushed.rejected.front().code});
    }
    const CommitRequest request{.source_id = session_.binding.source_id,
                                .plan_id = plan.plan_id,
                                .push_ids = pushed.push_ids,
                                .expected_revision = plan.revision != SourceRevision{} ? plan.revision : known,
                                .client_id = session_.binding.client_id,
                                .message = list_title};
    const bool is_new = std::ranges::any_of(parts, [](const PartToWrite& part) { return part.item.document.empty(); });
    if (is_new) WS_TRY(store_.set_note(untitled_note, "yes"));
    WS_TRY(store_.set_note(commit_note, encode_request(request, changes_)));
    auto answer = session_.remote->commit(request);
    if (!answer) {
      if (surely_not_done(answer.error())) WS_TRY(store_.set_note(commit_note, ""));
      return fail(std::move(answer).error());
    }
    WS_LET(const bool all, take(parts, *answer, known));
    WS_TRY(store_.set_note(commit_note, ""));
    return all;
  }

  Result<bool> take(const std::vector<PartToWrite>& parts, const CommitAnswer& answer, SourceRevision known) {
    std::vector<DocumentId> untitled;
    std::size_t met = 0;
    for (const PartToWrite& part : parts) {
      const auto applied = std::ranges::find(answer.applied, part.item.path.string(), &AppliedItem::path);
      if (applied == answer.applied.end()) continue;
      const DocumentId document = applied->document.empty() ? part.item.document : applied->document;
      if (document.empty()) continue;
      take_part(list_,
                {.document = document,
                 .path = part.item.path.string(),
                 .revision = applied->revision.is_known() ? applied->revision : part.item.revision,
                 .text = part.text});
      ++met;
      if (part.item.kind == ActionKind::push_create) untitled.push_back(document);
    }
    bool is_met = met >= parts.size();
    for (const RecordedConflict& recorded : answer.conflicts) {
      std::optional<DocumentId> document;
      WS_TRY(yield_to_service(session_, recorded, document));
      is_met = false;
      if (document) WS_TRY(refresh_part(*document, recorded.path));
    }
    for (const PartToWrite& part : parts) {
      const std::string path = part.item.path.string();
      const auto has_path = [&](const auto& file) { return file.second.path == path; };
      if (std::ranges::none_of(list_.parts, has_path)) occupied_.insert(number_of(path));
    }
    if (!is_met && answer.conflicts.empty()) {
      return fail(Failure::Kind::service, "the service did not report what it did with the list of attachments");
    }
    {
      WS_LET(sqlite::Transaction transaction, session_.state.begin());
      WS_TRY(store_parts(store_, list_));
      WS_TRY(transaction.commit());
    }
    // Nobody else was there in between: the next pull can begin after it.
    WS_LET(const SourceRevision heard, session_.state.source_revision());
    const bool follows = heard == known && answer.revision == known.after(parts.size()) && is_met;
    if (follows) WS_TRY(session_.state.set_source_revision(answer.revision));
    if (untitled.empty()) return is_met;
    WS_TRY(give_titles(session_, store_, list_, untitled));
    if (follows) WS_TRY(pass_titles(answer.revision));
    return is_met;
  }

  /// A title may raise the counter of the source: a pull tells whether anybody else was there. If it fails, the next
  /// run pulls.
  Result<void> pass_titles(SourceRevision since) {
    const auto end = session_.remote->pull(session_.binding.source_id, since, [this](const PulledItem& item) {
      const auto part = list_.parts.find(item.document);
      const bool is_ours = part != list_.parts.end() && !item.deleted && part->second.revision == item.revision;
      return is_ours ? Result<void>() : fail(Failure::Kind::conflict, "it was changed by someone else");
    });
    return end && end->revision ? session_.state.set_source_revision(*end->revision) : Result<void>();
  }

  /// A document that is no list, at one of the list's places, is somebody's own: it is never written over.
  Result<void> refresh_part(const DocumentId& document, const std::string& path) {
    const auto now = session_.remote->content(document);
    if (!now) {
      if (now.error().kind != Failure::Kind::not_found) return fail(Failure(now.error()));
      take_part(list_, {.document = document, .path = path});
    } else {
      const auto known = list_.parts.find(document);
      const bool is_list = known != list_.parts.end() || (now->content && parse_manifest(*now->content));
      if (!is_list) return {};
      const std::string where = known != list_.parts.end() ? known->second.path : path;
      take_part(list_,
                {.document = document,
                 .path = now->path.empty() ? where : now->path,
                 .revision = now->revision,
                 .text = now->deleted ? std::nullopt : now->content});
    }
    return {};
  }

  Session& session_;
  AttachmentStore& store_;
  KnownList& list_;
  const RowChanges& changes_;
  std::set<RelativePath> done_;
  std::set<std::size_t> occupied_;  ///< numbers whose place holds something else: a note, or a folder
};

}  // namespace

Result<void> finish_list_commit(Session& session, AttachmentStore& store) {
  WS_LET(const std::string noted, store.note(commit_note));
  if (noted.empty()) return {};
  WS_LET(const Json value, parse_bounded(noted));
  WS_LET(const bool stays_out, is_withdrawn(session, store, value));
  if (stays_out) return drop_list_commit(store);
  const auto answer = session.remote->commit(decode_request(value));
  if (!answer && !surely_not_done(answer.error())) return fail(Failure(answer.error()));
  if (answer) {
    for (const RecordedConflict& recorded : answer->conflicts) {
      std::optional<DocumentId> document;
      WS_TRY(yield_to_service(session, recorded, document));
    }
  }
  // What was applied comes with the next pull, which begins before it.
  return drop_list_commit(store);
}

Result<void> drop_list_commit(AttachmentStore& store) {
  WS_LET(const std::string noted, store.note(commit_note));
  return noted.empty() ? Result<void>() : store.set_note(commit_note, "");
}

Result<bool> has_list_commit(AttachmentStore& store) {
  WS_LET(const std::string commit, store.note(commit_note));
  return !commit.empty();
}

Result<bool> is_list_unfinished(AttachmentStore& store) {
  WS_LET(const bool is_under_way, has_list_commit(store));
  WS_LET(const std::string untitled, store.note(untitled_note));
  return is_under_way || !untitled.empty();
}

Result<void> give_missing_titles(Session& session, AttachmentStore& store, KnownList& list) {
  WS_LET(const std::string noted, store.note(untitled_note));
  if (noted.empty()) return {};
  std::vector<DocumentId> documents;
  for (const auto& [document, part] : list.parts) {
    if (!part.is_gone) documents.push_back(document);
  }
  return give_titles(session, store, list, documents);
}

Result<std::set<RelativePath>> publish_list(Session& session,
                                            AttachmentStore& store,
                                            KnownList& list,
                                            const RowChanges& changes) {
  return ListWriter(session, store, list, changes).write();
}

}  // namespace ws::sync
