/// `/device`: where a person sees which program asks for what, and approves or denies it.
///
/// GET shows a field for the code, or (with `?user_code=`) what is asked for and who may decide: in a mock one picks a
/// person and a Workspace, there are no passwords. POST decides. Works without script, on a phone, by keyboard.
#pragma once

#include <string>
#include <string_view>

#include "server-mock/http/message.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock::pages {

inline constexpr std::string_view device_path = "/device";

/// Who may decide on the page. Its form carries a token that only a reader of the page knows: made of a secret that the
/// process drew when it began, so that the program that asks for the login cannot compute it either.
class Approval {
 public:
  enum class By {
    anybody,        ///< a mock on this machine
    control_token,  ///< who knows it types it into the form
    nobody,         ///< others can call this server, and there is nothing that they must know
  };
  Approval(By by, std::string control_token);

  By by() const { return by_; }
  std::string form_token(std::string_view login_id) const;
  /// Takes as long for any text.
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
