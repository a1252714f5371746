#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/sync/shared.hpp"
#include "server-mock/services/sync_sources/paths.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr std::size_t max_push_bytes = std::size_t{8} << 20U;
constexpr std::size_t max_text_bytes = std::size_t{1} << 20U;

struct Rejection {
  std::string_view code = {};
  std::string message = {};
};

std::size_t text_bytes(const Json& items) {
  std::size_t bytes = 0;
  for (const Json& item : items) bytes += text_of(item, "content").size();
  return bytes;
}

bool has_text(const Json& item) {
  const Json* content = find(item, "content");
  return content != nullptr && content->is_string();
}

/// Id of a push, derived from its items: the same items give the same push.
std::string fingerprint(const Json& items) {
  Sha256Stream stream;
  for (const Json& item : items) {
    for (const char* name : {"path", "action", "document_id", "content", "content_sha256", "previous_path"}) {
      stream.update(text_of(item, name));
      stream.update("\n");
    }
    stream.update(fmt::format("{} {}\n", integer_of(item, "expected_content_revision", 0), has_text(item)));
  }
  return stream.finish().hex();
}

class Staging {
 public:
  Staging(World& world, const ServiceCall& call, const VisibleSource& seen) : world_(world), call_(call), seen_(seen) {}

  /// Why the item is rejected: only hash, path, size or permission.
  Result<std::optional<Rejection>> check(const Json& item) {
    const std::string path = utf8::nfc(text_of(item, "path"));
    if (const auto problem = path_problem(path)) return Rejection{"invalid_path", "The path is refused: " + *problem};
    if (const auto twin = find_twin(item, path)) {
      return Rejection{"invalid_path", fmt::format("The path differs from \"{}\" only in case or accents", *twin)};
    }
    if (auto problem = check_text(item)) return problem;
    return check_permission(id_of(item, "document_id"));
  }

