#include "server-mock/services/tests/scratch_world.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"

namespace ws::mock {
namespace {

using contract::Role;

ScratchReply refused(int status, std::string_view code) {
  return {.status = status, .code = std::string(code), .body = Json::object()};
}

}  // namespace

std::string ScratchReply::text(std::string_view member) const { return find_text(*body, member).value_or(""); }

std::int64_t ScratchReply::integer(std::string_view member) const { return find_integer(*body, member).value_or(0); }

std::size_t ScratchReply::count(std::string_view member) const {
  const Json* found = find(*body, member);
  return found != nullptr && found->is_array() ? found->size() : 0;
}

Result<std::unique_ptr<ScratchWorld>> ScratchWorld::open(Time time) {
  std::unique_ptr<ScratchWorld> scratch(new ScratchWorld(time));
  WS_LET(scratch->world_, World::open(":memory:", {}, scratch->clock_));
  return scratch;
}

Result<void> ScratchWorld::restart() {
  failure_.clear();
  world_->assumptions = {};
  WS_LET(built_in, reset(*world_, StartWith::seed));
  owner = {.owner_user_id = built_in.user_id,
           .audience = Audience::workspace,
           .workspace_id = built_in.workspace_id,
           .role = Role::owner};
  editor = owner;
  editor.owner_user_id = built_in.other_user_id;
  editor.role = Role::editor;
  stranger = editor;
  stranger.workspace_id = built_in.other_workspace_id;
  stranger.role = Role::owner;
  agent = owner;
  agent.agent_id = built_in.agent_id;
  return add_viewer();
}

Result<void> ScratchWorld::add_viewer() {
  viewer = editor;
  viewer.role = Role::viewer;
  WS_LET(viewer.owner_user_id, add_person(*world_, "viewer@example.com", "Vera Novak"));
  return add_member(*world_, viewer.workspace_id, viewer.owner_user_id, "viewer");
}

ScratchReply ScratchWorld::call(std::string_view id, const Caller& caller, const Json& body) {
  return call(id, caller, body, Json::object());
}

ScratchReply ScratchWorld::call(std::string_view id, const Caller& caller, const Json& body, const Json& parameters) {
  const contract::Operation* operation = contract::find_operation(id);
  const Service service = operation == nullptr ? nullptr : find_service(*operation);
  if (!expect(service != nullptr, fmt::format("{} is not served", id))) return refused(501, "not_implemented");
  if (caller.role < operation->role) return refused(403, "insufficient_role");
  if (operation->request != nullptr && !contract::validate_body(*operation, &body).violations.empty()) {
    return refused(422, "validation_error");
  }
  const std::string base_url = "http://127.0.0.1";
  ServiceResult result = service(*world_, {*operation, caller, parameters, body, base_url});
  if (!result) {
    ScratchReply reply = refused(result.error().status, result.error().code);
    reply.body = std::move(result.error().members);
    expect(reply.status < 500, fmt::format("{} failed: {}", id, result.error().message));
    return reply;
  }
  const contract::Schema* schema = operation->responses.front().schema;
  if (schema != nullptr) {
    for (const contract::Violation& violation : contract::validate_response(*result->body, *schema).violations) {
      expect(false, fmt::format("the answer of {} breaks the table: {}", id, contract::render(violation)));
    }
  }
  return {.status = result->status, .body = std::move(result->body)};
}

bool ScratchWorld::expect(bool is_so, std::string_view sentence) {
  if (!is_so && failure_.empty()) failure_ = sentence;
  return is_so;
}

}  // namespace ws::mock
