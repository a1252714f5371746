#include "tests/server-mock/services/service_world.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"

namespace ws::mock::test {
namespace {

void check_findings(const contract::Findings& findings) {
  for (const contract::Violation& violation : findings.violations) FAIL_CHECK(contract::render(violation));
  for (const auto& location : findings.unknown) FAIL_CHECK("unknown member " << std::get<std::string>(location.back()));
}

}  // namespace

std::string Outcome::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

ServiceWorld::ServiceWorld(const std::string& path, StartWith start) {
  auto opened = World::open(path, {}, clock);
  REQUIRE(opened);
  world = std::move(*opened);
  auto made = reset(*world, start);
  if (!made) FAIL(made.error().what);
  built_in = *made;
  mara = {.owner_user_id = built_in.user_id, .workspace_id = built_in.workspace_id, .role = contract::Role::owner};
  tomas = {.owner_user_id = built_in.other_user_id,
           .audience = Audience::workspace,
           .workspace_id = built_in.workspace_id,
           .role = contract::Role::editor};
  agent = mara;
  agent.agent_id = built_in.agent_id;
  agent.audience = Audience::workspace;
}

Outcome ServiceWorld::call(std::string_view id, const Caller& caller, Json body, Json parameters) {
  const contract::Operation* operation = contract::find_operation(id);
  REQUIRE(operation != nullptr);
  if (operation->request != nullptr) check_findings(contract::validate_body(*operation, &body));
  const std::string base_url = "http://127.0.0.1:4711";
  const ServiceCall call = {*operation, caller, parameters, body, base_url};
  const Service service = find_service(*operation);
  REQUIRE(service != nullptr);
  ServiceResult result = service(*world, call);
  CHECK(world->open_transactions == 0);
  if (!result) {
    Outcome refused = {.status = result.error().status, .code = result.error().code, .body = *result.error().members};
    if (refused.status == 500) FAIL_CHECK(result.error().message);
    return refused;
  }
  if (result->status < 300) {
    CHECK(std::ranges::find(operation->responses, result->status, &contract::Response::status) !=
          operation->responses.end());
    check_findings(contract::validate_response(*result->body, *operation->responses.front().schema));
  }
  return {.status = result->status, .body = std::move(*result->body), .headers = std::move(result->headers)};
}

Outcome ServiceWorld::create_document(const Caller& caller,
                                      std::string_view title,
                                      std::string_view content,
                                      Json more) {
  Json body = {{"title", title}, {"content", content}};
  for (const auto& [key, value] : more.items()) body[key] = value;
  return call("docs.create", caller, std::move(body));
}

std::string ServiceWorld::id_of_document(std::string_view title) {
  auto row = world->database.prepare(
      "select d.id from documents d join nodes n on n.id = d.node_id where n.title = ? order by d.id");
  row->bind(1, title);
  REQUIRE(*row->step());
  return row->string(0);
}

Caller ServiceWorld::add_person(std::string_view name, std::string_view role) {
  const std::string id = world->ids.uuid("user");
  auto person = world->database.prepare("insert into users (id, email, display_name, created_at) values (?, ?, ?, 0)");
  REQUIRE(person->bind_all(id, std::string(name) + "@example.com", name).run());
  auto member =
      world->database.prepare("insert into members (workspace_id, user_id, role, created_at) values (?, ?, ?, 0)");
  REQUIRE(member->bind_all(built_in.workspace_id, id, role).run());
  return {.owner_user_id = id,
          .audience = Audience::workspace,
          .workspace_id = built_in.workspace_id,
          .role = contract::find_role(role).value()};
}

SyncClient SyncClient::with_new_source(ServiceWorld& world, const Caller& caller, Json more) {
  Json body = {{"name", "notes"}};
  for (const auto& [key, value] : more.items()) body[key] = value;
  const Outcome made = world.call("sync.source_create", caller, std::move(body));
  REQUIRE(made.status == 201);
  return SyncClient(world, caller, made.body.at("id"), "laptop");
}

Outcome SyncClient::plan(Json entries, std::int64_t base_revision) {
  return world_.call("sync.plan",
                     caller_,
                     {{"source_id", source_id_},
                      {"base_revision", base_revision},
                      {"client_id", client_id_},
                      {"complete", false},
                      {"entries", std::move(entries)}});
}

std::string SyncClient::plan_id() {
  const Outcome planned = plan();
  REQUIRE(planned.status == 200);
  return planned.body.at("plan_id");
}

Outcome SyncClient::push(const std::string& plan_id, Json items) {
  return world_.call(
      "sync.push", caller_, {{"source_id", source_id_}, {"plan_id", plan_id}, {"items", std::move(items)}});
}

Outcome SyncClient::commit(const std::string& plan_id, Json push_ids) {
  return world_.call("sync.commit",
                     caller_,
                     {{"source_id", source_id_},
                      {"plan_id", plan_id},
                      {"push_ids", std::move(push_ids)},
                      {"expected_revision", 0},
                      {"client_id", client_id_}});
}

Outcome SyncClient::publish(Json items) {
  const std::string plan = plan_id();
  const Outcome pushed = push(plan, std::move(items));
  REQUIRE(pushed.status == 200);
  REQUIRE(pushed.body.at("rejected") == Json::array());
  return commit(plan, Json::array({pushed.body.at("push_id")}));
}

Json SyncClient::pull(std::int64_t since_revision) {
  Outcome pulled = world_.call(
      "sync.pull", caller_, nullptr, {{"source_id", source_id_}, {"since_revision", since_revision}, {"limit", 1000}});
  REQUIRE(pulled.status == 200);
  REQUIRE(pulled.body.at("next_cursor").is_null());
  return pulled.body.at("data");
}

Json SyncClient::tree() {
  std::map<std::string, Json> sorted;
  for (const Json& item : pull()) {
    if (!item.at("deleted").get<bool>()) sorted[item.at("path")] = item.at("content");
  }
  return Json(sorted);
}

Json SyncClient::at(std::string_view path) {
  for (const Json& item : pull()) {
    if (item.at("path") == path && !item.at("deleted").get<bool>()) return item;
  }
  FAIL("no " << path << " in " << dump(tree()));
  return {};
}

std::int64_t SyncClient::revision() {
  const Outcome source = world_.call("sync.source_get", caller_, nullptr, {{"source_id", source_id_}});
  return source.body.at("revision");
}

Outcome SyncClient::conflict(const std::string& id) {
  return world_.call("sync.conflict_get", caller_, nullptr, {{"conflict_id", id}});
}

Outcome SyncClient::resolve(const std::string& id, Json body) {
  return world_.call("sync.conflict_resolve", caller_, std::move(body), {{"conflict_id", id}});
}

Json created(std::string_view path, std::string_view text) {
  return {{"path", path}, {"action", "push_create"}, {"content", text}, {"content_sha256", Sha256::of(text).hex()}};
}

Json updated(const Json& item, std::string_view text) {
  return {{"path", item.at("path")},
          {"action", "push_update"},
          {"document_id", item.at("document_id")},
          {"content", text},
          {"content_sha256", Sha256::of(text).hex()},
          {"expected_content_revision", item.at("content_revision")}};
}

Json moved(const Json& item, std::string_view path) {
  return {{"path", path},
          {"action", "push_move"},
          {"document_id", item.at("document_id")},
          {"content_sha256", item.at("content_sha256")},
          {"expected_content_revision", item.at("content_revision")},
          {"previous_path", item.at("path")}};
}

Json removed(const Json& item) {
  return {{"path", item.at("path")},
          {"action", "push_delete"},
          {"document_id", item.at("document_id")},
          {"expected_content_revision", item.at("content_revision")}};
}

}  // namespace ws::mock::test
