#include "sync-engine/steps/restore.hpp"

#include <utility>

#include <fmt/format.h>

#include "sync-engine/state/history_log.hpp"
#include "sync-engine/tree/safe_write.hpp"

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

}  // namespace

Result<Restored> restore(Session& session, const RelativePath& path, const std::optional<std::string>& at) {
  WS_LET(HistoryLog log, HistoryLog::open(session.own("history.git")));
  WS_LET(SafeWriter writer, SafeWriter::open(session.root));
  std::optional<std::string> now;
  if (auto text = writer.read(path)) {
    now = std::move(*text);
  } else if (text.error().kind != Failure::Kind::not_found) {
    return fail(std::move(text).error());
  }
  WS_LET(const Found found, find_state_text(log, path, at, now));
  Restored restored{.path = path, .state = found.state, .changed = found.text != now};
  if (!restored.changed) return restored;
  std::optional<Sha256> seen;
  if (now) {
    seen = Sha256::of(*now);
    WS_LET(const git::ObjectId blob, session.history.keep(*now));
    WS_TRY(session.history.record_before({{.path = path.string(), .blob = blob}}, {}));
  }
  WS_LET(const Staged staged, writer.stage(found.text));
  WS_TRY(writer.flush_texts());
  WS_TRY(writer.place(staged, path, seen));
  WS_TRY(writer.flush_folders());
  return restored;
}

}  // namespace ws::sync
