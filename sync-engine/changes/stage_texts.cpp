#include "sync-engine/changes/stage_texts.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/disk/background.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {
namespace {

bool writes_text(const Action& action) {
  const bool has_text = action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_update ||
                        action.kind == ActionKind::merge;
  return has_text && !keeps_text(action);
}

Result<std::string> text_for(Session& session, const Survey& survey, const Action& action) {
  if (const auto merged = survey.merged.find(action.document);
      action.kind == ActionKind::merge && merged != survey.merged.end()) {
    return merged->second;
  }
  git::ObjectId blob = pending_blob(survey, action.document);
  // A file that comes back as both sides agreed.
  const auto agreed = survey.base_rows.find(action.document);
  if (blob.empty() && agreed != survey.base_rows.end() && agreed->second.entry.hash == *action.result)
    blob = agreed->second.blob;
  WS_LET(std::optional<std::string> text, fetch_remote_text(session, action.document, blob, *action.result));
  if (text) return std::move(*text);
  return fail(Failure::Kind::integrity,
              fmt::format("the text of {} that the service sent does not match its hash", action.path.text()));
}

/// Written while it was pulled.
std::optional<Staged> staged_ahead(const Survey& survey, const Action& action) {
  const bool is_new = action.kind == ActionKind::pull_create && !action.seen;
  return is_new && survey.ahead ? survey.ahead->take(action.document, *action.result) : std::nullopt;
}

}  // namespace

git::ObjectId pending_blob(const Survey& survey, const DocumentId& document) {
  const auto found = survey.pending.find(document);
  return found == survey.pending.end() ? git::ObjectId{} : found->second.blob;
}

bool keeps_text(const Action& action) {
  return action.kind == ActionKind::merge && action.result && action.seen == action.result;
}

bool ends_run(const Failure& failure) { return !is_about_one(failure) && failure.kind != Failure::Kind::disk; }

StagedTexts stage_texts(Session& session,
                        const Survey& survey,
                        SafeWriter& writer,
                        std::span<const Action* const> actions,
                        const std::function<void()>& next) {
  StagedTexts outcomes(actions.size());
  const bool is_large = actions.size() >= jobs_worth_a_thread;
  Background disk(is_large ? OwnThread::one : OwnThread::none);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    next();
    const Action& action = *actions[i];
    if (!writes_text(action)) continue;
    if (auto ahead = staged_ahead(survey, action)) {
      outcomes[i] = std::move(*ahead);
      continue;
    }
    auto text = text_for(session, survey, action);
    if (!text) {
      const bool is_end = ends_run(text.error());
      outcomes[i] = fail(std::move(text).error());
      if (is_end) break;
      continue;
    }
    const bool as_new = is_large && !action.seen;
    disk.add(std::move(*text), [&writer, &action, &outcome = outcomes[i], as_new](const std::string& held) {
      outcome = as_new ? writer.stage_new(held, *action.result) : writer.stage(held, *action.result);
    });
  }
  disk.wait();
  return outcomes;
}

}  // namespace ws::sync
