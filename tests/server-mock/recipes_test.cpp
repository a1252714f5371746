// Runs the recipes, or their lines where they are for a service elsewhere. Those of GitHub and GitLab:
// tests/packaging/ci-files/empty_repository.mjs.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/yaml.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/mock_process.hpp"

using namespace ws::test;
using Catch::Matchers::Contains;
using ws::Json;

namespace {

const std::filesystem::path recipes = source_path("/recipes");

/// With ws-mock on the PATH, in a folder that looks like a checkout in which it was built.
Ended in_checkout(const std::string& script) {
  TemporaryFolder checkout;
  std::filesystem::create_directories(checkout / "build");
  std::filesystem::create_symlink(std::filesystem::path(program("ws-mock")).parent_path(), checkout / "build" / "bin");
  std::filesystem::create_symlink(recipes, checkout / "recipes");
  const std::string whole = "set -e\ncd '" + checkout.path().string() +
                            "'\nexport PYTHONDONTWRITEBYTECODE=1 PATH=\"$PWD/build/bin:$PATH\"\n" + script;
  return run_command({.arguments = {"bash", "-c", whole}});
}

Json read_recipe(const std::string& path) {
  return *ws::parse_yaml_with_positions(ws::read_file(recipes / path, 1U << 20U).value()).value().value;
}

void check_run(const std::string& script) {
  CAPTURE(script);
  const Ended ended = in_checkout(script);
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
}

}  // namespace

TEST_CASE("recipes: the shell script, the Python tests and the Node tests pass", "[server-mock]") {
  check_run("recipes/shell/notes_test.sh");
  check_run("python3 -m unittest discover -s recipes/python");
  check_run("node --test recipes/node/");
}

TEST_CASE("recipes: a test that fails prints the requests of its world, and keeps a trace", "[server-mock]") {
  check_run(
      "cat >fails.test.mjs <<'end'\n"
      "import { worldTest } from './recipes/node/world.mjs';\n"
      "const me = (world) => fetch(`${world.base_url}/v1/me`, { headers: { Authorization: `Bearer ${world.token}` } "
      "});\n"
      "worldTest('passes', me);\n"
      "worldTest('fails', async (world) => { await me(world); throw new Error('no'); });\n"
      "end\n"
      "! node --test fails.test.mjs >printed && grep -q '200 GET /v1/me' printed\n"
      "test \"$(ls ws-mock-traces)\" = fails.json && grep -q '\"documents\"' ws-mock-traces/fails.json\n");
  check_run(
      "python3 -c 'import pytest' 2>/dev/null || exit 0\n"
      "cp recipes/python/conftest.py . && cat >test_fails.py <<'end'\n"
      "import urllib.request\n"
      "def test_fails(mock):\n"
      "    me = urllib.request.Request(mock['base_url'] + '/v1/me', headers={'Authorization': 'Bearer ' + "
      "mock['token']})\n"
      "    assert urllib.request.urlopen(me).status == 201\n"
      "end\n"
      "! python3 -m pytest -q test_fails.py >printed && grep -q '200 GET /v1/me' printed && test -s "
      "ws-mock-traces/*.json\n");
}

TEST_CASE("recipes: the script of the sweep survives, as its Python and Node tests say", "[server-mock]") {
  check_run("python3 -m unittest discover -s recipes/sweep");
  check_run("node --test recipes/sweep/");
  check_run(
      "mkdir reports && SAMPLE=2 REPORTS=reports recipes/sweep/ci_job.sh && grep -q '<testcase' reports/sweep.xml");
}

TEST_CASE("recipes: the shell script fails where the server does not start", "[server-mock]") {
  CHECK(in_checkout("mkdir p; printf '#!/bin/sh\\nexit 1\\n' >p/ws-mock; chmod +x p/ws-mock; PATH=\"$PWD/p:$PATH\" "
                    "recipes/shell/notes_test.sh")
            .exit != 0);
}

