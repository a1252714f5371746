#include "tests/support/two_people.hpp"

#include <fstream>
#include <iterator>
namespace ws::test {

namespace fs = std::filesystem;

Person::Person() {
  for (const char* name : {"CONFIG", "DATA", "STATE", "CACHE"}) {
    environment["XDG_" + std::string(name) + "_HOME"] = (home_ / name).string();
  }
  environment["HOME"] = home_.path().string();
  environment["NO_COLOR"] = "1";
  environment["WS_DEVICE_NAME"] = "desk";
}

Person::Person(const MockProcess& server) : Person() {
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
