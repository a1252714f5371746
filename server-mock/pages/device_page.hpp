/// `/device`: the verification page of the device flow (RFC 8628), where a person approves or denies a login.
///
/// GET shows a field for the user code, or (with `?user_code=`) the request and who may decide: in a mock one chooses a
/// person and a Workspace, there are no passwords. POST decides. Works without script, on small screens, by keyboard.
#pragma once

#include <string>
#include <string_view>

#include "server-mock/http/message.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock::pages {

inline constexpr std::string_view device_path = "/device";

/// Who may decide on the page. The form carries a CSRF token made from a secret of the process, so that the program
/// that asks for the login cannot compute it.
class Approval {
 public:
  enum class By {
    anybody,        ///< the mock is reachable from this machine only
    control_token,  ///< the form asks for the control token
    nobody,         ///< other machines can reach the mock, and there is no control token
  };
  Approval(By by, std::string control_token);

  By by() const { return by_; }
  std::string form_token(std::string_view login_id) const;
  /// Compares in constant time.
  bool is_control_token(std::string_view typed) const;

 private:
  By by_;
  std::string control_token_;
  std::string secret_;
};

http::Response device(Sandbox& sandbox,
                      const Approval& approval,
                      const http::Request& request,
                      std::string_view request_id);

}  // namespace ws::mock::pages
