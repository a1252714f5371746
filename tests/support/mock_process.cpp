#include "tests/support/mock_process.hpp"

#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace ws::test {

namespace {

Command server(const std::filesystem::path& ready_file, std::vector<std::string> flags) {
  std::vector<std::string> arguments = {
      program("ws-mock"), "--listen", "127.0.0.1:0", "--log", "off", "--ready-file", ready_file.string()};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return {.arguments = std::move(arguments), .timeout = std::chrono::minutes{5}};
}

}  // namespace

MockProcess::MockProcess(std::vector<std::string> flags)
    : ready_file_(folder_ / "ready.json"), process_(server(ready_file_, std::move(flags))) {
  // The address is printed after the ready file is written; there may be a note on stderr before it.
  if (!process_.wait_for("://")) throw std::runtime_error("ws-mock did not start: " + process_.so_far().err);
  std::ifstream stream(ready_file_);
  const auto ready = nlohmann::json::parse(stream);
  port_ = ready.at("port");
  base_url_ = ready.at("base_url");
  if (ready.at("token").is_string()) token_ = ready.at("token");
}

Ended MockProcess::end(int signal) {
  process_.signal(signal);
  return process_.wait();
}

}  // namespace ws::test
