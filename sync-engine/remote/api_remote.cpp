#include "sync-engine/remote/api_remote.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/client/client.hpp"
#include "api-client/client/page_guard.hpp"
#include "api-client/contract/problem.hpp"
#include "sync-engine/remote/api_assets.hpp"

namespace ws::sync {
namespace {

// `decisions.md`, "Local Markdown sync".
constexpr std::size_t pull_page_items = 1000;
constexpr std::size_t plan_part_items = 10'000;
constexpr std::size_t push_batch_items = 500;
constexpr std::uint64_t push_batch_bytes = std::uint64_t{6} << 20U;  // of 8 MiB, as JSON
constexpr std::uint64_t max_push_bytes = std::uint64_t{8} << 20U;    // `decisions.md`, "push"
constexpr std::size_t max_divisions = 32;  // of one push: a body that is wrong as a whole is no reason for hundreds
constexpr std::size_t pushes_in_flight = 4;
// So often requests under way are moved while the next batch is made.
constexpr std::size_t items_between_moves = 32;
constexpr std::size_t reads_in_flight = 8;
constexpr std::chrono::milliseconds turn{1000};

/// How long a text is as JSON: a control character takes six bytes.
std::uint64_t bytes_as_json(std::string_view text) {
  std::uint64_t bytes = text.size();
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) bytes += 5;
    if (c == '"' || c == '\\') ++bytes;
  }
  return bytes;
}

/// `decisions.md`, "resolve".
std::string_view word_of(Keep keep) {
  switch (keep) {
    case Keep::local: return "keep_local";
    case Keep::remote: return "keep_remote";
    case Keep::both: return "keep_both";
    case Keep::merged: return "merged";
  }
  return "";
}

Json number_or_null(DocumentRevision revision) { return revision.is_known() ? Json(revision.number) : Json(); }
Json hex_or_null(const std::optional<Sha256>& hash) { return hash ? Json(hash->hex()) : Json(); }
Json path_or_null(const std::optional<RelativePath>& path) { return path ? Json(service_form(path->text())) : Json(); }

class ApiRemote final : public Remote {
 public:
  ApiRemote(Client& client, PullBounds bounds) : client_(client), bounds_(bounds), assets_(make_api_assets(client)) {}

  Assets* assets() override { return assets_.get(); }

  Result<SourceInfo> create_source(const SourceRequest& request) override {
    Json body{{"name", request.name}};
    if (!request.project_id.empty()) body["project_id"] = request.project_id;
    if (!request.root_node_id.empty()) body["root_node_id"] = request.root_node_id;
    constexpr const char* find_it =
        "look for the new source on the service; if it is there, join it with `ws sync init --source ID`";
    auto called = client_.call({.operation = "sync.source_create", .body = std::move(body)});
    if (!called && called.error().kind == Failure::Kind::unknown_outcome) called.error().hint = find_it;
    WS_LET(const Reply reply, std::move(called));
    auto made = read_source(*reply.json);
    if (made) return made;
    // The service took it: what it made has no name here, and making it again would make two.
    Failure failure = std::move(made).error();
    failure.kind = Failure::Kind::unknown_outcome;
    failure.call = {.operation = "sync.source_create", .http_status = reply.status, .applied = Applied::unknown};
    failure.hint = find_it;
    return fail(std::move(failure));
  }

  Result<SourceInfo> find_source(const std::string& source_id) override {
    WS_LET(const Reply reply, client_.call({.operation = "sync.source_get", .parameters = {{"source_id", source_id}}}));
    return read_source(*reply.json, source_id);
  }

  Result<PullEnd> pull(const std::string& source_id,
                       SourceRevision since_revision,
                       const std::function<Result<void>(PulledItem item)>& visit) override {
    PullEnd end;
    PageGuard guard("sync.pull");
    PullTotal total{.bounds = bounds_};
    std::string cursor;
    for (bool first = true;; first = false) {
      const std::uint64_t before = total.items;
      Call call{.operation = "sync.pull",
                .parameters = {{"source_id", source_id},
                               {"since_revision", std::to_string(since_revision.number)},
                               {"limit", std::to_string(pull_page_items)}}};
      if (!cursor.empty()) call.parameters.emplace_back("cursor", cursor);
      WS_LET(const Json page, stream_page(client_, call, total, visit));
      if (first) end = read_end(page, since_revision);
      WS_LET(cursor, guard.cursor_of(page));
      if (cursor.empty()) return end;
      WS_TRY(guard.go_on(cursor, total.items - before));
    }
  }

