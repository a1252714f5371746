// A login from both ends: `ws login` waits in a terminal, a person decides on the device page in a real browser.
#include <regex>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/build_paths.hpp"
#include "tests/support/two_people.hpp"

using namespace ws::test;

namespace {

std::string device_url(const Running& login) {
  std::smatch found;
  const std::string text = login.so_far().err + login.so_far().out;
  if (!std::regex_search(text, found, std::regex(R"(https?://\S*/device\?\S+)"))) return {};
  return found[0];
}

nlohmann::json decide(const std::string& url, const std::string& decision, const std::filesystem::path& picture) {
  const Ended browser = run_command(
      {.arguments = {"node", source_path("/tests/browser/device_page.mjs"), url, decision, picture.string()},
       .timeout = std::chrono::seconds{120}});
  INFO(browser.err);
  REQUIRE(browser.exit == 0);
  return nlohmann::json::parse(browser.out);
}

}  // namespace

TEST_CASE("device login: approved in the browser, the waiting `ws login` ends with a key that works", "[browser]") {
  MockProcess server({"--device", "manual", "--device-interval", "1"});
  Person person;
  Running login(person.command({"login", "--base-url", server.base_url(), "--store", "file", "--for", "read"}));
  REQUIRE(login.wait_for("/device?"));
  const auto page = decide(device_url(login), "approve", person.home() / "device.png");
  const Ended ended = login.wait();
  INFO(ended.err);
  CHECK(ended.exit == 0);
  CHECK(page["failures"].empty());
  CHECK_THAT(page["asked"].get<std::string>(), Catch::Matchers::Contains("documents:read"));

  const Ended who = person.ws({"whoami", "--json"});
  INFO(who.err);
  REQUIRE(who.exit == 0);
  CHECK(nlohmann::json::parse(who.out)["credential"]["audience"] == "workspace");
}

TEST_CASE("device login: denied in the browser is exit 5, and nothing is stored", "[browser]") {
  MockProcess server({"--device", "manual", "--device-interval", "1"});
  Person person;
  Running login(person.command({"login", "--base-url", server.base_url(), "--store", "file"}));
  REQUIRE(login.wait_for("/device?"));
  decide(device_url(login), "deny", person.home() / "device.png");
  CHECK(login.wait().exit == 5);
  CHECK(person.ws({"whoami", "--base-url", server.base_url()}).exit == 4);
}
