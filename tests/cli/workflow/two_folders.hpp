/// Two folders that one person has tied to one source: the first test of anything that syncs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"

namespace ws::test {

/// Two folders of one person, tied to one source; the first holds two files and both are in step.
struct TwoFolders {
  MockProcess server;
  Person person{server};
  TemporaryFolder stage;
  std::filesystem::path here = stage / "here";
  std::filesystem::path there = stage / "there";

  TwoFolders() {
    std::filesystem::create_directories(here / "deep");
    std::filesystem::create_directory(there);
    write_text(here / "a.md", "one\ntwo\nthree\n");
    write_text(here / "deep/b.md", "# B\n");
    const Ended tied = person.ws({"sync", "init", "--name", "notes", "--json"}, here);
    REQUIRE(tied.exit == 0);
    REQUIRE(person.ws({"sync"}, here).exit == 0);
    REQUIRE(person.ws({"sync", "init", "--source", text_at(parse(tied.out), "source_id")}, there).exit == 0);
    REQUIRE(person.ws({"sync"}, there).exit == 0);
  }
  Ended ws(const std::filesystem::path& folder, std::vector<std::string> arguments) const {
    return person.ws(std::move(arguments), folder);
  }
  bool same() const { return texts_of(here) == texts_of(there); }
  /// The same line of a.md, edited on both sides; the first to sync wins.
  void collide() const {
    write_text(here / "a.md", "one\nhere\nthree\n");
    write_text(there / "a.md", "one\nthere\nthree\n");
    REQUIRE(ws(here, {"sync"}).exit == 0);
  }
};

}  // namespace ws::test
