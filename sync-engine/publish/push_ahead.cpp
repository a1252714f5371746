#include "sync-engine/publish/push_ahead.hpp"

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "sync-engine/publish/publish.hpp"

namespace ws::sync {
namespace {

/// Reads each text once, the first of them before they are asked for.
class AheadReader {
 public:
  AheadReader(Session& session,
              const std::vector<NewText>& texts,
              const std::function<void(std::size_t place, const std::string& text)>& take)
      : session_(session), texts_(texts), take_(take) {}

  /// Reads a few more. False: as many wait as may.
  bool read_some() {
    for (int i = 0; i < texts_a_turn; ++i) {
      if (taken_ == texts_.size() || waiting_bytes_ > max_waiting_bytes) return false;
      auto text = read(taken_);
      if (!text) return false;  // met again when it is asked for
      waiting_bytes_ += text->size();
      waiting_.emplace(taken_ - 1, std::move(*text));
    }
    return true;
  }

  /// A text may be asked for again.
  Result<std::optional<std::string>> text(std::size_t place) {
    if (auto waiting = waiting_.extract(place)) return std::optional(std::move(waiting.mapped()));
    WS_LET(std::string text, read(place));
    return std::optional(std::move(text));
  }

 private:
  static constexpr int texts_a_turn = 8;
  static constexpr std::size_t max_waiting_bytes = std::size_t{8} << 20U;

  Result<std::string> read(std::size_t place) {
    WS_TRY(session_.check_cancelled());
    auto text = find_kept_text(session_, texts_[place].blob, texts_[place].hash);
    if (!text) return fail(Failure::Kind::integrity, "the history lacks a text");
    if (place == taken_) {
      ++taken_;
      take_(place, *text);
    }
    return std::move(*text);
  }

  Session& session_;
  const std::vector<NewText>& texts_;
  const std::function<void(std::size_t place, const std::string& text)>& take_;
  std::size_t taken_ = 0;
  std::map<std::size_t, std::string> waiting_;  ///< by place
  std::size_t waiting_bytes_ = 0;
};

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
  AheadReader reader(session, texts, take);
  WS_LET(PlanAnswer plan, session.remote->plan(binding.source_id, revision, binding.client_id, items, [&reader] {
    return reader.read_some();
  }));
  const auto next = [&reader](std::size_t place) { return reader.text(place); };
  WS_LET(PushAnswer pushed, session.remote->push(binding.source_id, plan.plan_id, items, next));
  if (!pushed.rejected.empty()) return fail(Failure::Kind::invalid, "not all of it was accepted");
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
                         .message = std::move(part.commit.request.message),
                         .device = session.options.device};
  return true;
}

}  // namespace ws::sync