  Result<PulledItem> content(const DocumentId& document) override {
    return read_content(document, client_.call(call_for(document)));
  }

  Result<void> contents(
      const std::vector<DocumentId>& documents,
      const std::function<Result<void>(const DocumentId& document, Result<PulledItem> item)>& visit) override {
    std::size_t under_way = 0;
    Result<void> outcome;
    const auto take = [&](const DocumentId& document, const Result<Reply>& reply) {
      --under_way;
      if (outcome) outcome = visit(document, read_content(document, reply));
    };
    for (const DocumentId& document : documents) {
      while (under_way >= reads_in_flight) client_.run(turn);
      if (!outcome) break;
      ++under_way;
      client_.start(call_for(document), [&take, &document](const Result<Reply>& reply) { take(document, reply); });
    }
    while (under_way > 0) client_.run(turn);
    return outcome;
  }

  void expect_plan(const std::string& source_id,
                   SourceRevision base_revision,
                   const std::string& client_id,
                   const std::vector<PushItem>& items) override {
    expected_body_ = plan_body(source_id, base_revision, client_id, items, 0);
    expected_plan_ = begin({.operation = "sync.plan", .body = expected_body_});
  }

  Result<PlanAnswer> plan(const std::string& source_id,
                          SourceRevision base_revision,
                          const std::string& client_id,
                          const std::vector<PushItem>& items,
                          const std::function<bool()>& meanwhile) override {
    PlanAnswer answer;
    for (std::size_t first = 0; first == 0 || first < items.size(); first += plan_part_items) {
      Json body = plan_body(source_id, base_revision, client_id, items, first);
      Begun asked = std::exchange(expected_plan_, nullptr);
      if (!asked || body != expected_body_) asked = begin({.operation = "sync.plan", .body = std::move(body)});
      WS_LET(const Reply reply, await(*asked, meanwhile));
      answer.plan_id = find_text(*reply.json, "plan_id").value_or(find_text(*reply.json, "id").value_or(""));
      answer.revision = {read_number(*reply.json, "revision")};
      if (answer.plan_id.empty()) return fail(unusable("a plan without an id"));
    }
    return answer;
  }

  Result<PushAnswer> push(const std::string& source_id,
                          const std::string& plan_id,
                          const std::vector<PushItem>& items,
                          const TextOfItem& text) override;
  Result<CommitAnswer> commit(const CommitRequest& request) override;
  Result<ServiceConflict> find_conflict(const std::string& conflict_id) override;
  Result<std::optional<AppliedItem>> resolve(const ResolveRequest& request) override;

 private:
  using Begun = std::shared_ptr<std::optional<Result<Reply>>>;

  Begun begin(Call call) {
    auto reply = std::make_shared<std::optional<Result<Reply>>>();
    client_.start(std::move(call), [reply](Result<Reply> ended) { reply->emplace(std::move(ended)); });
    return reply;
  }

  Result<Reply> await(std::optional<Result<Reply>>& reply, const std::function<bool()>& meanwhile) {
    bool is_idle = !meanwhile;
    while (!reply) {
      client_.run(is_idle ? turn : std::chrono::milliseconds{0});
      if (!reply && !is_idle) is_idle = !meanwhile();
    }
    return std::move(*reply);
  }

  static Call call_for(const DocumentId& document) {
    return {.operation = "docs.get", .parameters = {{"document_id", document.text()}}};
  }

  static Result<PulledItem> read_content(const DocumentId& document, const Result<Reply>& reply) {
    if (!reply) return fail(reply.error());
    PulledItem item = read_item(*reply->json);
    if (item.damage) return fail(damaged_text(document, "does not match its hash"));
    item.document = document;
    item.path.clear();  // the document says where its page is, not where its file is
    return item;
  }

