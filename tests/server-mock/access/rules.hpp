/// The access rules of all operations, transcribed by hand from `decisions.md`, "Credentials, roles, scopes", to be
/// compared with the operation table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ws::mock::test {

/// Path parameters and body members are filled in from `Things`: "{document}".
struct AccessRule {
  std::string_view id = {};
  std::string_view method = {};
  std::string_view path = {};
  std::string_view body = {};   ///< a valid JSON body; empty: none
  std::string_view scope = {};  ///< empty: any valid key
  std::string_view role = {};   ///< the lowest role; empty: the role alone does not decide
};

/// One for each operation, in the order of the API document.
const std::vector<AccessRule>& access_rules();

/// The two operations of the device login.
bool needs_no_key(const AccessRule& rule);
/// Allowed to a paused agent too: discovery, identity, revoking its key.
bool is_open_to_paused(const AccessRule& rule);
/// The eight operations of test control: for keys of audience `workspace` or `platform_admin`.
bool is_test_control(const AccessRule& rule);

}  // namespace ws::mock::test
