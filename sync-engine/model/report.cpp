#include "sync-engine/model/report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

namespace ws::sync {
std::string_view name(Row::State state) {
  switch (state) {
    case Row::State::planned: return "planned";
    case Row::State::staged: return "staged";
    case Row::State::done: return "done";
    case Row::State::failed: return "failed";
  }
  return "";
}

namespace {

Json json_of(const Failure& failure) {
  return Json{{"kind", ws::name(failure.kind)},
              {"code", failure.code.empty() ? Json() : Json(failure.code)},
              {"message", failure.what},
              {"hint", failure.hint.empty() ? Json() : Json(failure.hint)}};
}

Json json_of(const Row& row) {
  const Action& action = row.action;
  Json value{{"path", action.path.string()},
             {"action", name(action.kind)},
             {"reason", action.reason},
             {"document_id", action.document.empty() ? Json() : Json(action.document.text())},
             {"previous_path", action.previous_path ? Json(action.previous_path->string()) : Json()},
             {"state", name(row.state)},
             {"error", row.error ? json_of(*row.error) : Json()}};
  if (action.attachment) value["what"] = "attachment";
  return value;
}

Json to_json(const Guard& guard) {
  return {{"deletes_here", guard.deletes_here},
          {"deletes_there", guard.deletes_there},
          {"emptied_here", guard.emptied_here},
          {"emptied_there", guard.emptied_there},
          {"absent", guard.absent},
          {"tracked", guard.tracked},
          {"empty_listing", guard.empty_listing},
          {"foreign_source", guard.foreign_source},
          {"files_deleted_here", guard.files_deleted_here},
          {"files_deleted_there", guard.files_deleted_there},
          {"files_tracked", guard.files_tracked}};
}

}  // namespace

std::string_view name(Remark::Word word) {
  switch (word) {
    case Remark::Word::unportable_name: return "unportable_name";
    case Remark::Word::same_revision: return "same_revision";
    case Remark::Word::state_remade: return "state_remade";
    case Remark::Word::attachments_off: return "attachments_off";
    case Remark::Word::cut_off: return "cut_off";
    case Remark::Word::manifest_damaged: return "manifest_damaged";
    case Remark::Word::foreign_file: return "foreign_file";
    case Remark::Word::open_to_others: return "open_to_others";
    case Remark::Word::agent_note: return "agent_note";
    case Remark::Word::asset_in_doubt: return "asset_in_doubt";
  }
  return "";
}

void Row::fail(Failure failure) {
  state = State::failed;
  error = std::make_shared<const Failure>(std::move(failure));
}

Json to_json(const Report& report) {
  Json actions = Json::array();
  std::map<std::string_view, std::size_t> by_kind;
  for (const Row& row : report.rows) {
    actions.push_back(json_of(row));
    ++by_kind[name(row.action.kind)];
  }
  Json counts = Json::object();
  for (const auto& [kind, count] : by_kind) counts[std::string(kind)] = count;
  counts["failed"] = std::count_if(
      report.rows.begin(), report.rows.end(), [](const Row& row) { return row.state == Row::State::failed; });
  Json conflicts = Json::array();
  for (const Conflict& conflict : report.conflicts) {
    conflicts.push_back({{"id", conflict.id.empty() ? Json() : Json(conflict.id)},
                         {"path", conflict.path.string()},
                         {"kind", name(conflict.kind())},
                         {"document_id", conflict.document.empty() ? Json() : Json(conflict.document.text())}});
  }
  Json skipped = Json::array();
  for (const Skipped& each : report.skipped) skipped.push_back({{"path", each.path}, {"reason", name(each.reason)}});
  Json detached = Json::array();
  for (const Detached& each : report.detached) {
    detached.push_back({{"path", each.path.string()}, {"document_id", each.document.text()}, {"reason", each.reason}});
  }
  Json remarks = Json::array();
  for (const Remark& remark : report.remarks) {
    Json told{{"path", remark.path.empty() ? Json() : Json(remark.path)}, {"remark", name(remark.word)}};
    if (!remark.note.empty()) told["note"] = remark.note;
    if (!remark.by.empty()) told["by"] = remark.by;
    remarks.push_back(std::move(told));
  }
  Json value{{"v", 1},
             {"source_id", report.source_id},
             {"base_revision", report.base_revision.number},
             {"revision", report.revision.number},
             {"actions", std::move(actions)},
             {"conflicts", std::move(conflicts)},
             {"skipped", std::move(skipped)},
             {"detached", std::move(detached)},
             {"counts", std::move(counts)},
             {"clean", report.clean},
             {"remarks", std::move(remarks)},
             {"not_included", report.not_included}};
  if (report.not_synced > 0) value["not_synced"] = report.not_synced;
  if (!report.unread_links.empty()) value["unread_links"] = report.unread_links;
  if (report.broken_links > 0) value["broken_links"] = report.broken_links;
  if (report.links_of_renames > 0) value["links_broken_by_renames"] = report.links_of_renames;
  if (report.links_mended > 0) value["links_mended"] = report.links_mended;
  if (report.operation) value["operation"] = *report.operation;
  if (report.guard) value["guard"] = to_json(*report.guard);
  if (report.held_back) value["held_back"] = to_json(*report.held_back);
  if (report.growth) value["growth"] = {{"files", report.growth->files}, {"bytes", report.growth->bytes}};
  if (report.ended_by) value["ended_by"] = json_of(*report.ended_by);
  return value;
}

}  // namespace ws::sync
