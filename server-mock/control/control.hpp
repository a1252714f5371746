/// The control API `/_mock`, with which tests inspect and change the mock (`mock.md`, "Control"). Its calls are not
/// journalled and not subject to fault rules.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server-mock/control/sandboxes.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/router.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock {

namespace control {
struct CallEntry;
}

struct ControlOptions {
  bool is_on = true;
  std::string token = {};  ///< empty: no token is needed
};

struct ControlCall {
  std::string_view method = {};
  std::string_view path = {};  ///< "/_mock/snapshots/{name}:restore"
};
/// All control calls.
std::vector<ControlCall> control_calls();
/// The control calls as an OpenAPI 3.1 document; `server_url` may be empty.
Json control_openapi(std::string_view server_url);

enum class Steps { one, all };

class Control {
 public:
  explicit Control(const ControlOptions& options);

  bool is_on() const { return options_.is_on; }
  void on_shutdown(std::function<void()> stop) { stop_ = std::move(stop); }
  /// `sandboxes` is null inside a sandbox, which has no sandboxes of its own and cannot stop the server. If the clock
  /// is to advance in steps, `sandbox.advance` is set and the response is that of `continue_advance`.
  http::Response handle(Sandbox& sandbox,
                        Sandboxes* sandboxes,
                        const http::Request& request,
                        std::string_view request_id);
  /// Empty if the advance is not complete.
  std::optional<http::Response> continue_advance(Sandbox& sandbox, Steps steps, std::string_view request_id);

 private:
  bool is_authorized(const http::Request& request) const;

  ControlOptions options_;
  http::Router router_;
  std::vector<const control::CallEntry*> entries_ = {};  // by the route's id
  std::function<void()> stop_ = {};
};

}  // namespace ws::mock
