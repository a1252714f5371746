#include "tests/sync-engine/support/fake_remote.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"

namespace ws::sync::test {
namespace {

constexpr const char* the_source = "00000000-0000-7000-8000-000000000001";

std::string uuid(std::uint64_t number) { return fmt::format("00000000-0000-7000-8000-{:012}", number + 100); }

}  // namespace

Result<void> FakeRemote::meet(const std::string& request, bool after) {
  if (!after) requests.push_back(request);
  if (!fault) return {};
  if (auto failure = fault(request, after)) return fail(std::move(*failure));
  return {};
}

FakeDocument* FakeRemote::find_at(const std::string& path, std::string* id) {
  for (auto& [key, document] : documents_) {
    if (document.gone || utf8::fold_key(document.path) != utf8::fold_key(path)) continue;
    if (id != nullptr) *id = key;
    return &document;
  }
  return nullptr;
}

void FakeRemote::touch(FakeDocument& document) {
  ++document.revision;
  texts_.emplace(Sha256::of(document.text), document.text);
  document.changed_at = ++revision_;
}

std::string FakeRemote::create(const std::string& path, const std::string& text) {
  const std::string id = uuid(next_id_++);
  documents_[id] = {.path = utf8::nfc(path), .text = text, .changed_at = ++revision_};
  texts_.emplace(Sha256::of(text), text);
  return id;
}
void FakeRemote::edit(const std::string& path, const std::string& text) {
  FakeDocument* document = find_at(path);
  document->text = text;
  touch(*document);
}
void FakeRemote::archive(const std::string& path) {
  FakeDocument* document = find_at(path);
  document->gone = true;
  touch(*document);
}
void FakeRemote::move(const std::string& from, const std::string& to) {
  FakeDocument* document = find_at(from);
  document->path = to;
  touch(*document);
}
void FakeRemote::restore(const Backup& backup) {
  revision_ = backup.revision;
  documents_ = backup.documents;
}
std::optional<std::string> FakeRemote::text_at(const std::string& path) const {
  for (const auto& [id, document] : documents_) {
    if (!document.gone && document.path == path) return document.text;
  }
  return std::nullopt;
}
std::map<std::string, std::string> FakeRemote::tree() const {
  std::map<std::string, std::string> tree;
  for (const auto& [id, document] : documents_) {
    if (!document.gone) tree[document.path] = document.text;
  }
  return tree;
}
std::size_t FakeRemote::document_count() const { return tree().size(); }

Result<SourceInfo> FakeRemote::create_source(const SourceRequest& request) {
  WS_TRY(meet("create_source", false));
  return SourceInfo{.id = the_source, .name = request.name, .revision = {revision_}};
}
Result<SourceInfo> FakeRemote::find_source(const std::string& source_id) {
  WS_TRY(meet("find_source", false));
  if (source_id != the_source) return fail(Failure::Kind::not_found, "no such source");
  SourceInfo info{.id = answers_for.empty() ? the_source : answers_for, .name = "notes", .revision = {revision_}};
  info.open_conflicts.emplace();
  for (const FakeConflict& conflict : conflicts_) {
    if (conflict.open) info.open_conflicts->push_back(conflict.id);
  }
  return info;
}

Result<PullEnd> FakeRemote::pull(const std::string&,
                                 SourceRevision since_revision,
                                 const std::function<Result<void>(PulledItem item)>& visit) {
  WS_TRY(meet("pull", false));
  for (const auto& [id, document] : documents_) {
    if (!ignores_filter && document.changed_at <= since_revision.number) continue;
    if (document.gone && since_revision == SourceRevision{}) continue;
    if (hidden.contains(document.path)) continue;
    PulledItem item{.document = DocumentId(id),
                    .path = document.path,
                    .revision = {document.revision},
                    .hash = Sha256::of(document.text),
                    .deleted = document.gone};
    if (!leaves_out_content && !document.gone) item.content = document.text;
    if (tell_otherwise) tell_otherwise(item);
    WS_TRY(visit(std::move(item)));
  }
  WS_TRY(meet("pull", true));
  return PullEnd{.source_id = answers_for.empty() ? the_source : answers_for,
                 .revision = SourceRevision{revision_},
                 .complete = ignores_filter || since_revision == SourceRevision{}};
}

Result<PulledItem> FakeRemote::content(const DocumentId& document) {
  WS_TRY(meet("content", false));
  const auto found = documents_.find(document.text());
  if (found == documents_.end()) return fail(Failure::Kind::not_found, "no such document");
  return PulledItem{.document = document,
                    .revision = {found->second.revision},
                    .hash = Sha256::of(found->second.text),
                    .content = found->second.text,
                    .deleted = found->second.gone};
}

Result<void> FakeRemote::contents(
    const std::vector<DocumentId>& documents,
    const std::function<Result<void>(const DocumentId& document, Result<PulledItem> item)>& visit) {
  for (const DocumentId& document : documents) WS_TRY(visit(document, content(document)));
  return {};
}

Result<PlanAnswer> FakeRemote::plan(const std::string&,
                                    SourceRevision,
                                    const std::string&,
                                    const std::vector<PushItem>&,
                                    const std::function<bool()>& meanwhile) {
  WS_TRY(meet("plan", false));
  while (meanwhile && meanwhile()) {
  }
  return PlanAnswer{.plan_id = uuid(next_id_++), .revision = {revision_}};
}

Result<PushAnswer> FakeRemote::push(const std::string&,
                                    const std::string& plan_id,
                                    const std::vector<PushItem>& items,
                                    const TextOfItem& text) {
  WS_TRY(meet("push", false));
  auto& staged = staged_[plan_id];
  staged.clear();
  PushAnswer answer{.push_ids = {uuid(next_id_++)}};
  for (std::size_t place = 0; place < items.size(); ++place) {
    const PushItem& item = items[place];
    if (const auto code = refused.find(item.path.string()); code != refused.end()) {
      answer.rejected.push_back({item.path.string(), code->second, "not from you"});
      continue;
    }
    StagedText each{.item = item, .text = {}};
    if (item.hash && item.kind != ActionKind::push_move) {
      WS_LET(auto given, text(place));
      if (!given) continue;
      each.text = std::move(*given);
      if (Sha256::of(each.text) != *item.hash) {
        answer.rejected.push_back({item.path.string(), "hash_mismatch", "not its hash"});
        continue;
      }
    }
    staged.push_back(std::move(each));
  }
  WS_TRY(meet("push", true));
  return answer;
}

std::string FakeRemote::refusal(const PushItem& item, const std::vector<StagedText>& all) {
  std::string id;
  const FakeDocument* there = find_at(item.path.string(), &id);
  const bool leaves = std::any_of(all.begin(), all.end(), [&](const StagedText& other) {
    const bool goes = other.item.kind == ActionKind::push_move || other.item.kind == ActionKind::push_delete;
    return goes && other.item.document.text() == id && documents_.at(id).revision == other.item.revision.number;
  });
  if (item.document.empty()) {
    const bool same = there == nullptr || Sha256::of(there->text) == *item.hash;
    return same || leaves ? "" : "hash";
  }
  const FakeDocument& document = documents_.at(item.document.text());
  if (document.gone) return item.hash ? "edit_delete" : "";
  if (document.revision != item.revision.number) return item.hash ? "revision" : "delete_edit";
  const bool held = item.kind == ActionKind::push_move && there != nullptr && id != item.document.text() && !leaves;
  return held ? "path" : "";
}

void FakeRemote::apply(const StagedText& staged, CommitAnswer& answer) {
  const PushItem& item = staged.item;
  std::string id = item.document.text();
  const std::string text = normalise ? normalise(staged.text) : staged.text;
  if (item.document.empty()) {
    const FakeDocument* there = find_at(item.path.string(), &id);
    if (there == nullptr) id = create(item.path.string(), text);
  } else {
    FakeDocument& document = documents_.at(id);
    if (item.kind == ActionKind::push_delete) {
      // By its id: another document of the same commit may stand at its path by now.
      if (!document.gone) {
        document.gone = true;
        touch(document);
      }
    } else if (item.kind == ActionKind::push_move || document.text != text) {
      if (item.kind == ActionKind::push_move) {
        document.path = utf8::nfc(item.path.text());
      } else {
        document.text = text;
      }
      touch(document);
    }
  }
  answer.applied.push_back({.path = item.path.string(),
                            .kind = item.kind,
                            .document = DocumentId(id),
                            .revision = {documents_.at(id).revision},
                            .hash = item.hash && normalise ? Sha256::of(documents_.at(id).text) : item.hash});
}

void FakeRemote::record(const StagedText& staged, const std::string& kind, CommitAnswer& answer) {
  const std::string path = staged.item.path.string();
  std::string document = staged.item.document.text();
  if (document.empty()) static_cast<void>(find_at(path, &document));
  auto open = std::find_if(conflicts_.begin(), conflicts_.end(), [&](const FakeConflict& each) {
    return each.open && each.document == document;
  });
  if (open == conflicts_.end()) {
    conflicts_.push_back(
        {.id = uuid(next_id_++), .kind = *find_conflict_kind(kind), .document = document, .path = path});
    open = std::prev(conflicts_.end());
  }
  // Only moved: its text is the one that it was made from.
  open->local = staged.text;
  if (staged.item.kind == ActionKind::push_move) {
    const auto known = texts_.find(*staged.item.hash);
    open->local = known == texts_.end() ? documents_.at(document).text : known->second;
  }
  answer.conflicts.push_back({.id = before_conflict_ids + open->id, .path = path, .kind = open->kind});
}

std::size_t FakeRemote::times_asked(const std::string& request) const {
  return static_cast<std::size_t>(std::count(requests.begin(), requests.end(), request));
}

DocumentId FakeRemote::id_at(const std::string& path) {
  std::string id;
  find_at(path, &id);
  return DocumentId(id);
}

Result<CommitAnswer> FakeRemote::commit(const CommitRequest& request) {
  WS_TRY(meet("commit", false));
  if (const auto again = committed_.find(request.plan_id); again != committed_.end()) return again->second;
  CommitAnswer answer;
  std::vector<StagedText> free;
  for (const StagedText& staged : staged_[request.plan_id]) {
    const std::string kind = refusal(staged.item, staged_[request.plan_id]);
    if (kind.empty()) {
      free.push_back(staged);
    } else {
      record(staged, kind, answer);
    }
  }
  // Deletes and moves first: they free the places that others take.
  std::stable_partition(free.begin(), free.end(), [](const StagedText& each) {
    return each.item.kind == ActionKind::push_delete || each.item.kind == ActionKind::push_move;
  });
  std::set<DocumentId> moved;
  for (const StagedText& staged : free) {
    const bool counted = staged.item.kind == ActionKind::push_update && moved.contains(staged.item.document);
    apply(staged, answer);
    if (staged.item.kind == ActionKind::push_move) moved.insert(staged.item.document);
    if (counts_documents && counted) documents_.at(staged.item.document.text()).changed_at = --revision_;
  }
  answer.revision = {revision_};
  if (words) words(answer);
  committed_[request.plan_id] = answer;
  WS_TRY(meet("commit", true));
  return answer;
}

Result<ServiceConflict> FakeRemote::find_conflict(const std::string& conflict_id) {
  WS_TRY(meet("find_conflict", false));
  for (const FakeConflict& conflict : conflicts_) {
    if (conflict.id != conflict_id) continue;
    const FakeDocument& document = documents_.at(conflict.document);
    return ServiceConflict{.state = conflict.open ? ConflictState::open : ConflictState::resolved,
                           .remote = {.document = DocumentId(conflict.document),
                                      .path = document.path,
                                      .revision = {document.revision},
                                      .hash = Sha256::of(document.text),
                                      .content = document.text,
                                      .deleted = document.gone}};
  }
  return ServiceConflict{};
}

Result<std::optional<AppliedItem>> FakeRemote::resolve(const ResolveRequest& request) {
  WS_TRY(meet("resolve", false));
  using Item = std::optional<AppliedItem>;
  for (FakeConflict& conflict : conflicts_) {
    if (conflict.id != request.conflict_id) continue;
    if (!conflict.open) return fail(Failure::Kind::conflict, "resolved already");
    if (!documents_.contains(conflict.document)) return fail(Failure::Kind::not_found, "no such document");
    FakeDocument& document = documents_.at(conflict.document);
    if (!document.gone && document.revision != request.expected_revision.number) {
      return fail(Failure::Kind::conflict, "the document changed again");
    }
    const bool creates = document.gone && (request.keep == Keep::local || request.keep == Keep::merged);
    const std::string place = request.path.empty() ? conflict.path : request.path;
    if (creates && find_at(place) != nullptr) {
      Failure taken{.kind = Failure::Kind::conflict, .what = "The path is taken by another document"};
      taken.code = "sync_conflict";
      return fail(std::move(taken));
    }
    conflict.open = false;
    std::string id = conflict.document;
    if (request.keep == Keep::both) static_cast<void>(create(request.path_for_local_copy, conflict.local));
    if (request.keep == Keep::local || request.keep == Keep::merged) {
      const std::string text = request.keep == Keep::merged ? *request.content : conflict.local;
      if (document.gone) {
        id = create(place, text);
      } else {
        document.text = text;
        touch(document);
      }
    }
    const FakeDocument& result = documents_.at(id);
    WS_TRY(meet("resolve", true));
    if (result.gone || leaves_out_result) return Item{};
    return Item(AppliedItem{.path = result.path,
                            .document = DocumentId(id),
                            .revision = {result.revision},
                            .hash = Sha256::of(result.text)});
  }
  return fail(Failure::Kind::not_found, "no such conflict");
}

}  // namespace ws::sync::test