  /// Of the part of the items that begins at `first`.
  static Json plan_body(const std::string& source_id,
                        SourceRevision base_revision,
                        const std::string& client_id,
                        const std::vector<PushItem>& items,
                        std::size_t first) {
    Json entries = Json::array();
    for (std::size_t i = first; i < std::min(items.size(), first + plan_part_items); ++i) {
      entries.push_back(entry_of(items[i]));
    }
    return {{"source_id", source_id},
            {"base_revision", base_revision.number},
            {"client_id", client_id},
            {"complete", false},
            {"entries", std::move(entries)}};
  }

  static Json entry_of(const PushItem& item) {
    return ObjectBuilder(6)
        .add("path", service_form(item.path.text()))
        .add("document_id", text_or_null(item.document.text()))
        .add("content_sha256", hex_or_null(item.hash))
        .add("size_bytes", item.size_bytes)
        .add("base_content_revision", number_or_null(item.revision))
        .add("previous_path", path_or_null(item.previous_path))
        .take();
  }

  /// The counter of the first page: what changes while the others are read comes again with the next pull.
  static PullEnd read_end(const Json& page, SourceRevision since_revision) {
    PullEnd end{.source_id = find_text(page, "source_id").value_or("")};
    if (const auto revision = find_number(page, "revision")) end.revision = {*revision};
    const auto honoured = find_number(page, "since_revision");
    // Where the service does not say what it began after, nobody knows whether a missing document is gone.
    end.complete = since_revision == SourceRevision{} || (honoured && *honoured < since_revision.number);
    return end;
  }

  Client& client_;
  PullBounds bounds_;
  std::unique_ptr<Assets> assets_;
  Json expected_body_;
  Begun expected_plan_;  ///< null: none was asked for
};

struct PushBatch {
  std::size_t first = 0, end = 0;  ///< of the items of the push
};

/// A body that the service will not take for what it holds: one of the items may be at fault alone.
bool is_about_content(const Failure& failure) {
  return failure.call.http_status == 413 || failure.code == "validation_error";
}

/// Sends the batches of one push, a few at a time. A batch that is refused for what it holds is sent again in halves,
/// until the item at fault is alone: it is rejected, the others are not.
class Pusher {
 public:
  Pusher(Client& client,
         const std::string& source_id,
         const std::string& plan_id,
         const std::vector<PushItem>& items,
         const TextOfItem& text)
      : client_(client), source_id_(source_id), plan_id_(plan_id), items_(items), text_(text) {}

  Result<PushAnswer> push() {
    auto pushed = push_all();
    while (under_way_ > 0) client_.run(turn);  // what is under way refers to this
    if (!pushed) return fail(std::move(pushed).error());
    // Refused item by item, all of them: it is no item that is at fault.
    if (!failure_ && items_.size() > 1 && answer_.rejected.size() == items_.size()) failure_ = std::move(refusal_);
    if (failure_) return fail(std::move(*failure_));
    return std::move(answer_);
  }

 private:
  Result<void> push_all() {
    WS_TRY(add({.first = 0, .end = items_.size()}));
    while (!failure_) {
      while (under_way_ > 0) client_.run(turn);
      if (again_.empty()) return {};
      const std::vector<PushBatch> halves = std::exchange(again_, {});
      for (const PushBatch& half : halves) WS_TRY(add(half));
    }
    return {};
  }

  Result<void> add(const PushBatch& range) {
    for (std::size_t place = range.first; place < range.end; ++place) {
      const PushItem& item = items_[place];
      std::optional<std::string> text;
      if (item.hash && item.kind != ActionKind::push_move) {
        WS_LET(text, text_(place));
        if (!text) continue;
        if (text->size() > max_push_bytes) {
          reject(place, "too_large", fmt::format("{} bytes, one push holds at most {}", text->size(), max_push_bytes));
          continue;
        }
      }
      WS_TRY(add(place, item, std::move(text)));
    }
    return batch_.empty() ? Result<void>() : send();
  }

