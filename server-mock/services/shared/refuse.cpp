#include "server-mock/services/shared/refuse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ws::mock {

Refused refuse(Failure failure) { return Refused(internal_error(std::move(failure.what))); }

Refusal internal_error(std::string cause) {
  return Refusal{.status = 500,
                 .code = "internal_error",
                 .message = "The server broke at this; its log says more under the request's id",
                 .cause = std::move(cause)};
}

Refused not_found(std::string_view what) {
  return Refused(Refusal{.status = 404, .code = "not_found", .message = fmt::format("There is no such {}", what)});
}

Refused forbidden(std::string_view sentence) {
  return Refused(Refusal{.status = 403, .code = "forbidden", .message = std::string(sentence)});
}

Refused insufficient_role(contract::Role required) {
  return Refused(Refusal{.status = 403,
                         .code = "insufficient_role",
                         .message = fmt::format("This needs the role {} in the Workspace", contract::name(required)),
                         .members = Json{{"required_role", contract::name(required)}}});
}

Refused conflict(std::string_view code, std::string_view sentence) {
  return Refused(Refusal{.status = 409, .code = std::string(code), .message = std::string(sentence)});
}

Refused revision_conflict(const World& world, const Document& now, std::int64_t expected) {
  return Refused(
      Refusal{.status = world.assumptions.is("revision_mismatch", "412") ? 412 : 409,
              .code = "revision_conflict",
              .message = fmt::format("The document is at content revision {}, not {}", now.content_revision, expected),
              .members = Json{{"current_content_revision", now.content_revision},
                              {"current_content_sha256", now.content_sha256},
                              {"expected_content_revision", expected}}});
}

Refused invalid(
    std::string_view where, std::string_view name, std::string_view type, std::string_view message, const Json& input) {
  const Json entry = {{"type", type}, {"loc", Json::array({where, name})}, {"msg", message}, {"input", input}};
  return Refused(Refusal{.status = 422,
                         .code = "validation_error",
                         .message = std::string(message),
                         .members = Json{{"detail", Json::array({entry})}}});
}

Served<void> require_role(const ServiceCall& call, contract::Role role) {
  if (role < call.operation.role) return insufficient_role(call.operation.role);
  return {};
}

}  // namespace ws::mock
