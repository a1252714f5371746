#include "cli/settings/settings.hpp"

#include <filesystem>

#include <catch2/catch.hpp>
#include <pwd.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "cli/grammar/topics.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

struct Home {
  test::TemporaryFolder folder;
  Paths paths = {.config = folder / "config"};

  void config(std::string_view text) {
    REQUIRE(make_folders(paths.config));
    REQUIRE(write_file(paths.config / "config.yaml", text));
  }
  void project(std::string_view text) {
    REQUIRE(make_folders(folder / "tree/deep"));
    REQUIRE(write_file(folder / "tree/.ws.yaml", text));
  }
  Result<Settings> read(const SettingFlags& flags = {}, const Environment& environment = Environment()) {
    return read_settings(flags, environment, paths, folder / "tree/deep");
  }
};

}  // namespace

TEST_CASE("settings: without HOME the account's own folder is used, not the root folder", "[cli]") {
  const passwd* const account = ::getpwuid(::geteuid());
  REQUIRE(account != nullptr);
  const std::filesystem::path home = account->pw_dir;
  CHECK(cli::Paths::of(cli::Environment::of({})).state == home / ".local/state/ws");
  CHECK(cli::Paths::of(cli::Environment::of({{"HOME", ""}})).config == home / ".config/ws");
  CHECK(cli::Paths::of(cli::Environment::of({{"HOME", "/h"}})).data == "/h/.local/share/ws");
}

TEST_CASE("settings: the help about the environment names the variable of each", "[cli]") {
  const auto topic = find_topic("environment");
  REQUIRE(topic);
  for (const SettingRule& rule : setting_rules()) {
    CAPTURE(rule.key);
    CHECK((rule.variable.empty() || topic->text.find(rule.variable) != std::string_view::npos));
  }
}

TEST_CASE("settings: flag, environment, project, user config, in this order", "[cli]") {
  Home home;
  home.config("defaults: {profile: from-config}");
  CHECK(home.read()->profile.value == "from-config");
  CHECK(home.read()->profile.where == Where::user_config);
  home.project("profile: from-project");
  CHECK(home.read()->profile.value == "from-project");
  const Environment environment = Environment::of({{"WS_PROFILE", "from-environment"}});
  CHECK(home.read({}, environment)->profile.value == "from-environment");
  CHECK(home.read({.profile = "from-flag"}, environment)->profile.value == "from-flag");
}

TEST_CASE("settings: the profile names the server, and a flag another", "[cli]") {
  Home home;
  home.config("profiles:\n  work: {base_url: 'https://work.example', workspace: W}\n");
  const auto settings = home.read({.profile = "work"});
  REQUIRE(settings);
  CHECK(settings->base_url.value == "https://work.example");
  CHECK(settings->workspace.value == "W");
  CHECK(home.read({.profile = "work", .base_url = "https://x.example"})->base_url.value == "https://x.example");
  CHECK_FALSE(home.read()->base_url);
}

TEST_CASE("settings: a tree cannot name a server", "[cli]") {
  Home home;
  home.project("base_url: https://evil.example\nprofile: p\n");
  const auto settings = home.read();
  REQUIRE(settings);
  CHECK_FALSE(settings->base_url);
  CHECK(settings->profile.value == "p");
  REQUIRE(settings->notes.size() == 1);
  CHECK(settings->notes.front().find("`base_url` is ignored") != std::string::npos);
}

TEST_CASE("settings: a config that cannot be read is a usage error that names the file", "[cli]") {
  Home home;
  home.config("profiles: [");
  const auto settings = home.read();
  REQUIRE_FALSE(settings);
  CHECK(settings.error().kind == Failure::Kind::usage);
  CHECK(settings.error().what.find("config.yaml") != std::string::npos);
}

TEST_CASE("settings: nothing at all is fine", "[cli]") {
  Home home;
  const auto settings = home.read();
  REQUIRE(settings);
  CHECK_FALSE(settings->base_url);
  CHECK(settings->notes.empty());
}

TEST_CASE("base url: plain http goes to loopback, and to hosts that the environment names", "[cli]") {
  const Environment none;
  CHECK(check_base_url("https://a.example/", none)->text == "https://a.example");
  CHECK(check_base_url("http://127.0.0.1:4711/_s/1", none)->origin == "http://127.0.0.1:4711");
  CHECK(check_base_url("http://localhost:1", none));
  CHECK(check_base_url("http://[::1]:1", none));
  CHECK(check_base_url("http://mock:8080", none).error().kind == Failure::Kind::usage);
  CHECK(check_base_url("http://mock:8080", Environment::of({{"WS_ALLOW_HTTP", "a,mock:8080"}}))->plain_http);
  CHECK(check_base_url("http://mock:8080", Environment::of({{"WS_ALLOW_HTTP", "mock"}})));
  CHECK_FALSE(check_base_url("http://mock:8081", Environment::of({{"WS_ALLOW_HTTP", "mock:8080"}})));
  CHECK_FALSE(check_base_url("http://mock.evil.example", Environment::of({{"WS_ALLOW_HTTP", "mock"}})));
}

TEST_CASE("base url: what is no server is refused", "[cli]") {
  const std::string text = GENERATE(as<std::string>{},
                                    "",
                                    "work.example",
                                    "ftp://x",
                                    "https://user@host",
                                    "https://x/?q",
                                    "https://x#f",
                                    "https:// x");
  CAPTURE(text);
  CHECK_FALSE(check_base_url(text, Environment()));
}

TEST_CASE("settings: every place that names a value can be asked for, the winner first", "[cli]") {
  Home home;
  home.config("defaults: {format: csv}\nprofiles: {work: {format: yaml}}\n");
  const Environment environment = Environment::of({{"WS_FORMAT", "tsv"}, {"WS_PROFILE", "work"}});
  const SettingFlags flags{.format = "json"};
  const auto named = who_names(*find_setting_rule("format"), flags, environment, home.paths, home.folder.path());
  REQUIRE(named);
  const std::string file = (home.paths.config / "config.yaml").string();
  CHECK(*named == std::vector<Named>{{Where::flag, "--format", "json"},
                                     {Where::environment, "WS_FORMAT", "tsv"},
                                     {Where::user_config, file + ": profiles.work.format", "yaml"},
                                     {Where::user_config, file + ": defaults.format", "csv"}});
}

TEST_CASE("settings: nobody's value is the default", "[cli]") {
  Home home;
  const auto named = who_names(*find_setting_rule("max_wait"), {}, Environment(), home.paths, home.folder.path());
  REQUIRE(named);
  CHECK(*named == std::vector<Named>{{Where::fallback, "built in", "60"}});
  CHECK_FALSE(home.read()->max_wait);
}

TEST_CASE("settings: without a name the profile `default` is meant", "[cli]") {
  Home home;
  home.config("profiles: {default: {base_url: 'https://home.example'}}");
  CHECK(home.read()->base_url.value == "https://home.example");
  CHECK_FALSE(home.read()->profile);
}

TEST_CASE("settings: config values are written, read back and removed", "[cli]") {
  Home home;
  REQUIRE(write_config(home.paths, "defaults.format", "yaml"));
  REQUIRE(write_config(home.paths, "aliases.mine", "docs list --limit 5"));
  CHECK(home.read()->format.value == "yaml");
  CHECK(read_aliases(home.paths)->at("mine") == "docs list --limit 5");
  REQUIRE(write_config(home.paths, "defaults.format", ""));
  CHECK_FALSE(home.read()->format);
}
