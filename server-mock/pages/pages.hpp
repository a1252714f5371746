/// All pages, and what they share: escaping, the page frame, the style sheet.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server-mock/http/message.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock::pages {

/// Escapes for text and for attributes in double quotes.
std::string escape(std::string_view text);

/// A complete page without script and external URLs, not framable by other sites. `main` is HTML.
http::Response page(int status, std::string_view title, std::string_view main);

/// Nothing but scripts and styles of this server, and nothing that another site may frame or keep.
http::Response script_page(int status, std::string_view type, std::string text);

// `/device`: the verification page of the device flow (RFC 8628), where a person approves or denies a login.
//
// GET shows a field for the user code, or (with `?user_code=`) the request and who may decide: in a mock one chooses a
// person and a Workspace, there are no passwords. POST decides. Works without script, on small screens, by keyboard.

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

// `GET /_mock`: the inspector, a page on which a person sees and controls what a test would (`mock.md`, "Control").
//
// Static files: a page, a style sheet and a script, which calls the control API with the control token if one is
// needed. URLs are relative, so that each sandbox has its own inspector.

/// Empty if the request is not for one of its files.
std::optional<http::Response> inspector(const http::Request& request);

// `GET /` in a browser: what this server is, how to log in, and where its other pages are.
//
// Only who asks for HTML gets it; for everybody else nothing is at this path. It holds no data.

/// Whether the page answers the request. `path` is the path inside the sandbox.
bool is_root(const http::Request& request, std::string_view path);

enum class Inspector { shown, off };  ///< `off`: the server has no control calls

/// `base_url`: the address by which the client calls, without a slash at its end.
http::Response root(std::string_view base_url, Inspector inspector);

// `/skill/...`: the operating skill, a file for agents to read, and its manifest with hashes.
//
// `.../service-operate-workspace` and `.../manifest.json` are the manifest: `{name, version, files: [{path, sha256,
// size_bytes}]}`, with paths relative to the skill's URL. No key is needed (API document, "Concepts", 6).

inline constexpr std::string_view skill_path = "/skill/service-operate-workspace";

/// Empty if the path is not one of the skill's.
std::optional<http::Response> skill(const http::Request& request);

}  // namespace ws::mock::pages
