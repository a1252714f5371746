#include "sync-engine/steps/decide.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/steps/conflict_files.hpp"
#include "sync-engine/tree/safe_write.hpp"

namespace ws::sync {
namespace {

ResolveRequest::How how_of(Keep keep) {
  switch (keep) {
    case Keep::local: return ResolveRequest::How::keep_local;
    case Keep::remote: return ResolveRequest::How::keep_remote;
    case Keep::both: return ResolveRequest::How::keep_both;
    case Keep::merged: return ResolveRequest::How::merged;
  }
  return ResolveRequest::How::keep_local;
}

class Decision {
 public:
  Decision(Session& session, const Conflict& conflict, Keep keep, SafeWriter writer)
      : session_(session), conflict_(conflict), keep_(keep), writer_(std::move(writer)) {}

  Result<void> carry_out(const std::optional<std::string>& merged) {
    texts_ = read_conflict_texts(session_.root.path(), conflict_.id);
    if (auto now = writer_.read(conflict_.path)) on_disk_ = std::move(*now);
    WS_LET(const std::optional<RelativePath> copy, copy_path());
    ResolveRequest request{.conflict_id = conflict_.id, .how = how_of(keep_), .content = merged};
    if (conflict_.remote) request.expected_revision = conflict_.remote->revision;  // none there: none expected
    if (copy) request.path_for_local_copy = copy->string();
    WS_LET(const std::optional<AppliedItem> result, session_.remote->resolve(request));
    if (on_disk_) {
      WS_LET(const git::ObjectId blob, session_.history.keep(*on_disk_));
      WS_TRY(session_.history.record_before({{.path = conflict_.path.string(), .blob = blob}}, {}));
    }
    if (copy) WS_TRY(write_copy(*copy));
    WS_LET(const std::optional<std::string> text, winning_text(merged));
    if (keep_ != Keep::local) WS_TRY(write_file(text));
    WS_TRY(remove_displaced());
    return store(result, text);
  }

 private:
  Result<std::optional<RelativePath>> copy_path() const {
    using Path = std::optional<RelativePath>;
    if (keep_ != Keep::both) return Path{};
    const std::string name(conflict_.path.name());
    const std::string stem(conflict_.path.stem());
    std::string folder(conflict_.path.folder());
    if (!folder.empty()) folder += '/';
    for (int number = 1; number < 1000; ++number) {
      const std::string mark = number == 1 ? " (local)" : fmt::format(" (local {})", number);
      WS_LET(RelativePath path, RelativePath::parse(folder + stem + mark + name.substr(stem.size())));
      const auto there = writer_.read(path);
      if (!there && there.error().kind == Failure::Kind::not_found) return Path(std::move(path));
      if (there && is_own_copy(path, *there)) return Path(std::move(path));
    }
    return fail(Failure::Kind::conflict, fmt::format("no free name for a copy of {}", conflict_.path.text()));
  }

  /// Written by a decision that was cut off before it could say so.
  bool is_own_copy(const RelativePath& place, const std::string& text) const {
    if (!conflict_.local || Sha256::of(text) != conflict_.local->hash) return false;
    const auto base = session_.state.base();
    return base &&
           std::none_of(base->begin(), base->end(), [&](const auto& row) { return row.second.disk_path() == place; });
  }

  Result<std::string> local_text() const {
    if (on_disk_ && conflict_.local && Sha256::of(*on_disk_) == conflict_.local->hash) return *on_disk_;
    if (texts_.local) return *texts_.local;
    return fail(Failure::Kind::disk,
                fmt::format("the local text of the conflict at {} is lost", conflict_.path.text()));
  }

  Result<std::optional<std::string>> remote_text() {
    using Text = std::optional<std::string>;
    if (!conflict_.remote) return Text{};
    if (texts_.remote && Sha256::of(*texts_.remote) == conflict_.remote->hash) return Text(texts_.remote);
    WS_LET(PulledItem item, session_.remote->content(conflict_.document));
    if (!item.content) return fail(Failure::Kind::service, "the service sent no text");
    return std::move(item.content);
  }

  /// What stands at the path from now on; empty: no file.
  Result<std::optional<std::string>> winning_text(const std::optional<std::string>& merged) {
    using Text = std::optional<std::string>;
    switch (keep_) {
      case Keep::merged: return merged;
      case Keep::remote:
      case Keep::both: return remote_text();
      case Keep::local: break;
    }
    if (!conflict_.local) return Text{};
    WS_LET(std::string text, local_text());
    return Text(std::move(text));
  }

