#include "sync-engine/run/renamed_links.hpp"

#include "sync-engine/apply/replace_file.hpp"
#include "sync-engine/relink/link_index.hpp"
#include "sync-engine/relink/relink.hpp"

namespace ws::sync {
namespace {

/// The local renames that this run pushes.
void add_rename(const Action& action, links::Renames& renamed) {
  if (action.kind == ActionKind::push_move && action.previous_path)
    renamed.emplace(action.previous_path->string(), action.path.string());
}

}  // namespace

void count_links(Session& session,
                 const Survey& survey,
                 const AttachmentSurvey& files,
                 const RunOptions& options,
                 bool only_looks,
                 Report& report) {
  if (session.config.links == LinksMode::off || options.dry_run) return;  // it would write its index
  links::Renames renamed;
  for (const Row& row : report.rows) add_rename(row.action, renamed);
  for (const Action& action : files.plan.actions) add_rename(action, renamed);
  if (!only_looks && renamed.empty()) return;
  const LinkIndex index = LinkIndex::load(session, survey.scan);
  report.broken_links = index.broken();
  report.links_of_renames = count_links_of(index, renamed);
}

Result<std::size_t> update_links(Session& session, const Survey& survey, const RunOptions& options) {
  if (session.config.links != LinksMode::keep || survey.plan.guard) return 0;
  links::Renames renamed = renames_of(survey.plan);
  if (session.knows_attachments()) {
    WS_LET(const AttachmentSurvey files, survey_attachments(session, survey, options));
    for (const Action& action : files.plan.actions) add_rename(action, renamed);
  }
  if (renamed.empty()) return 0;
  WS_LET(const RelinkPlan plan, plan_link_updates(session, survey.scan, renamed));
  if (plan.steps.empty()) return 0;
  WS_LET(SafeWriter writer, SafeWriter::open(session.root));
  std::size_t edited = 0;
  for (const RelinkedNote& note : plan.told.notes) {
    WS_LET(const RelativePath path, RelativePath::parse(note.path));
    const auto done = replace_file(session, writer, path, note.before, note.after);
    if (!done && done.error().kind != Failure::Kind::conflict) return fail(done.error());
    if (done) edited += note.links;
  }
  return edited;
}

}  // namespace ws::sync