TEST_CASE("recipes: the first lines of docs/ci.md work in an empty repository with a release's tarball",
          "[server-mock]") {
  const std::string document = ws::read_file(source_path("/docs/ci.md")).value();
  const std::string fence = "```sh\n";
  const std::size_t begin = document.find(fence) + fence.size();
  const std::string lines = document.substr(begin, document.find("```", begin) - begin);
  CHECK(std::ranges::count(lines, '\n') == 5);
  TemporaryFolder folder;
  const std::string script =
      "set -e; cd '" + folder.path().string() + "'; mkdir -p away/ws-1-linux-x86_64/bin repository; cp '" +
      program("ws-mock") +
      "' away/ws-1-linux-x86_64/bin/; cd repository; git init -q .\n"
      "tar cf - -C ../away ws-1-linux-x86_64 | gzip -1 >ws-1-linux-x86_64.tar.gz; rm -r ../away; export "
      "PATH=/usr/bin:/bin\n" +
      lines +
      "test \"$(command -v ws-mock)\" = \"$PWD/tools/bin/ws-mock\"\n"
      "grep -q 'failures=\"0\"' sweep.xml && ! ws-mock env 2>/dev/null\n"
      // A client that doubles is red.
      "cat >client.sh <<'end'\n"
      "for try in 1 2; do curl -sf -H \"Authorization: Bearer $WS_TOKEN\" -H 'Content-Type: application/json' "
      "-d '{\"title\": \"x\", \"content\": \"\"}' \"$WS_BASE_URL/v1/documents\" -o /dev/null && exit; done\n"
      "end\n"
      "ws-mock sweep --only reset-after -- sh client.sh >report && exit 9; grep -q doubled report\n";
  const Ended ended = run_command({.arguments = {"bash", "-c", script}});
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
}

TEST_CASE("recipes: ws-mock is carried from one job to the next as one file", "[server-mock]") {
  const Ended needed = run_command({.arguments = {"ldd", program("ws-mock")}});
  REQUIRE(needed.exit == 0);
  INFO(needed.out);
  if (needed.out.find("libasan") != std::string::npos || needed.out.find("libtsan") != std::string::npos) return;
  std::istringstream lines(needed.out);
  for (std::string line; std::getline(lines, line);) {
    const bool of_the_c_library =
        line.find("linux-vdso") != std::string::npos || line.find("libc.so") != std::string::npos ||
        line.find("libm.so") != std::string::npos || line.find("ld-linux") != std::string::npos;
    CHECK(of_the_c_library);
  }
}

TEST_CASE("recipes: the services of the compose file find each other", "[server-mock]") {
  const Json services = read_recipe("compose/compose.yaml").at("services");
  TemporaryFolder folder;
  const std::string ready = (folder / "ready.json").string();
  std::vector<std::string> words = {program("ws-mock"), "--log", "off"};
  for (const Json& word : services.at("mock").at("command")) {
    std::string text = word;
    for (const auto& [theirs, ours] : {std::pair<std::string, std::string>{":8080", ":0"},
                                       {"/tmp/ready.json", ready},
                                       {"${WS_CONTROL_TOKEN:?set it to a secret of your own}", "turnkey"}}) {
      if (const std::size_t at = text.find(theirs); at != std::string::npos) text.replace(at, theirs.size(), ours);
    }
    words.push_back(text);
  }
  Running mock({.arguments = words});
  REQUIRE(mock.wait_for("http://127.0.0.1:"));
  CHECK(std::filesystem::file_size(ready) > 0);  // what the health check looks for
  CHECK(services.at("mock").at("healthcheck").at("test") == Json{"CMD", "test", "-s", "/tmp/ready.json"});
  CHECK(services.at("tests").at("depends_on").at("mock").at("condition") == "service_healthy");

  // The tests call the service by its name in the network; here that is the port on this machine, under that name.
  std::string script = services.at("tests").at("command").at(2);
  for (std::size_t at = script.find("$$"); at != std::string::npos; at = script.find("$$", at + 1)) script.erase(at, 1);
  std::string out = mock.so_far().out;
  const std::string base_url = out.substr(0, out.find('\n'));
  // As the network resolves the name: the request brings it, the connection goes here.
  CHECK_THAT(script, Contains("Host: mock:8080"));
  // No default: a token that everybody knows protects nothing.
  CHECK_THAT(std::string(services.at("tests").at("environment").at("WS_CONTROL_TOKEN")), Contains(":?"));
  check_run("export WS_BASE_URL=" + base_url + " WS_CONTROL_TOKEN=turnkey\n" + script);
}