  Result<void> add(std::size_t place, const PushItem& item, std::optional<std::string> text) {
    const std::uint64_t bytes = text ? bytes_as_json(*text) : 0;
    const bool is_full =
        batch_.size() >= push_batch_items || (batch_bytes_ + bytes > push_batch_bytes && !batch_.empty());
    if (is_full || has_path_of(item)) WS_TRY(send());
    if (item.hash) batch_paths_.try_emplace(item.path.text(), &item);
    if (under_way_ > 0 && batch_.size() % items_between_moves == 0) client_.run(std::chrono::milliseconds{0});
    if (batch_.empty()) batch_places_.first = place;
    batch_places_.end = place + 1;
    batch_bytes_ += bytes + 400;
    batch_.push_back(ObjectBuilder(7)
                         .add("path", service_form(item.path.text()))
                         .add("action", name(item.kind))
                         .add("document_id", text_or_null(item.document.text()))
                         .add("content", text ? Json(std::move(*text)) : Json())
                         .add("content_sha256", hex_or_null(item.hash))
                         .add("expected_content_revision", number_or_null(item.revision))
                         .add("previous_path", path_or_null(item.previous_path))
                         .take());
    return {};
  }

  /// Whether an item of another document in this batch has the path: a file can be in two conflicts, and a service may
  /// refuse the second of two twins in one push.
  bool has_path_of(const PushItem& item) const {
    if (!item.hash) return false;
    const auto other = batch_paths_.find(item.path.text());
    return other != batch_paths_.end() && other->second->document != item.document;
  }

  Result<void> send() {
    while (under_way_ >= pushes_in_flight && !failure_) client_.run(turn);
    if (failure_) return fail(*failure_);
    Json body{{"source_id", source_id_}, {"plan_id", plan_id_}, {"items", std::move(batch_)}};
    batch_ = Json::array();
    batch_paths_.clear();
    batch_bytes_ = 0;
    ++under_way_;
    client_.start({.operation = "sync.push", .body = std::move(body)},
                  [this, places = batch_places_](Result<Reply> reply) {
                    --under_way_;
                    take(std::move(reply), places);
                  });
    client_.run(std::chrono::milliseconds{0});
    return {};
  }

  /// False: the failure is that of the whole push.
  bool divide(const Failure& failure, const PushBatch& places) {
    if (!is_about_content(failure) || divisions_ == max_divisions) return false;
    refusal_ = failure;
    if (places.end - places.first == 1) {
      reject(places.first, failure.call.http_status == 413 ? "too_large" : failure.code, failure.what);
      return true;
    }
    ++divisions_;
    const std::size_t middle = places.first + (places.end - places.first) / 2;
    again_.push_back({.first = places.first, .end = middle});
    again_.push_back({.first = middle, .end = places.end});
    return true;
  }

  void reject(std::size_t place, std::string code, std::string message) {
    answer_.rejected.push_back(
        {.path = service_form(items_[place].path.text()), .code = std::move(code), .message = std::move(message)});
  }

  void take(Result<Reply> reply, const PushBatch& places) {
    if (!reply) {
      if (!divide(reply.error(), places) && !failure_) failure_ = std::move(reply).error();
      return;
    }
    auto push_id = find_text(*reply->json, "push_id");
    if (!push_id) push_id = find_text(*reply->json, "id");
    if (push_id) {
      answer_.push_ids.push_back(std::move(*push_id));
    } else if (!failure_) {
      failure_ = Failure{
          .kind = Failure::Kind::unknown_outcome,
          .what = "the service did not report the id of the staged texts",
          .hint = "nothing of them is published; run the same command again",
          .code = "unusable_answer",
          .call = {
              .operation = "sync.push", .http_status = reply->status, .applied = Applied::unknown, .retryable = true}};
    }
    const Json* rejected = find(*reply->json, "rejected");
    if (rejected == nullptr || !rejected->is_array()) return;
    for (const Json& each : *rejected) {
      answer_.rejected.push_back({.path = find_text(each, "path").value_or(""),
                                  .code = find_text(each, "code").value_or(""),
                                  .message = find_text(each, "message").value_or("")});
    }
  }

