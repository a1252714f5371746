#include "sync-engine/changes/replace_file.hpp"

#include <utility>

#include <fmt/format.h>

#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/survey/documents_here.hpp"

namespace ws::sync {

Result<StateText> find_state_text(HistoryLog& log,
                                  const RelativePath& path,
                                  const std::optional<std::string>& at,
                                  const std::optional<std::string>& now) {
  if (at) {
    WS_LET(std::string text, log.text_in(*at, path));
    return StateText{.state = *at, .text = std::move(text)};
  }
  WS_LET(const std::vector<HistoryState> states, log.states({.path = path}));
  for (const HistoryState& state : states) {
    for (const HistoryChange& change : state.changes) {
      if (!change.blob) continue;
      WS_LET(std::string text, log.text(*change.blob));
      if (text != now) return StateText{.state = state.id, .text = std::move(text)};
    }
  }
  return fail(Failure::Kind::not_found,
              fmt::format("the history holds no other text of {}", path.text()),
              "`ws sync log` lists what it holds");
}

Result<void> replace_file(Session& session,
                          const DocumentId& document,
                          const RelativePath& path,
                          const std::optional<std::string>& now,
                          const std::string& text) {
  if (now == text) return {};
  FileStep step{.document = document, .to = path, .result = Sha256::of(text)};
  if (now) {
    step.from = path;
    step.seen = Sha256::of(*now);
    WS_LET(step.seen_blob, session.history.keep(*now));
  }
  WS_LET(step.result_blob, session.history.keep(text));
  return carry_out_step(session, step, ChangeOrigin::restored);
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
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const std::optional<std::string> now, read_if_there(writer, path));
  WS_LET(const StateText found, find_state_text(log, path, at, now));
  Restored restored{.path = path, .state = found.state, .changed = found.text != now};
  if (!restored.changed || dry_run) return restored;
  WS_LET(const DocumentsHere documents, find_documents_here(session));
  const auto known = documents.find(path);
  const DocumentId document = known == documents.end() ? DocumentId{} : known->second;
  WS_TRY(replace_file(session, document, path, now, found.text));
  return restored;
}

}  // namespace ws::sync