  Result<void> write_copy(const RelativePath& copy) {
    if (!conflict_.local) return {};
    WS_LET(const std::string text, local_text());
    if (const auto there = writer_.read(copy); there && *there == text) return {};
    WS_LET(const Staged staged, writer_.stage(text));
    WS_TRY(writer_.flush_texts());
    return writer_.place(staged, copy, std::nullopt);
  }

  Result<void> write_file(const std::optional<std::string>& text) {
    std::optional<Sha256> seen;
    if (on_disk_) seen = Sha256::of(*on_disk_);
    if (!text) {
      if (seen) WS_TRY(writer_.remove(conflict_.path, *seen));
    } else if (!on_disk_ || *on_disk_ != *text) {
      WS_LET(const Staged staged, writer_.stage(*text));
      WS_TRY(writer_.flush_texts());
      WS_TRY(writer_.place(staged, conflict_.path, seen));
    }
    return writer_.flush_folders();
  }

  /// The document lay beside the place that is its own from now on. A file that was edited there stays, as a new one.
  Result<void> remove_displaced() {
    WS_LET(const auto base, session_.state.base());
    const auto row = base.find(conflict_.document);
    if (row == base.end() || !row->second.placed) return {};
    const auto text = writer_.read(*row->second.placed);
    if (!text || Sha256::of(*text) != row->second.entry.hash) return {};
    WS_LET(const git::ObjectId blob, session_.history.keep(*text));
    WS_TRY(session_.history.record_before({{.path = row->second.placed->string(), .blob = blob}}, {}));
    WS_TRY(writer_.remove(*row->second.placed, row->second.entry.hash));
    return writer_.flush_folders();
  }

  Result<void> store(const std::optional<AppliedItem>& result, const std::optional<std::string>& text) {
    const DocumentId document = result && !result->document.empty() ? result->document : conflict_.document;
    std::optional<BaseRow> row;
    if (text) {
      WS_LET(const git::ObjectId blob, session_.history.keep(*text));
      const std::uint64_t known = conflict_.remote ? conflict_.remote->revision : 1;
      row = BaseRow{.entry = {.path = conflict_.path,
                              .hash = Sha256::of(*text),
                              .revision = result && result->revision != 0 ? result->revision : known},
                    .blob = blob};
    }
    TextChanges after = {{.path = conflict_.path.string()}};
    if (row) after.front().blob = row->blob;
    WS_TRY(session_.history.record_after(after, "Resolved a conflict"));
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    if (document != conflict_.document || !row) WS_TRY(session_.state.forget_base(conflict_.document));
    if (row) WS_TRY(session_.state.put_base(document, *row));
    WS_TRY(session_.state.drop_pending(conflict_.document));
    WS_TRY(session_.state.drop_conflict(conflict_.id));
    WS_TRY(transaction.commit());
    remove_conflict_files(session_.root.path(), conflict_.id);
    return {};
  }

  Session& session_;
  const Conflict& conflict_;
  Keep keep_;
  SafeWriter writer_;
  ThreeTexts texts_;
  std::optional<std::string> on_disk_;
};

}  // namespace

Result<void> decide_conflict(Session& session,
                             const Conflict& conflict,
                             Keep keep,
                             const std::optional<std::string>& merged) {
  if (keep == Keep::merged && !merged) {
    return fail(Failure::Kind::usage, "`merged` needs the merged text", "give it with --file");
  }
  if (conflict.id.empty()) {
    return fail(Failure::Kind::conflict,
                fmt::format("the conflict at {} is not recorded on the service yet", conflict.path.text()),
                "run `ws sync` first; for two files that want one name, rename yours");
  }
  WS_LET(const std::vector<Conflict> known, session.state.conflicts());
  for (const Conflict& open : known) {
    if (open.id != conflict.id) continue;
    WS_LET(SafeWriter writer, SafeWriter::open(session.root));
    return Decision(session, open, keep, std::move(writer)).carry_out(merged);
  }
  return fail(Failure::Kind::not_found, fmt::format("there is no open conflict {} here", conflict.id));
}

}  // namespace ws::sync
