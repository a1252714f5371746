#include "tests/cli/workflow/stage.hpp"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "cli/output/format.hpp"

namespace ws::test {

At::At(const std::string& origin) {
  environment["WS_BASE_URL"] = origin;
  environment["WS_TOKEN"] = "wsk_test";
}

Json parse(const std::string& text) {
  auto value = parse_bounded(text);
  if (!value) throw std::runtime_error("no JSON: " + text);
  return std::move(*value);
}

std::string text_at(const Json& value, const std::string& path) {
  const Json* found = cli::at_path(value, path);
  return found == nullptr ? std::string() : cli::plain_text(*found);
}

Json error_of(const Ended& ended) {
  const Json whole = parse(ended.err);
  const Json* error = find(whole, "error");
  if (error == nullptr) throw std::runtime_error("no error: " + ended.err);
  return *error;
}

std::string control(const MockProcess& server,
                    const std::string& method,
                    const std::string& path,
                    const std::string& json) {
  const RawAnswer answer = server.ask({.method = method, .target = "/_mock" + path, .json = json});
  if (answer.status >= 300) throw std::runtime_error("the mock refused " + path + ": " + answer.body);
  return answer.body;
}

std::string body_of(const MockProcess& server, const std::string& path) {
  return server.ask({.target = path, .token = server.token()}).body;
}

std::vector<std::string> two_people(const TemporaryFolder& folder) {
  write_text(folder / "world.yaml",
             "people:\n"
             "  - {email: ada@example.com, name: Ada Byron}\n"
             "  - {email: grace@example.com, name: Grace Hopper}\n"
             "workspaces:\n"
             "  - name: Harbour\n"
             "    members:\n"
             "      - {person: ada@example.com, role: owner}\n"
             "      - {person: grace@example.com, role: editor}\n");
  return {"--fixtures", (folder / "world.yaml").string()};
}

}  // namespace ws::test
