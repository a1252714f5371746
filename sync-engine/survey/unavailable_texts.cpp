#include "sync-engine/survey/unavailable_texts.hpp"

#include <utility>

#include <fmt/format.h>

namespace ws::sync {

Result<void> write_incoming(Session& session, Incoming& incoming, Survey& survey) {
  WS_LET(const auto unwritten, session.history.flush_what_fits());
  for (auto at = incoming.rows.begin(); at != incoming.rows.end();) {
    const auto why = unwritten.find(at->second.blob);
    if (why == unwritten.end()) {
      ++at;
      continue;
    }
    survey.left_out.emplace(at->first, LeftOut{.path = at->second.entry->path, .why = why->second});
    at = incoming.rows.erase(at);
  }
  return {};
}

void leave_out_damaged(Incoming& incoming, Survey& survey) {
  for (auto& [document, damaged] : incoming.damaged) {
    survey.left_out.insert_or_assign(
        document,
        LeftOut{.path = std::move(damaged.path), .why = std::move(damaged.why), .reason = Hindrance::damaged});
  }
}

void hold_left_out(const Survey& survey, LocalTree& local) {
  for (const auto& [document, left_out] : survey.left_out) {
    if (survey.base.documents.contains(document)) local.hindered.emplace(document, left_out.reason);
  }
}

std::vector<Row> rows_of_left_out(const Survey& survey) {
  std::vector<Row> rows;
  for (const auto& [document, left_out] : survey.left_out) {
    const bool known = survey.base.documents.contains(document);
    Failure why = left_out.why;
    why.what = fmt::format("{}: {}", left_out.path.text(), why.what);
    if (left_out.reason == Hindrance::no_room) why.hint = "make room on the disk and run the command again";
    rows.push_back({.action = {.kind = known ? ActionKind::pull_update : ActionKind::pull_create,
                               .path = left_out.path,
                               .reason = known ? "edited on the service" : "created on the service",
                               .document = document},
                    .state = Row::State::failed,
                    .error = std::move(why)});
  }
  return rows;
}

}  // namespace ws::sync