  Client& client_;
  const std::string& source_id_;
  const std::string& plan_id_;
  const std::vector<PushItem>& items_;
  const TextOfItem& text_;
  std::vector<PushBatch> again_ = {};
  std::size_t divisions_ = 0;
  PushBatch batch_places_ = {};
  Json batch_ = Json::array();
  std::unordered_map<std::string_view, const PushItem*> batch_paths_ = {};
  std::uint64_t batch_bytes_ = 0;
  std::size_t under_way_ = 0;
  PushAnswer answer_;
  std::optional<Failure> failure_;
  std::optional<Failure> refusal_;  ///< of a body that was divided
};

Result<PushAnswer> ApiRemote::push(const std::string& source_id,
                                   const std::string& plan_id,
                                   const std::vector<PushItem>& items,
                                   const TextOfItem& text) {
  return Pusher(client_, source_id, plan_id, items, text).push();
}

namespace {

/// With the machine that it comes from, where the API's limit leaves room for it.
std::string message_of(const CommitRequest& request) {
  constexpr std::size_t max_message = 500;
  if (request.device.empty()) return request.message;
  const std::string name = "on " + request.device;
  const std::string whole = request.message.empty() ? "ws sync " + name : request.message + " (" + name + ")";
  return utf8::code_points(whole) <= max_message ? whole : request.message;
}

}  // namespace

Result<CommitAnswer> ApiRemote::commit(const CommitRequest& request) {
  Json body{{"source_id", request.source_id},
            {"plan_id", request.plan_id},
            {"push_ids", request.push_ids},
            {"expected_revision", request.expected_revision.number},
            {"client_id", request.client_id}};
  if (std::string message = message_of(request); !message.empty()) body["message"] = std::move(message);
  auto reply = client_.call({.operation = "sync.commit", .body = std::move(body)});
  if (reply) return read_commit(*reply->json);
  // A service may answer a partly conflicted commit with 409: what was applied stays applied, the body is the same.
  if (reply.error().code == "sync_conflict" && !reply.error().call.details.empty()) {
    if (const auto details = parse_bounded(reply.error().call.details)) {
      const Json& answer = contract::holder_of(*details, "conflicts");
      if (find(answer, "conflicts") != nullptr) return read_commit(answer);
    }
  }
  return fail(std::move(reply).error());
}

Result<ServiceConflict> ApiRemote::find_conflict(const std::string& conflict_id) {
  if (!is_uuid(conflict_id)) return ServiceConflict{};  // nothing that could be asked for
  const auto reply = client_.call({.operation = "sync.conflict_get", .parameters = {{"conflict_id", conflict_id}}});
  if (reply) return read_conflict(*reply->json);
  const bool is_gone = reply.error().kind == Failure::Kind::not_found;
  return is_gone ? Result<ServiceConflict>(ServiceConflict{}) : fail(reply.error());
}

Result<std::optional<AppliedItem>> ApiRemote::resolve(const ResolveRequest& request) {
  Json body{{"resolution", word_of(request.keep)},
            {"expected_content_revision", number_or_null(request.expected_revision)}};
  if (request.content) {
    body["content"] = *request.content;
    body["content_sha256"] = Sha256::of(*request.content).hex();
  }
  if (!request.path.empty()) body["path"] = service_form(request.path);
  if (!request.path_for_local_copy.empty()) body["path_for_local_copy"] = service_form(request.path_for_local_copy);
  WS_LET(const Reply reply,
         client_.call({.operation = "sync.conflict_resolve",
                       .parameters = {{"conflict_id", request.conflict_id}},
                       .body = std::move(body)}));
  const Json* result = find(*reply.json, "result");
  if (result == nullptr || !result->is_object()) return std::optional<AppliedItem>{};
  AppliedItem applied = read_applied(*result);
  if (!is_uuid(applied.document.text())) applied.document = {};
  return std::optional(std::move(applied));
}

}  // namespace

std::unique_ptr<Remote> make_api_remote(Client& client, PullBounds bounds) {
  return std::make_unique<ApiRemote>(client, bounds);
}

}  // namespace ws::sync
