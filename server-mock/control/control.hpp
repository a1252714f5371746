/// The control surface `/_mock`: what a test turns and reads (`mock.md`, "Control"). Never journalled, never faulted.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server-mock/control/worlds.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/router.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock {

namespace control {
struct CallEntry;
}

struct ControlOptions {
  bool is_on = true;
  std::string token = {};  ///< empty: none is needed
};

struct ControlCall {
  std::string_view method = {};
  std::string_view path = {};  ///< "/_mock/snapshots/{name}:restore"
};
/// Every call that there is.
std::vector<ControlCall> control_calls();

enum class Steps { one, all };

class Control {
 public:
  explicit Control(const ControlOptions& options);

  bool is_on() const { return options_.is_on; }
  void on_shutdown(std::function<void()> stop) { stop_ = std::move(stop); }
  /// Leaves `sandbox.advance` behind where the clock has been set on its way while somebody waits: the answer is then
  /// that of `advance_on`.
  /// `worlds`: of the server, where the call stands at the base URL; null: within a sandbox, which cannot stop the
  /// server either.
  http::Response handle(Sandbox& sandbox, Worlds* worlds, const http::Request& request, std::string_view request_id);
  /// Empty while there is further to go.
  std::optional<http::Response> advance_on(Sandbox& sandbox, Steps steps, std::string_view request_id);

 private:
  bool is_authorized(const http::Request& request) const;

  ControlOptions options_;
  http::Router router_;
  std::vector<const control::CallEntry*> entries_ = {};  // by the route's id
  std::function<void()> stop_ = {};
};

}  // namespace ws::mock
