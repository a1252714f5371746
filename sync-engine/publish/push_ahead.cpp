#include "sync-engine/publish/push_ahead.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "sync-engine/publish/publish.hpp"
#include "sync-engine/session/service_text.hpp"

namespace ws::sync {
namespace {

Result<PushedAhead> send_ahead(Session& session,
                               const std::vector<NewText>& texts,
                               const std::function<void(std::size_t place, const std::string& text)>& take) {
  std::vector<PushItem> items;
  items.reserve(texts.size());
  for (const NewText& each : texts) {
    WS_LET(const std::uint64_t bytes, session.history.size(each.blob));
    if (bytes > session.config.max_file_bytes) return fail(Failure::Kind::invalid, "it is too large to be synced");
    items.push_back({.kind = ActionKind::push_create, .path = each.path, .hash = each.hash, .size_bytes = bytes});
  }
  const TreeBinding& binding = session.binding;
  WS_LET(const SourceRevision revision, session.state.source_revision());
  WS_LET(PlanAnswer plan, session.remote->plan(binding.source_id, revision, binding.client_id, items));
  std::size_t taken = 0;
  const auto next = [&](std::size_t place) -> Result<std::optional<std::string>> {
    WS_TRY(session.check_cancelled());
    auto text = kept_text(session, texts[place].blob, texts[place].hash);
    if (!text) return fail(Failure::Kind::integrity, "the history lacks a text");
    if (place == taken) {
      ++taken;
      take(place, *text);
    }
    return text;
  };
  WS_LET(PushAnswer pushed, session.remote->push(binding.source_id, plan.plan_id, items, next));
  if (!pushed.rejected.empty()) return fail(Failure::Kind::invalid, "not all of it was taken");
  return PushedAhead{
      .revision = revision, .plan_id = std::move(plan.plan_id), .push_ids = std::move(pushed.push_ids), .texts = texts};
}

}  // namespace

void push_ahead(Session& session,
                const std::vector<NewText>& texts,
                const std::function<void(std::size_t place, const std::string& text)>& take) {
  session.pushed_ahead.reset();
  if (session.remote == nullptr || texts.empty() || texts.size() > session.options.commit_items) return;
  auto sent = send_ahead(session, texts, take);
  if (sent) session.pushed_ahead = std::move(*sent);
}

bool use_pushed_ahead(Session& session, CommitPart& part, SourceRevision revision) {
  std::optional<PushedAhead> ahead = std::exchange(session.pushed_ahead, std::nullopt);
  std::vector<StagedItem>& items = part.commit.items;
  if (!ahead || ahead->revision != revision || ahead->texts.size() != items.size()) return false;
  std::unordered_map<std::string_view, const NewText*> sent;
  for (const NewText& each : ahead->texts) sent.emplace(each.path.text(), &each);
  std::vector<const NewText*> texts;
  for (const StagedItem& staged : items) {
    const PushItem& item = staged.item;
    const auto found = sent.find(item.path.text());
    const bool is_new = item.kind == ActionKind::push_create && item.document.empty() && !staged.conflict;
    if (!is_new || found == sent.end() || item.hash != found->second->hash) return false;
    texts.push_back(found->second);
    sent.erase(found);
  }
  for (std::size_t i = 0; i < items.size(); ++i) items[i].blob = texts[i]->blob;
  part.commit.request = {.source_id = session.binding.source_id,
                         .plan_id = std::move(ahead->plan_id),
                         .push_ids = std::move(ahead->push_ids),
                         .expected_revision = revision,
                         .client_id = session.binding.client_id,
                         .message = std::move(part.commit.request.message)};
  return true;
}

}  // namespace ws::sync
