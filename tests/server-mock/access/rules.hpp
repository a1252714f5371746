/// Who may do what, copied by hand from the table in `decisions.md`, "Credentials, roles, scopes": a second opinion on
/// the operation table, not made from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ws::mock::test {

/// The places of a path and the members of a body are filled in from `Things`: "{document}".
struct AccessRule {
  std::string_view id = {};
  std::string_view method = {};
  std::string_view path = {};
  std::string_view body = {};   ///< JSON that validation lets pass; empty: none
  std::string_view scope = {};  ///< empty: any valid key
  std::string_view role = {};   ///< the least; empty: no role by itself decides
};

/// One for each operation, in the order of the API document.
const std::vector<AccessRule>& access_rules();

/// The two operations of the device login.
bool needs_no_key(const AccessRule& rule);
/// Even to a paused agent: discovery, identity, giving the key back.
bool is_open_to_paused(const AccessRule& rule);
/// The eight operations of test control: for keys of audience `workspace` or `platform_admin`.
bool is_test_control(const AccessRule& rule);

}  // namespace ws::mock::test
