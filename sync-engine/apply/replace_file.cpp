#include "sync-engine/apply/replace_file.hpp"

#include <utility>

#include <fmt/format.h>

#include "sync-engine/session/written_files.hpp"
#include "sync-engine/survey/documents_here.hpp"

namespace ws::sync {
namespace {

struct Found {
  std::string state = {};
  std::string text = {};
};

Result<Found> find_state_text(HistoryLog& log,
                              const RelativePath& path,
                              const std::optional<std::string>& at,
                              const std::optional<std::string>& now) {
  if (at) {
    WS_LET(std::string text, log.text_in(*at, path));
    return Found{.state = *at, .text = std::move(text)};
  }
  WS_LET(const std::vector<HistoryState> states, log.states({.path = path}));
  for (const HistoryState& state : states) {
    for (const HistoryChange& change : state.changes) {
      if (!change.blob) continue;
      WS_LET(std::string text, log.text(*change.blob));
      if (text != now) return Found{.state = state.id, .text = std::move(text)};
    }
  }
  return fail(Failure::Kind::not_found,
              fmt::format("the history holds no other text of {}", path.text()),
              "`ws sync log` lists what it holds");
}

Result<std::optional<Version>> version_at(Session& session,
                                          const RelativePath& path,
                                          const std::optional<std::string>& text) {
  if (!text) return std::optional<Version>{};
  WS_LET(const git::ObjectId blob, session.history.keep(*text));
  return std::optional(Version{.path = path, .hash = Sha256::of(*text), .blob = blob});
}

/// Before the file changes: one that is cut off in between has nothing to take back.
Result<void> record_restored(Session& session,
                             const DocumentId& document,
                             const RelativePath& path,
                             const std::optional<std::string>& now,
                             const std::string& text) {
  OperationRow row{.document = document, .origins = ChangeOrigin::restored};
  WS_LET(row.before, version_at(session, path, now));
  WS_LET(row.after, version_at(session, path, text));
  WS_TRY(session.history.flush());
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(session.state.operations().record(row));
  return transaction.commit();
}

}  // namespace

Result<void> replace_file(Session& session,
                          SafeWriter& writer,
                          const DocumentId& document,
                          const RelativePath& path,
                          const std::optional<std::string>& now,
                          const std::optional<std::string>& text) {
  if (now == text) return {};
  std::optional<Sha256> seen;
  if (now) {
    seen = Sha256::of(*now);
    WS_LET(const git::ObjectId blob, session.history.keep(*now));
    WS_TRY(session.history.record_before({{.path = path.string(), .blob = blob}}, {}));
  }
  if (text) {
    WS_LET(const Staged staged, writer.stage(*text));
    WS_TRY(writer.flush_texts());
    WS_TRY(writer.place(staged, path, seen));
  } else {
    WS_TRY(writer.remove(path, *seen));
  }
  WS_TRY(writer.flush_folders());
  if (!text) return {};
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(record_written(session, document, path, Sha256::of(*text)));
  return transaction.commit();
}

Result<std::optional<std::string>> read_if_there(const SafeWriter& writer, const RelativePath& path) {
  using Text = std::optional<std::string>;
  auto text = writer.read(path);
  if (text) return Text(std::move(*text));
  if (text.error().kind == Failure::Kind::not_found) return Text{};
  return fail(std::move(text).error());
}

Result<Restored> restore(Session& session,
                         const RelativePath& path,
                         const std::optional<std::string>& at,
                         bool dry_run) {
  WS_LET(HistoryLog log, HistoryLog::open(session.own("history.git")));
  WS_LET(SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const std::optional<std::string> now, read_if_there(writer, path));
  WS_LET(const Found found, find_state_text(log, path, at, now));
  Restored restored{.path = path, .state = found.state, .changed = found.text != now};
  if (!restored.changed || dry_run) return restored;
  WS_LET(const DocumentsHere documents, find_documents_here(session));
  const auto known = documents.find(path);
  const DocumentId document = known == documents.end() ? DocumentId{} : known->second;
  WS_TRY(record_restored(session, document, path, now, found.text));
  WS_TRY(replace_file(session, writer, document, path, now, found.text));
  return restored;
}

}  // namespace ws::sync
