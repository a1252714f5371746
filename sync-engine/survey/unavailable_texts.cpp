#include "sync-engine/survey/unavailable_texts.hpp"

#include <memory>
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
    survey.unavailable.emplace(at->first, UnavailableText{.path = at->second.entry->path, .why = why->second});
    at = incoming.rows.erase(at);
  }
  return {};
}

void leave_out_damaged(Incoming& incoming, Survey& survey) {
  for (auto& [document, damaged] : incoming.damaged) {
    survey.unavailable.insert_or_assign(
        document,
        UnavailableText{.path = std::move(damaged.path), .why = std::move(damaged.why), .reason = SkipReason::damaged});
  }
}

void hold_unavailable(const Survey& survey, LocalTree& local) {
  for (const auto& [document, unavailable] : survey.unavailable) {
    if (survey.base.documents.contains(document)) local.unsyncable.emplace(document, unavailable.reason);
  }
}

std::vector<Row> rows_of_unavailable(const Survey& survey) {
  std::vector<Row> rows;
  for (const auto& [document, unavailable] : survey.unavailable) {
    const bool known = survey.base.documents.contains(document);
    Failure why = unavailable.why;
    why.what = fmt::format("{}: {}", unavailable.path.text(), why.what);
    if (unavailable.reason == SkipReason::no_room) why.hint = "make room on the disk and run the command again";
    rows.push_back({.action = {.kind = known ? ActionKind::pull_update : ActionKind::pull_create,
                               .path = unavailable.path,
                               .reason = known ? "edited on the service" : "created on the service",
                               .document = document},
                    .state = Row::State::failed,
                    .error = std::make_shared<const Failure>(std::move(why))});
  }
  return rows;
}

}  // namespace ws::sync
