/// The control surface `/_mock`: what a test turns and reads (`mock.md`, "Control"). Never journalled, never faulted.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "server-mock/http/message.hpp"
#include "server-mock/http/router.hpp"
#include "server-mock/sandbox.hpp"

namespace ws::mock {

struct ControlOptions {
  bool is_on = true;
  std::string token = {};  ///< empty: none is needed
};

class Control {
 public:
  explicit Control(const ControlOptions& options);

  bool is_on() const { return options_.is_on; }
  void on_shutdown(std::function<void()> stop) { stop_ = std::move(stop); }
  http::Response handle(Sandbox& sandbox, const http::Request& request, std::string_view request_id);

 private:
  ControlOptions options_;
  http::Router router_;
  std::function<void()> stop_ = {};
};

}  // namespace ws::mock
