#include "api-client/contract/schema.hpp"

namespace ws::contract {

std::string_view name(Method method) {
  switch (method) {
    case Method::get: return "GET";
    case Method::post: return "POST";
    case Method::put: return "PUT";
    case Method::patch: return "PATCH";
    case Method::del: return "DELETE";
  }
  return "GET";
}

std::string_view name(In in) {
  switch (in) {
    case In::path: return "path";
    case In::query: return "query";
    case In::header: return "header";
  }
  return "query";
}

std::string_view name(RetryClass retry) {
  switch (retry) {
    case RetryClass::read: return "read";
    case RetryClass::keyed: return "keyed";
    case RetryClass::revision: return "revision";
    case RetryClass::sync: return "sync";
    case RetryClass::repeatable: return "repeatable";
    case RetryClass::lease: return "lease";
    case RetryClass::unsafe: return "unsafe";
    case RetryClass::poll: return "poll";
  }
  return "read";
}

std::string_view name(Role role) {
  switch (role) {
    case Role::none: return "none";
    case Role::viewer: return "viewer";
    case Role::commenter: return "commenter";
    case Role::editor: return "editor";
    case Role::admin: return "admin";
    case Role::owner: return "owner";
  }
  return "none";
}

std::optional<Role> find_role(std::string_view text) {
  for (const Role role : {Role::viewer, Role::commenter, Role::editor, Role::admin, Role::owner}) {
    if (name(role) == text) return role;
  }
  return std::nullopt;
}

}  // namespace ws::contract
