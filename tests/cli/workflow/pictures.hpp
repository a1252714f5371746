/// Two folders with a note that shows pictures: the stage of the tests of attachments.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"

namespace ws::test {

inline const std::string png = std::string("\x89PNG\r\n\x1a\n\0bytes of a picture", 26);

/// Every file that is not hidden, with its bytes.
inline std::map<std::string, std::string> bytes_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder);
       entry != std::filesystem::recursive_directory_iterator();
       ++entry) {
    if (entry->path().filename().string().starts_with('.')) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      files.emplace(entry->path().lexically_relative(folder).string(), read_text(entry->path()));
    }
  }
  return files;
}

/// Two folders tied to one source; the first has a note that shows two pictures.
struct Pictures {
  MockProcess server;
  Person person{server};
  TemporaryFolder stage;
  std::filesystem::path here = stage / "here";
  std::filesystem::path there = stage / "there";
  std::string source;

  Pictures() {
    std::filesystem::create_directories(here / "img");
    std::filesystem::create_directory(there);
    write_text(here / "note.md", "# Note\n\n![a](img/a.png) and [[b.pdf]]\n");
    write_text(here / "img/a.png", png);
    write_text(here / "img/b.pdf", "%PDF-1.7 some pages");
    write_text(here / "img/unshown.png", "nobody shows it");
    const Ended tied = ws(here, {"sync", "init", "--name", "notes", "--json"});
    REQUIRE(tied.exit == 0);
    source = text_at(parse(tied.out), "source_id");
    REQUIRE(ws(there, {"sync", "init", "--source", source}).exit == 0);
  }
  Ended ws(const std::filesystem::path& folder, std::vector<std::string> arguments) const {
    return person.ws(std::move(arguments), folder);
  }
  Ended sync(const std::filesystem::path& folder) const { return ws(folder, {"sync", "--json"}); }
  /// The nth request of this kind from now on is answered late.
  void hold_up(const std::string& operation, int nth, std::chrono::milliseconds delay) const {
    const Json fault{{"operation", operation}, {"nth", nth}, {"effect", {{"delay_ms", delay.count()}}}};
    control(server, "POST", "/faults", dump(fault));
  }
  void wait_until_held_up() const {
    while (parse(control(server, "GET", "/faults", ""))["data"][0]["fired"] == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
  }
  void both_in_step() const {
    REQUIRE(sync(here).exit == 0);
    REQUIRE(sync(there).exit == 0);
  }
  std::size_t assets() const { return parse(body_of(server, "/v1/files?limit=100"))["data"].size(); }
};

inline std::vector<std::string> attachment_rows(const Ended& ended) {
  std::vector<std::string> rows;
  const Json report = parse(ended.out);
  for (const Json& row : report["actions"]) {
    if (row.contains("what") && row["what"] == "attachment")
      rows.push_back(row["action"].get<std::string>() + " " + row["path"].get<std::string>());
  }
  return rows;
}

}  // namespace ws::test
