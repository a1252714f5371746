/// A small complete service in memory: sources, pull, plan, push, commit, conflicts, resolve, as `decisions.md` has
/// them. It counts requests and can fail any of them, before or after it took effect.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sync-engine/remote/remote.hpp"

namespace ws::sync::test {

struct FakeDocument {
  std::string path = {};
  std::string text = {};
  std::uint64_t revision = 1;
  std::uint64_t changed_at = 0;  ///< the source's revision of its last change
  bool gone = false;
};

struct FakeConflict {
  std::string id = {};
  ConflictKind kind = ConflictKind::revision;
  std::string document = {};
  std::string path = {};
  std::string local = {};
  bool open = true;
};

class FakeRemote final : public Remote {
 public:
  // The service's side, as another client changes it.
  std::string create(const std::string& path, const std::string& text);
  void edit(const std::string& path, const std::string& text);
  void archive(const std::string& path);
  void move(const std::string& from, const std::string& to);
  std::optional<std::string> text_at(const std::string& path) const;
  DocumentId id_at(const std::string& path);
  std::map<std::string, std::string> tree() const;
  /// What a backup holds; `restore` is the service going back to it.
  struct Backup {
    std::uint64_t revision = 0;
    std::map<std::string, FakeDocument> documents = {};
  };
  Backup backup() const { return {revision_, documents_}; }
  void restore(const Backup& backup);
  void forget_conflicts() { conflicts_.clear(); }
  const std::vector<FakeConflict>& conflicts() const { return conflicts_; }
  std::size_t document_count() const;

  /// Called with the name of each request before (`after` false) and after it took effect; what it answers ends it.
  std::function<std::optional<Failure>(const std::string& request, bool after)> fault = {};
  std::vector<std::string> requests = {};
  std::size_t times_asked(const std::string& request) const;
  bool ignores_filter = false;      ///< pull always returns everything
  bool leaves_out_content = false;  ///< pull gives hashes only
  /// What the service makes of a text that it stores; empty: it keeps the bytes.
  std::function<std::string(const std::string& text)> normalise = {};
  bool leaves_out_result = false;                   ///< resolve does not say what came of it
  std::set<std::string> hidden = {};                ///< paths that a listing leaves out
  std::map<std::string, std::string> refused = {};  ///< paths that a push does not take, and the code it says
  std::string answers_for = {};                     ///< the source that answers name; empty: the right one
  std::string before_conflict_ids = {};             ///< what a commit says before the ids of conflicts
  bool counts_documents = false;                  ///< a document that one commit moves and edits counts once, not twice
  std::function<void(CommitAnswer&)> words = {};  ///< how it puts what a commit did
  std::function<void(PulledItem&)> tell_otherwise = {};  ///< what a pull makes of each document

  Result<SourceInfo> create_source(const SourceRequest& request) override;
  Result<SourceInfo> find_source(const std::string& source_id) override;
  Result<PullEnd> pull(const std::string& source_id,
                       SourceRevision since_revision,
                       const std::function<Result<void>(PulledItem item)>& visit) override;
  Result<PulledItem> content(const DocumentId& document) override;
  Result<void> contents(
      const std::vector<DocumentId>& documents,
      const std::function<Result<void>(const DocumentId& document, Result<PulledItem> item)>& visit) override;
  Result<PlanAnswer> plan(const std::string& source_id,
                          SourceRevision base_revision,
                          const std::string& client_id,
                          const std::vector<PushItem>& items,
                          const std::function<bool()>& meanwhile) override;
  Result<PushAnswer> push(const std::string& source_id,
                          const std::string& plan_id,
                          const std::vector<PushItem>& items,
                          const TextOfItem& text) override;
  Result<CommitAnswer> commit(const CommitRequest& request) override;
  Result<ServiceConflict> find_conflict(const std::string& conflict_id) override;
  Result<std::optional<AppliedItem>> resolve(const ResolveRequest& request) override;

 private:
  struct StagedText {
    PushItem item;
    std::string text;
  };
  Result<void> meet(const std::string& request, bool after);
  FakeDocument* find_at(const std::string& path, std::string* id = nullptr);
  void touch(FakeDocument& document);
  std::string refusal(const PushItem& item, const std::vector<StagedText>& all);
  void apply(const StagedText& staged, CommitAnswer& answer);
  void record(const StagedText& staged, const std::string& kind, CommitAnswer& answer);

  std::uint64_t revision_ = 0;
  std::uint64_t next_id_ = 1;
  std::map<std::string, FakeDocument> documents_;
  std::map<Sha256, std::string> texts_;  ///< every text that there ever was
  std::map<std::string, std::vector<StagedText>> staged_;
  std::map<std::string, CommitAnswer> committed_;  ///< by plan: a repeat gets the first answer
  std::vector<FakeConflict> conflicts_;
};

}  // namespace ws::sync::test
