/// The real `ws-mock`, started for one test and stopped at its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/raw_http.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ws::test {

class MockProcess {
 public:
  /// Starts it on a free loopback port without a log and waits until it responds. Throws on failure.
  explicit MockProcess(std::vector<std::string> flags = {});

  std::uint16_t port() const { return port_; }
  const std::string& base_url() const { return base_url_; }
  const std::string& token() const { return token_; }  ///< a key with every scope
  const std::filesystem::path& ready_file() const { return ready_file_; }
  RawAnswer ask(const RawRequest& request) const { return test::ask(port_, request); }

  /// Sends a signal and waits for its end.
  Ended end(int signal);
  Running& process() { return process_; }

 private:
  TemporaryFolder folder_;
  std::filesystem::path ready_file_;
  Running process_;
  std::uint16_t port_ = 0;
  std::string base_url_ = {};
  std::string token_ = {};
};

}  // namespace ws::test