  /// Does nothing for an item that an equal push has staged; it has not where that push was refused.
  Result<void> stage(const std::string& push_id, std::size_t place, const Json& item) {
    WS_LET(
        const sqlite::CachedStatement insert,
        world_.database.cached("insert or ignore into sync_staged (push_id, place, path, action, document_id, content, "
                               "content_sha256, expected_content_revision, previous_path) "
                               "values (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    std::optional<std::string> previous;
    if (const auto from = text_of(item, "previous_path"); !from.empty()) previous = utf8::nfc(from);
    std::optional<std::string_view> content;
    if (has_text(item)) content = text_of(item, "content");
    insert->bind_all(push_id,
                     static_cast<std::int64_t>(place),
                     utf8::nfc(text_of(item, "path")),
                     text_of(item, "action"),
                     id_of(item, "document_id"),
                     content,
                     text_of(item, "content_sha256"),
                     find_integer(item, "expected_content_revision"),
                     previous);
    return insert->run();
  }

 private:
  /// Of two files whose paths have the same key, the second is rejected. Several items of one document are allowed.
  std::optional<std::string> find_twin(const Json& item, const std::string& path) {
    const bool deletes = !has_text(item) && text_of(item, "content_sha256").empty();
    if (text_of(item, "action") == "push_delete" || deletes) return std::nullopt;
    const std::string document_id = id_of(item, "document_id");
    const auto [first, fresh] = paths_.try_emplace(utf8::fold_key(path), path, document_id);
    if (fresh || (!document_id.empty() && first->second.second == document_id)) return std::nullopt;
    return first->second.first;
  }

  static std::optional<Rejection> check_text(const Json& item) {
    const std::string_view action = text_of(item, "action");
    const std::string_view sha = text_of(item, "content_sha256");
    if (!has_text(item)) {
      if (action != "push_create" && action != "push_update") return std::nullopt;
      return Rejection{"hash_mismatch", "No content was sent"};
    }
    const std::string_view content = text_of(item, "content");
    if (content.size() > max_text_bytes) {
      return Rejection{"too_large",
                       fmt::format("The content has {} bytes, {} are allowed", content.size(), max_text_bytes)};
    }
    const std::string actual = Sha256::of(content).hex();
    if (sha != actual) return Rejection{"hash_mismatch", "The content's SHA-256 is " + actual};
    return std::nullopt;
  }

  Result<std::optional<Rejection>> check_permission(const std::string& document_id) {
    if (document_id.empty()) return std::nullopt;
    const Rejection refused = {"forbidden", "You may not change the document in this source"};
    WS_LET(const std::optional<SyncEntry> entry, find_entry(world_, seen_.source.id, document_id));
    if (!entry) return refused;
    if (seen_.opens_all) return std::nullopt;
    WS_LET(const std::optional<Document> document, find_document(world_, document_id, WithContent::no));
    if (!document) return refused;
    WS_LET(const AccessLevel access, access_in(world_, call_.caller, seen_, *document));
    if (access < AccessLevel::edit) return refused;
    return std::nullopt;
  }

  World& world_;
  const ServiceCall& call_;
  const VisibleSource& seen_;
  std::unordered_map<std::string, std::pair<std::string, std::string>> paths_ = {};  // key -> path, document
};

Result<std::string> find_or_insert_push(World& world, const std::string& plan_id, const Json& items) {
  const std::string print = fingerprint(items);
  WS_LET(
      const std::optional<std::string> earlier,
      read_row(world, read_text, "select id from sync_pushes where plan_id = ? and fingerprint = ?", plan_id, print));
  if (earlier) return *earlier;
  std::string id = world.ids.uuid("sync_push");
  WS_TRY(put(world,
             "insert into sync_pushes (id, plan_id, fingerprint, created_at) values (?, ?, ?, ?)",
             id,
             plan_id,
             print,
             world.now()));
  return id;
}

Unexpected too_large() {
  return refuse(ApiError{.status = 413,
                         .code = "payload_too_large",
                         .message = fmt::format("One push holds at most {} bytes of content", max_push_bytes)});
}

ServiceResult push_sync(World& world, const ServiceCall& call) {
  const Json& items = call.body.at("items");
  if (text_bytes(items) > max_push_bytes) return too_large();
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const VisibleSource seen, find_visible_source(world, call, id_of(call.body, "source_id")));
  WS_API_LET(const Plan plan, find_plan(world, call, id_of(call.body, "plan_id"), seen.source.id));
  if (plan.commit_body) return conflict("plan_expired", "The plan was committed; make a new plan");
  if (plan.expires_at <= world.now()) return conflict("plan_expired", "The plan is over an hour old; make a new plan");

  WS_API_LET(const std::string push_id, find_or_insert_push(world, plan.id, items));
  Staging staging(world, call, seen);
  Json accepted = Json::array();
  Json rejected = Json::array();
  for (std::size_t place = 0; place < items.size(); ++place) {
    const Json& item = items[place];
    WS_API_LET(const std::optional<Rejection> rejection, staging.check(item));
    if (rejection) {
      rejected.push_back({{"path", text_of(item, "path")}, {"code", rejection->code}, {"message", rejection->message}});
      continue;
    }
    WS_API_TRY(staging.stage(push_id, place, item));
    accepted.push_back(
        {{"path", text_of(item, "path")}, {"content_sha256", text_or_null(text_of(item, "content_sha256"))}});
  }
  WS_API_TRY(work.commit());
  return Answer{.body = Json{{"push_id", push_id},
                             {"source_id", seen.source.id},
                             {"plan_id", plan.id},
                             {"accepted", std::move(accepted)},
                             {"rejected", std::move(rejected)},
                             {"expires_at", rfc3339(plan.expires_at)}}};
}

}  // namespace

ServiceTable sync_push_services() {
  static constexpr ServiceEntry entries[] = {
      {"sync.push", push_sync},
  };
  return entries;
}

}  // namespace ws::mock
