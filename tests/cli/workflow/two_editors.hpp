/// Ada and Grace, a folder each, one source: Grace is always first, and Ada meets the conflicts.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/terminal_session.hpp"

namespace ws::test {

/// Paths and what the files hold.
using Texts = std::vector<std::pair<std::string, std::string>>;

inline const std::string soup =
    "---\ntitle: Soup\nserves: 4\n---\n# Soup\n\nChop two onions and a carrot, and let them sweat in butter until they "
    "are soft but not brown.\n\nSimmer for an hour.\n\n- salt\n- pepper\n- bay leaf\n\nOne.\n\nTwo.\n\nThree.\n\n"
    "Serve with bread and butter.\n";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

struct TwoEditors {
  MockProcess server{{"--fixtures",
                      source_path("/tests/cli/golden/walk/world.yaml"),
                      "--seed",
                      "1",
                      "--clock",
                      "frozen:2026-11-20T10:00:00Z"}};
  Person ada{server};
  Person grace{server};
  TemporaryFolder stage;
  std::filesystem::path mine = stage / "mine";
  std::filesystem::path hers = stage / "hers";

  explicit TwoEditors(const Texts& texts) {
    ada.environment["WS_TOKEN"] = "wsk_walk_ada_every_scope_000000000000000000001";
    grace.environment["WS_TOKEN"] = "wsk_walk_grace_every_scope_0000000000000000001";
    for (Person* person : {&ada, &grace}) {
      person->environment.erase("NO_COLOR");
      person->environment["TERM"] = "xterm-256color";
      person->environment["TZ"] = "UTC";
    }
    grace.environment["WS_DEVICE_NAME"] = "laptop";
    std::filesystem::create_directory(mine);
    std::filesystem::create_directory(hers);
    for (const auto& [path, text] : texts) write_text(mine / path, text);
    // What lies in no project is its maker's alone.
    const std::string project = ada.ws({"projects", "create", "Notes", "--format", "ids"}).out;
    REQUIRE(project.size() > 1);
    const Ended tied =
        ada.ws({"sync", "init", "--project", project.substr(0, project.size() - 1), "--name", "notes", "--json"}, mine);
    REQUIRE(tied.exit == 0);
    REQUIRE(ada.ws({"sync"}, mine).exit == 0);
    REQUIRE(grace.ws({"sync", "init", "--source", text_at(parse(tied.out), "source_id")}, hers).exit == 0);
    REQUIRE(grace.ws({"sync"}, hers).exit == 0);
  }

  /// A text of mine, as old as every other.
  void write_mine(const std::string& path, const std::string& text) const {
    write_text(mine / path, text);
    // 2026-11-20 09:30, in seconds since 1970
    const auto time = std::chrono::sys_seconds(std::chrono::seconds(1795167000));
    std::filesystem::last_write_time(mine / path, std::chrono::file_clock::from_sys(time));
  }
  void grace_syncs() const {
    const Ended synced = grace.ws({"sync"}, hers);
    CAPTURE(synced.out, synced.err);
    REQUIRE(synced.exit == 0);
  }
  /// Ada meets what collides.
  void ada_syncs(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), "sync");
    const Ended synced = ada.ws(more, mine);
    CAPTURE(synced.out, synced.err);
    REQUIRE(synced.exit == 7);
  }
  Json conflicts() const { return parse(ada.ws({"sync", "conflicts", "--json"}, mine).out)["data"]; }
  Command resolve(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"sync", "resolve"});
    return ada.command(std::move(more), mine);
  }
  /// Both in step, and nothing left to do.
  void check_settled() const {
    const Ended first = ada.ws({"sync"}, mine);
    CAPTURE(first.out, first.err);
    CHECK(first.exit == 0);
    grace_syncs();
    CHECK(texts_of(mine) == texts_of(hers));
    CHECK(ada.ws({"sync"}, mine).out.empty());
    CHECK(conflicts().empty());
  }
};

/// soup.md collides in one place and merges in others.
inline void collide_on_soup(const TwoEditors& two) {
  write_text(two.hers / "soup.md",
             replaced(replaced(soup, "an hour", "an hour and a half"), "- pepper", "- white pepper"));
  two.grace_syncs();
  two.write_mine("soup.md", replaced(replaced(soup, "an hour", "two hours"), "serves: 4", "serves: 6"));
  two.ada_syncs();
}

/// Every file of the tree and of `.ws/` with its text, but for what only the database's and the lock's own upkeep is.
inline std::map<std::string, std::string> everything_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_upkeep = name.ends_with("-wal") || name.ends_with("-shm") || name == "lock";
    if (entry.is_regular_file() && !is_upkeep) texts[entry.path().string()] = read_text(entry.path());
  }
  return texts;
}

/// Every document with its revision, as the service lists them.
inline std::string service_state(const TwoEditors& two) {
  return two.ada.ws({"docs", "list", "--all", "--json", "--fields", "id,content_revision,status"}).out;
}

}  // namespace ws::test
