#include "tests/support/two_people.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace ws::test {

namespace fs = std::filesystem;

namespace {

Command server_command(const fs::path& folder, std::vector<std::string> flags) {
  std::vector<std::string> arguments = {
      program("ws-mock"), "--listen", "127.0.0.1:0", "--log", "off", "--ready-file", (folder / "ready.json").string()};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return {.arguments = std::move(arguments), .timeout = std::chrono::minutes{10}};
}

}  // namespace

MockServer::MockServer(std::vector<std::string> flags) : process_(server_command(folder_.path(), std::move(flags))) {
  // The first line comes when the server answers; the ready file stands by then.
  if (!process_.wait_for("\n")) throw std::runtime_error("ws-mock did not start: " + process_.so_far().err);
  while (!fs::exists(folder_ / "ready.json")) ::usleep(1000);
  const auto ready = nlohmann::json::parse(read_text(folder_ / "ready.json"));
  base_url_ = ready.at("base_url");
  token_ = ready.at("token");
}

Person::Person() {
  for (const char* name : {"CONFIG", "DATA", "STATE", "CACHE"}) {
    environment["XDG_" + std::string(name) + "_HOME"] = (home_ / name).string();
  }
  environment["HOME"] = home_.path().string();
  environment["NO_COLOR"] = "1";
}

Person::Person(const MockServer& server) : Person() {
  environment["WS_BASE_URL"] = server.base_url();
  environment["WS_TOKEN"] = server.token();
}

Command Person::command(std::vector<std::string> arguments, const fs::path& folder) const {
  arguments.insert(arguments.begin(), program("ws"));
  return {.arguments = std::move(arguments),
          .environment = environment,
          .folder = folder,
          .timeout = std::chrono::minutes{4}};
}

Ended Person::ws(std::vector<std::string> arguments, const fs::path& folder) const {
  return run_command(command(std::move(arguments), folder));
}

std::map<std::string, std::string> texts_of(const fs::path& folder) {
  std::map<std::string, std::string> texts;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::end(entry); ++entry) {
    if (entry->path().filename() == ".ws") {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      texts[fs::relative(entry->path(), folder).string()] = read_text(entry->path());
    }
  }
  return texts;
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace ws::test
