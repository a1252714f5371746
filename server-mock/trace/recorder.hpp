/// `exec --trace FILE`: writes every request in order of arrival, and the hash of the state after it.
///
/// It is called in place of the application and forwards to it. While a request is served, the clocks of all sandboxes
/// stand still (`PinnedTime`), so that a replay can use the same time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/application/application.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/trace/changes.hpp"
#include "server-mock/trace/secrets.hpp"
#include "server-mock/trace/trace_file.hpp"

namespace ws::mock::trace {

class Recorder final : public http::Handler {
 public:
  /// `start` is the first line, without times and addresses. `pinned` is the time source of the application's clocks;
  /// it holds the time at which the application was opened. Fails with `disk`.
  static Result<std::unique_ptr<Recorder>> open(const std::string& path,
                                                const Json& start,
                                                const SecretNames& secrets,
                                                Application& application,
                                                std::shared_ptr<PinnedTime> pinned);
  /// Writes the exit code of the command. The application may already be destroyed.
  void end(int exit_code);

  std::size_t body_limit(const http::Request& head) override { return application_.body_limit(head); }
  std::unique_ptr<http::BodySink> open_sink(const http::Request& head) override;
  http::Response handle(const http::Request& request) override;
  http::Response refuse(const http::MalformedRequest& why) override;
  http::Response resume(std::uint64_t ticket, const http::Request& request, http::MayWait may_wait) override;
  void cancel(std::uint64_t ticket) override;
  std::vector<std::uint64_t> take_ready() override;
  std::optional<std::chrono::milliseconds> next_ready() override { return application_.next_ready(); }

 private:
  class RecordingSink;
  Recorder(LineOutput file, const SecretNames& secrets, Application& application, std::shared_ptr<PinnedTime> pinned);
  std::int64_t pin_time();
  void finish(Event event, Sandbox& sandbox, const http::Response* response);
  void take_snapshot(Sandbox& sandbox, const std::string& state);
  bool can_snapshot(Sandbox& sandbox) const;
  void write(const std::string& line);
  void write_start();
  void learn_base_url();

  LineOutput file_;
  SecretNames secrets_;
  Application& application_;
  std::shared_ptr<PinnedTime> pinned_;
  Changes changes_ = {};
  JsonBox start_ = {};                         // null once it is written
  std::string base_url_ = "http://127.0.0.1";  // of the server, set by the first call
  std::size_t requests_ = 0;
  std::map<std::uint64_t, std::size_t> waiting_ = {};  // request by ticket
  std::uint64_t unsnapped_bytes_ = 0;                  // written since the last snapshot
  std::uint64_t snapshot_bytes_ = 0;                   // of the last one
  std::size_t last_snapshot_ = 0;
};

}  // namespace ws::mock::trace
