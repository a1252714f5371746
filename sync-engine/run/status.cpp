#include "sync-engine/run/status.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "api-client/base/json.hpp"
#include "sync-engine/attachments/staged_files.hpp"
#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/attachments/tell_attachments.hpp"
#include "sync-engine/binding/status_socket.hpp"
#include "sync-engine/conflicts/open_conflicts.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/reconcile/freed_places.hpp"
#include "sync-engine/run/begin.hpp"
#include "sync-engine/run/preview.hpp"
#include "sync-engine/run/report_rows.hpp"
#include "sync-engine/run/round.hpp"
#include "sync-engine/survey/held_documents.hpp"
#include "sync-engine/survey/incoming.hpp"
#include "sync-engine/survey/survey.hpp"
#include "sync-engine/tree/hash.hpp"

namespace ws::sync {
namespace {

/// Longer than a tick of the clock that file times are taken from.
constexpr std::chrono::milliseconds settled_after{50};

/// What decides the answer of a status, beside the tree itself. Caches do not, nor does SQLite's index of its log.
constexpr const char* files_of_state[] = {"state.db", "state.db-wal", "config.yaml", "source.json"};

/// Folders with hidden names are not watched.
bool shows_hidden_file(const ShownFiles& shown) {
  return std::ranges::any_of(shown.notes, [](const auto& each) { return is_hidden_name(each.first.text()); }) ||
         std::ranges::any_of(shown.nowhere, is_hidden_name);
}

bool has_nothing_to_tell(const Report& report) {
  return report.clean && report.rows.empty() && report.conflicts.empty() && report.detached.empty() &&
         report.remarks.empty() && !report.guard && !report.held_back && !report.ended_by && !report.partial;
}

/// The files that a run takes away before it looks again for room for notes.
std::set<RelativePath> files_in_the_way(const Survey& survey, const AttachmentSurvey& files) {
  if (files.guard) return {};
  const FreedPlaces freed(files.plan.actions);
  const bool any = std::ranges::any_of(survey.plan.conflicts, [&](const Conflict& each) {
    return each.which == ConflictCase::not_synced && freed.overlaps(each.path);
  });
  return any ? freed.places() : std::set<RelativePath>();
}

/// The notes that a run takes away before it looks for room for files.
std::set<RelativePath> notes_in_the_way(const Survey& survey, const AttachmentSurvey& files) {
  if (survey.plan.guard || files.guard) return {};
  const FreedPlaces freed(survey.plan.actions);
  const bool any =
      std::ranges::any_of(files.plan.skipped, [&](const Skipped& each) { return freed.has_room_for(each); });
  return any ? freed.places() : std::set<RelativePath>();
}

Result<Report> look(Session& session, const RunOptions& options, AttachmentSurvey& files) {
  WS_LET(Survey survey, ws::sync::survey(session, options, PullMode::inspect));
  RunOptions looking = options;
  looking.looks_only = true;
  WS_LET(const RelinkPlan kept, plan_kept_links(session, survey, looking));
  TextEdits edits;
  if (!kept.steps.empty()) {
    for (const RelinkedNote& note : kept.told.notes) {
      WS_LET(RelativePath path, RelativePath::parse(note.path));
      edits.emplace(std::move(path), note.after);
    }
    WS_LET(survey, ws::sync::survey(session, options, PullMode::inspect, edits));
  }
  WS_LET(files, survey_attachments(session, survey, looking));
  if (auto leaving = notes_in_the_way(survey, files); !leaving.empty()) {
    looking.absent.merge(leaving);
    WS_LET(files, survey_attachments(session, survey, looking));
  }
  if (auto leaving = files_in_the_way(survey, files); !leaving.empty()) {
    RunOptions later = options;
    later.absent.merge(leaving);
    WS_LET(survey, ws::sync::survey(session, later, PullMode::inspect, std::move(edits)));
  }
  WS_LET(Report report, report_of(session, survey));
  count_links(session, survey, files, options, true, report);
  if (kept.told.links > 0) {
    report.links_mended = kept.told.links;
    report.links_of_renames = kept.told.left;
  }
  const std::vector<Row> unavailable = rows_of_unavailable(survey);
  report.rows.insert(report.rows.end(), unavailable.begin(), unavailable.end());
  std::set<std::string> told;
  for (const Conflict& conflict : report.conflicts) told.insert(conflict.id);
  const HiddenFiles out_of_sight(survey);
  for (const Conflict& known : survey.known_conflicts) {
    if (!told.contains(known.id) && out_of_sight.hides(known)) report.conflicts.push_back(known);
  }
  report.clean = report.clean && unavailable.empty() && report.conflicts.empty();
  if (options.name_others) {
    survey.scan.each_other([&report](const std::string& path) { report.others.push_back(path); });
    std::ranges::sort(report.others);
  }
  WS_TRY(mark_staged(session, report.rows));
  add_to_report(files, report);
  WS_TRY(mark_staged_files(session, report.rows));
  WS_TRY(preview_later_rounds(session, std::move(survey), options, report));
  WS_LET(const bool cut_off, was_cut_off(session));
  if (cut_off) report.remarks.push_back({.word = Remark::Word::cut_off});
  return report;
}

/// Empty: a file has a name that JSON cannot hold.
std::string text_of(const Report& report, const std::string& state) {
  Json skipped = Json::array();
  for (const Skipped& each : report.skipped) skipped.push_back({each.path, name(each.reason)});
  const Json text = {{"v", 1},
                     {"state", state},
                     {"revision", report.revision.number},
                     {"skipped", std::move(skipped)},
                     {"not_included", report.not_included},
                     {"others", report.others},
                     {"not_synced", report.not_synced},
                     {"unread_links", report.unread_links},
                     {"broken_links", report.broken_links}};
  return is_utf8(text) ? dump(text) : std::string();
}

/// Empty: not the status of this tree as it is now.
std::optional<Report> report_in(std::string_view text, const Session& session, const RunOptions& options) {
  const auto told = parse_bounded(text, {.max_bytes = max_status_bytes});
  if (!told || find_integer(*told, "v") != 1) return std::nullopt;
  const std::string state = state_stamp(session.ws);
  const auto revision = find_integer(*told, "revision");
  const Json* const skipped = find(*told, "skipped");
  if (state.empty() || find_text(*told, "state") != state || !revision || skipped == nullptr) return std::nullopt;
  Report report{.source_id = session.binding.source_id};
  report.base_revision = report.revision = SourceRevision{static_cast<std::uint64_t>(*revision)};
  for (const Json& each : *skipped) {
    const bool is_pair = each.is_array() && each.size() == 2 && each[0].is_string() && each[1].is_string();
    const auto reason = is_pair ? find_skip_reason(each[1].get<std::string>()) : std::nullopt;
    if (!reason) return std::nullopt;
    report.skipped.push_back({.path = each[0].get<std::string>(), .reason = *reason});
  }
  report.not_included = static_cast<std::uint64_t>(find_integer(*told, "not_included").value_or(0));
  report.only_notes = session.config.attachments == AttachmentMode::off;
  report.not_synced = static_cast<std::uint64_t>(find_integer(*told, "not_synced").value_or(0));
  report.unread_links = find_texts(*told, "unread_links");
  report.broken_links = static_cast<std::uint64_t>(find_integer(*told, "broken_links").value_or(0));
  if (options.name_others) report.others = find_texts(*told, "others");
  return report;
}

/// Whether the service has nothing that came after the revision. Fails as a pull does.
Result<bool> is_quiet_there(Session& session, SourceRevision revision) {
  bool came = false;
  const IncomingOptions options{.since_revision = revision, .before_first = [&came]() -> Result<void> {
                                  came = true;
                                  return fail(Failure::Kind::cancelled, "there is something to compare");
                                }};
  const auto incoming = pull_incoming(session, {}, {}, options);
  if (came) return false;
  if (!incoming) return fail(incoming.error());
  return !incoming->any && !incoming->end.complete && !incoming->foreign && incoming->parts.empty() &&
         incoming->end.revision.value_or(revision) == revision;
}

Result<std::optional<Report>> told_by_watch(Session& session, const RunOptions& options) {
  const bool can_ask = options.offline || session.remote != nullptr;
  const bool is_plain = !options.whole && !options.only && !options.busy;
  const auto text = can_ask && is_plain ? ask_watch(session.ws) : std::nullopt;
  auto report = text ? report_in(*text, session, options) : std::nullopt;
  if (!report || options.offline) return report;
  WS_LET(const bool is_quiet, is_quiet_there(session, report->revision));
  if (!is_quiet) report.reset();
  return report;
}

}  // namespace

Result<Report> status_of(Session& session, const RunOptions& options) {
  WS_LET(auto told, told_by_watch(session, options));
  if (told) return std::move(*told);
  AttachmentSurvey files;
  return look(session, options, files);
}

Result<std::optional<CleanStatus>> make_clean_status(Session& session) {
  CleanStatus status{.state = state_stamp(session.ws)};
  if (status.state.empty()) return std::nullopt;
  AttachmentSurvey files;
  WS_LET(const Report report, look(session, {.offline = true, .name_others = true}, files));
  if (!has_nothing_to_tell(report) || shows_hidden_file(files.shown)) return std::nullopt;
  status.text = text_of(report, status.state);
  if (status.text.empty() || status.text.size() > max_status_bytes) return std::nullopt;
  return status;
}

std::string state_stamp(const WsFolder& ws) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t settled = std::chrono::nanoseconds(now - settled_after).count();
  std::string stamps;
  for (const char* const name : files_of_state) {
    struct statx status {};
    const bool is_there = ::statx(AT_FDCWD, ws.through(name).c_str(), AT_SYMLINK_NOFOLLOW, stamp_mask, &status) == 0;
    // An empty log comes and goes with those who have the database open.
    FileStamp stamp = is_there && status.stx_size > 0 ? stamp_of(status) : FileStamp{};
    // SQLite sets the owner of its log whenever root opens the database.
    if (std::string_view(name).ends_with("-wal")) stamp.changed_ns = 0;
    if (std::max(stamp.modified_ns, stamp.changed_ns) > settled) return {};
    stamps.append(reinterpret_cast<const char*>(&stamp), sizeof stamp);
  }
  return Sha256::of(stamps).hex();
}

}  // namespace ws::sync
