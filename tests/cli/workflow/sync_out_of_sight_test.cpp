// What a rule or a name keeps out of sight: that it goes missing meanwhile is no wish, on neither side (`sync.md`).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/cli/workflow/pictures.hpp"
#include "tests/cli/workflow/rewound.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

using Change = std::function<void(const fs::path& folder)>;

constexpr const char* config_of_all = "attachments: linked\ninclude: ['*.txt']\nattachments_kinds: any\n";

/// `here` and `there` in step: notes and files of every kind that a rule below may leave out, and some that none does.
struct OutOfSight {
  MockProcess server;
  Person person{server};
  TemporaryFolder stage;
  fs::path here = stage / "here";
  fs::path there = stage / "there";

  OutOfSight() {
    fs::create_directories(here / "x");
    fs::create_directory(there);
    write_text(here / "note.md",
               "![a](x/p.png) ![b](x/q.png) [c](<x/a:b.pdf>) [d](x/run.sh)\n![e](s1.png) ![f](s2.png) ![g](s3.png)\n");
    write_text(here / "x/n.md", "a note that is longer than thirty bytes\n");
    write_text(here / "x/n.txt", "a text\n");
    write_text(here / "x/a:b.md", "a name\n");
    write_text(here / "x/p.png", png);
    write_text(here / "x/q.png", png + "another");
    write_text(here / "x/a:b.pdf", "%PDF-1.7 pages");
    write_text(here / "x/run.sh", "#!/bin/sh\n");
    for (int i = 1; i <= 8; ++i) write_text(here / fmt::format("k{}.md", i), fmt::format("keep {}\n", i));
    for (int i = 1; i <= 3; ++i) write_text(here / fmt::format("s{}.png", i), png + std::to_string(i));
    const Ended tied = ws(here, {"sync", "init", "--name", "notes", "--json"});
    REQUIRE(tied.exit == 0);
    REQUIRE(ws(there, {"sync", "init", "--source", text_at(parse(tied.out), "source_id")}).exit == 0);
    for (const fs::path& folder : {here, there}) {
      write_text(folder / ".ws/config.yaml", config_of_all);
      REQUIRE(sync(folder).exit == 0);
    }
    write_text(there / "x/tools.md", "[t](tool.sh)\n");
    write_text(there / "x/tool.sh", "#!/bin/sh\necho\n");
    REQUIRE(sync(there).exit == 0);
    REQUIRE(sync(here).exit == 0);
    REQUIRE(bytes_of(here) == bytes_of(there));
  }
  Ended ws(const fs::path& folder, std::vector<std::string> arguments) const {
    return person.ws(std::move(arguments), folder);
  }
  Ended sync(const fs::path& folder) const { return ws(folder, {"sync", "--json"}); }
};

struct Rule {
  const char* name;
  const char* path;
  Change set;
  Change take_away;
};

Change config(const std::string& lines, bool includes_text = true) {
  return [=](const fs::path& folder) {
    const std::string kinds = lines.find("attachments_kinds") == std::string::npos ? "attachments_kinds: any\n" : "";
    const std::string mode = lines.find("attachments:") == std::string::npos ? "attachments: linked\n" : "";
    write_text(folder / ".ws/config.yaml", (includes_text ? "include: ['*.txt']\n" : "") + mode + kinds + lines);
  };
}

Change rules_file(const std::string& name, const std::string& text) {
  return [=](const fs::path& folder) { write_text(folder / name, text); };
}

Change remove_file(const std::string& name) {
  return [=](const fs::path& folder) { fs::remove(folder / name); };
}

std::vector<Rule> rules() {
  const Change whole = config("");
  return {
      {".wsignore, a note", "x/n.md", rules_file(".wsignore", "x/\n"), remove_file(".wsignore")},
      {".wsignore, a file", "x/p.png", rules_file(".wsignore", "x/\n"), remove_file(".wsignore")},
      {".wsignore of a folder, a note", "x/n.md", rules_file("x/.wsignore", "*.md\n"), remove_file("x/.wsignore")},
      {".wsignore of a folder, a file", "x/p.png", rules_file("x/.wsignore", "*\n"), remove_file("x/.wsignore")},
      {"a pattern that becomes narrower, a note",
       "x/n.md",
       rules_file(".wsignore", "x/n*\n"),
       rules_file(".wsignore", "x/nothing*\n")},
      {"a pattern that becomes narrower, a file",
       "x/p.png",
       rules_file(".wsignore", "*.png\n"),
       rules_file(".wsignore", "y/*.png\n")},
      {"include:", "x/n.txt", config("", false), whole},
      {"attachments: off", "x/p.png", config("attachments: off\n"), whole},
      {"attachments: off, then all", "x/p.png", config("attachments: off\n"), config("attachments: all\n")},
      {"attachments_exclude:", "x/p.png", config("attachments_exclude: ['x/*.png']\n"), whole},
      {"attachments_max_bytes:", "x/q.png", config("attachments_max_bytes: 28\n"), whole},
      {"attachments_kinds:", "x/tool.sh", config("attachments_kinds: plain\n"), whole},
      {"attachments_kinds:, a file that was sent", "x/p.png", config("attachments_kinds: [pdf]\n"), whole},
      {"max_file_bytes:", "x/n.md", config("max_file_bytes: 30\n"), whole},
      {"leave_out:, the folder of a note", "x/n.md", config("leave_out: [x/]\n"), whole},
      {"leave_out:, a note", "x/n.md", config("leave_out: [x/n.md]\n"), whole},
      {"leave_out:, a file", "x/p.png", config("leave_out: [x/p.png]\n"), whole},
      {"names: portable, a note", "x/a:b.md", config("names: portable\n"), whole},
      {"names: portable, a file", "x/a:b.pdf", config("names: portable\n"), whole},
  };
}

std::string shown(const Ended& ended) { return ended.out + ended.err; }

bool names(const Json& list, const std::string& path, const std::string& reason) {
  return std::ranges::any_of(
      list, [&](const Json& one) { return text_at(one, "path") == path && text_at(one, "reason") == reason; });
}

}  // namespace

TEST_CASE("out of sight: what went missing here while a rule left it out is received again", "[cli]") {
  const OutOfSight two;
  const Rewound start(two.server, two.stage.path());
  for (const Rule& rule : rules()) {
    CAPTURE(rule.name);
    start.rewind();
    REQUIRE(two.sync(two.here).exit == 0);
    REQUIRE(two.sync(two.there).exit == 0);
    const auto before = bytes_of(two.there);
    rule.set(two.here);
    INFO(shown(two.sync(two.here)));
    fs::remove(two.here / rule.path);
    const Ended under = two.sync(two.here);
    INFO(shown(under));
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK(bytes_of(two.there) == before);
    CHECK_FALSE(fs::exists(two.here / rule.path));
    rule.take_away(two.here);
    const Ended planned = two.ws(two.here, {"sync", "plan", "--json"});
    CHECK(planned.out.find("delete") == std::string::npos);
    const Ended back = two.sync(two.here);
    INFO(shown(back));
    CHECK(back.exit == 0);
    CHECK(bytes_of(two.here) == before);
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK(bytes_of(two.there) == before);
    // From now on it is in sight: that it goes is a wish.
    fs::remove(two.here / rule.path);
    CHECK(two.sync(two.here).exit == 0);
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK_FALSE(fs::exists(two.there / rule.path));
  }
}

TEST_CASE("out of sight: a rule that `push` alone has seen keeps files, too", "[cli]") {
  const OutOfSight two;
  const auto before = bytes_of(two.there);
  for (const bool goes_here : {true, false}) {
    CAPTURE(goes_here);
    write_text(two.here / ".wsignore", "x/\n");
    REQUIRE(two.ws(two.here, {"sync", "push"}).exit == 0);
    fs::remove((goes_here ? two.here : two.there) / "x/p.png");
    if (!goes_here) REQUIRE(two.sync(two.there).exit == 0);
    fs::remove(two.here / ".wsignore");
    INFO(shown(two.sync(two.here)));
    CHECK(fs::exists(two.here / "x/p.png"));
    if (goes_here) CHECK(bytes_of(two.there) == before);
  }
}

TEST_CASE("out of sight: what went on the service while a rule left it out is kept here, and told", "[cli]") {
  const OutOfSight two;
  const Rewound start(two.server, two.stage.path());
  for (const Rule& rule : rules()) {
    CAPTURE(rule.name);
    start.rewind();
    REQUIRE(two.sync(two.here).exit == 0);
    REQUIRE(two.sync(two.there).exit == 0);
    const std::string bytes = read_text(two.here / rule.path);
    rule.set(two.here);
    INFO(shown(two.sync(two.here)));
    fs::remove(two.there / rule.path);
    REQUIRE(two.sync(two.there).exit == 0);
    INFO(shown(two.sync(two.here)));
    rule.take_away(two.here);
    for (int run = 0; run < 2; ++run) {
      const Ended back = two.sync(two.here);
      INFO(shown(back));
      REQUIRE(fs::exists(two.here / rule.path));
      CHECK(read_text(two.here / rule.path) == bytes);
      const Json report = parse(back.out);
      CHECK((names(report["detached"], rule.path, "archived") || names(report["skipped"], rule.path, "archived")));
      REQUIRE(two.sync(two.there).exit == 0);
      CHECK_FALSE(fs::exists(two.there / rule.path));
    }
    // It goes for good once it is removed here as well.
    fs::remove(two.here / rule.path);
    const Ended gone = two.sync(two.here);
    CHECK(gone.exit == 0);
    CHECK(parse(gone.out)["detached"].empty());
    CHECK_FALSE(fs::exists(two.here / rule.path));
  }
}

TEST_CASE("out of sight: what was edited on either side meanwhile is compared with what both agreed on", "[cli]") {
  const OutOfSight two;
  write_text(two.here / ".wsignore", "x/\n");
  REQUIRE(two.sync(two.here).exit == 0);
  SECTION("here") {
    write_text(two.here / "x/n.md", "edited here\n");
    fs::remove(two.here / ".wsignore");
    CHECK(two.sync(two.here).exit == 0);
    CHECK(two.sync(two.there).exit == 0);
    CHECK(read_text(two.there / "x/n.md") == "edited here\n");
  }
  SECTION("there, and it is missing here") {
    write_text(two.there / "x/n.md", "edited there\n");
    REQUIRE(two.sync(two.there).exit == 0);
    fs::remove(two.here / "x/n.md");
    fs::remove(two.here / ".wsignore");
    CHECK(two.ws(two.here, {"sync", "--accept-deletes"}).exit == 0);
    CHECK(read_text(two.here / "x/n.md") == "edited there\n");
  }
  SECTION("here, and it went there") {
    fs::remove(two.there / "x/n.md");
    REQUIRE(two.sync(two.there).exit == 0);
    REQUIRE(two.sync(two.here).exit == 0);
    write_text(two.here / "x/n.md", "edited here\n");
    fs::remove(two.here / ".wsignore");
    CHECK(two.sync(two.here).exit == 7);
    CHECK(read_text(two.here / "x/n.md") == "edited here\n");
  }
}

TEST_CASE("out of sight: the placeholder of a file that another program keeps is no deletion", "[cli]") {
  const std::string stub = GENERATE("x/.n.md.icloud", "x/n.md.nextcloud", "x/.p.png.icloud", "x/p.png.owncloud");
  const std::string path = stub.find("png") == std::string::npos ? "x/n.md" : "x/p.png";
  CAPTURE(stub);
  const OutOfSight two;
  const auto before = bytes_of(two.there);
  fs::remove(two.here / path);
  write_text(two.here / stub, "bplist00");
  const Ended seen = two.sync(two.here);
  INFO(shown(seen));
  const Json report = parse(seen.out);
  CHECK((names(report["detached"], path, "elsewhere") || names(report["skipped"], path, "elsewhere")));
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(bytes_of(two.there) == before);
  // Also where the program then takes its placeholder away.
  fs::remove(two.here / stub);
  CHECK(two.sync(two.here).exit == 0);
  CHECK(bytes_of(two.here) == before);
}

TEST_CASE("out of sight: a folder of which only the placeholder is left is no deletion", "[cli]") {
  const OutOfSight two;
  const auto before = bytes_of(two.there);
  fs::remove_all(two.here / "x");
  write_text(two.here / ".x.icloud", "bplist00");
  two.sync(two.here);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(bytes_of(two.there) == before);
}

namespace {

void give_hidden_name_and_remove(const std::string& path) {
  CAPTURE(path);
  const OutOfSight two;
  const auto before = bytes_of(two.there);
  const fs::path hidden = (two.here / path).parent_path() / ("." + (two.here / path).filename().string());
  fs::rename(two.here / path, hidden);
  INFO(shown(two.sync(two.here)));
  fs::remove(hidden);
  const Ended back = two.sync(two.here);
  INFO(shown(back));
  CHECK(back.exit == 0);
  CHECK(bytes_of(two.here) == before);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(bytes_of(two.there) == before);
}

}  // namespace

TEST_CASE("out of sight: a file that was given a hidden name and then removed is received again", "[cli]") {
  give_hidden_name_and_remove(GENERATE("x/n.md", "x/p.png"));
}

TEST_CASE("out of sight: what was moved into an ignored folder is no deletion, nor when it is removed there", "[cli]") {
  const std::string path = GENERATE("x/n.md", "x/n.txt", "x/p.png");
  CAPTURE(path);
  const OutOfSight two;
  write_text(two.here / ".wsignore", "away/\n");
  REQUIRE(two.sync(two.here).exit == 0);
  const auto before = bytes_of(two.there);
  const fs::path moved = two.here / "away/deep" / ("other" + fs::path(path).extension().string());
  fs::create_directories(moved.parent_path());
  fs::rename(two.here / path, moved);
  for (int run = 0; run < 2; ++run) {
    const Ended ended = two.sync(two.here);
    INFO(shown(ended));
    CHECK(ended.out.find("delete") == std::string::npos);
    const Json report = parse(ended.out);
    CHECK((names(report["detached"], path, "ignored") || names(report["skipped"], path, "ignored")));
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK(bytes_of(two.there) == before);
  }
  SECTION("it is removed there") {
    fs::remove_all(two.here / "away");
    CHECK(two.sync(two.here).exit == 0);
    CHECK(bytes_of(two.here) == before);
  }
  SECTION("it is moved out again") {
    fs::rename(moved, two.here / path);
    CHECK(parse(two.sync(two.here).out)["actions"].empty());
  }
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(bytes_of(two.there) == before);
}

TEST_CASE("out of sight: a note that ws renamed into a folder that is ignored before the next sync", "[cli]") {
  const OutOfSight two;
  const auto before = bytes_of(two.there);
  fs::create_directory(two.here / "away");
  REQUIRE(two.ws(two.here, {"sync", "mv", "k1.md", "away/k1.md"}).exit == 0);
  write_text(two.here / ".wsignore", "away/\n");
  for (int run = 0; run < 2; ++run) {
    const Ended ended = two.sync(two.here);
    INFO(shown(ended));
    CHECK(names(parse(ended.out)["detached"], "k1.md", "ignored"));
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK(bytes_of(two.there) == before);
  }
  fs::remove(two.here / ".wsignore");
  CHECK(two.sync(two.here).exit == 0);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(fs::exists(two.there / "away/k1.md"));
  CHECK_FALSE(fs::exists(two.there / "k1.md"));
}

TEST_CASE("out of sight: a note that was moved out of an ignored folder is renamed, and no second one", "[cli]") {
  const OutOfSight two;
  write_text(two.here / ".wsignore", "x/\n");
  REQUIRE(two.sync(two.here).exit == 0);
  fs::rename(two.here / "x/n.md", two.here / "out.md");
  const Ended moved = two.sync(two.here);
  INFO(shown(moved));
  CHECK(moved.out.find("push_move") != std::string::npos);
  CHECK(moved.out.find("create") == std::string::npos);
  fs::remove(two.here / ".wsignore");
  CHECK(parse(two.sync(two.here).out)["actions"].empty());
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(bytes_of(two.there) == bytes_of(two.here));
  CHECK_FALSE(fs::exists(two.there / "x/n.md"));
}

TEST_CASE("out of sight: an undo names the file that it may not sync, and leaves it", "[cli]") {
  const std::string rule =
      GENERATE("attachments: off\n", "attachments_exclude: ['x/*']\n", "attachments_max_bytes: 9\n", "x/*.png\n");
  CAPTURE(rule);
  const OutOfSight two;
  write_text(two.here / "x/p.png", png + "edited");
  REQUIRE(two.sync(two.here).exit == 0);
  (rule == "x/*.png\n" ? rules_file(".wsignore", rule) : config(rule))(two.here);
  for (int run = 0; run < 2; ++run) {
    const Ended undone = two.ws(two.here, {"sync", "undo", "--yes", "--json"});
    INFO(shown(undone));
    CHECK(undone.exit == 13);
    const Json left = parse(undone.out)["left"];
    REQUIRE(left.size() == 1);
    CHECK(text_at(left[0], "path") == "x/p.png");
    CHECK(read_text(two.here / "x/p.png") == png + "edited");
  }
  config("")(two.here);
  fs::remove(two.here / ".wsignore");
  CHECK(two.ws(two.here, {"sync", "undo", "--yes"}).exit == 0);
  CHECK(read_text(two.here / "x/p.png") == png);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(read_text(two.there / "x/p.png") == png);
}

TEST_CASE("out of sight: an undo leaves the name of a file that it may not sync, unless only this folder has it",
          "[cli]") {
  const OutOfSight two;
  const bool is_sent = GENERATE(true, false);
  CAPTURE(is_sent);
  if (!is_sent) config("attachments: off\n")(two.here);
  REQUIRE(two.ws(two.here, {"sync", "mv", "x/p.png", "x/r.png"}).exit == 0);
  if (is_sent) REQUIRE(two.sync(two.here).exit == 0);
  config("attachments: off\n")(two.here);
  const Ended undone = two.ws(two.here, {"sync", "undo", "--json"});
  INFO(shown(undone));
  CHECK(undone.exit == (is_sent ? 13 : 0));
  CHECK(parse(undone.out)["left"].size() == (is_sent ? 1 : 0));
  CHECK(fs::exists(two.here / "x/p.png") != is_sent);
}

TEST_CASE("out of sight: a link to a folder is left alone, and told until a rule names it", "[cli]") {
  const OutOfSight two;
  fs::create_directory(two.stage / "elsewhere");
  write_text(two.stage / "elsewhere/n.md", "elsewhere\n");
  fs::create_symlink(two.stage / "elsewhere", two.here / "linked");
  for (int run = 0; run < 2; ++run) {
    const Json report = parse(two.sync(two.here).out);
    CHECK(names(report["skipped"], "linked", "symlink"));
    CHECK(names(parse(two.ws(two.here, {"sync", "status", "--json"}).out)["skipped"], "linked", "symlink"));
  }
  CHECK_THAT(two.ws(two.here, {"sync", "status"}).out, Contains("skipped\t\tlinked\t\tsymlink\n"));
  for (const std::string rule : {"linked", "linked/"}) {
    write_text(two.here / ".wsignore", rule + "\n");
    for (int run = 0; run < 2; ++run) CHECK(parse(two.sync(two.here).out)["skipped"].empty());
    fs::remove(two.here / ".wsignore");
    CHECK(names(parse(two.sync(two.here).out)["skipped"], "linked", "symlink"));
  }
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK_FALSE(fs::exists(two.there / "linked"));
}

TEST_CASE("out of sight: a tied folder that was moved into another one goes to its own source alone", "[cli]") {
  const OutOfSight two;
  const fs::path inner = two.stage / "inner";
  fs::create_directories(inner / "deep");
  write_text(inner / "own.md", "own ![p](own.png)\n");
  write_text(inner / "own.png", png + "own");
  write_text(inner / "deep/own.md", "deep\n");
  REQUIRE(two.ws(inner, {"sync", "init", "--name", "inner"}).exit == 0);
  REQUIRE(two.sync(inner).exit == 0);
  REQUIRE(two.sync(two.here).exit == 0);  // what it had is in the cache
  fs::rename(inner, two.here / "inner");
  for (int run = 0; run < 2; ++run) {
    const Ended ended = two.sync(two.here);
    INFO(shown(ended));
    CHECK(ended.exit == 0);
    CHECK(names(parse(ended.out)["skipped"], "inner", "tied_elsewhere"));
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK_FALSE(fs::exists(two.there / "inner"));
  }
  // Nor does what arrives go into it.
  fs::create_directory(two.there / "inner");
  write_text(two.there / "inner/new.md", "new\n");
  write_text(two.there / "note.md", read_text(two.there / "note.md") + "![i](inner/new.png)\n");
  write_text(two.there / "inner/new.png", png + "new");
  REQUIRE(two.sync(two.there).exit == 0);
  const Json arrived = parse(two.sync(two.here).out);
  CHECK(names(arrived["skipped"], "inner/new.md", "tied_elsewhere"));
  CHECK_FALSE(fs::exists(two.here / "inner/new.md"));
  CHECK_FALSE(fs::exists(two.here / "inner/new.png"));
  CHECK(two.sync(two.here / "inner").exit == 0);
  // Its marker gone, it is a folder like any other.
  fs::remove_all(two.here / "inner/.ws");
  REQUIRE(two.sync(two.here).exit == 0);
  CHECK(fs::exists(two.here / "inner/new.md"));
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(fs::exists(two.there / "inner/deep/own.md"));
}

TEST_CASE("out of sight: sync mv neither takes a tied folder apart nor moves a note into it", "[cli]") {
  const OutOfSight two;
  const fs::path inner = two.here / "outer/inner";
  fs::create_directories(two.stage / "inner");
  write_text(two.stage / "inner/own.md", "own\n");
  REQUIRE(two.ws(two.stage / "inner", {"sync", "init", "--name", "inner"}).exit == 0);
  REQUIRE(two.sync(two.stage / "inner").exit == 0);
  fs::create_directory(two.here / "outer");
  fs::rename(two.stage / "inner", inner);
  const std::vector<std::pair<std::string, std::string>> moves = {{"outer/inner", "elsewhere"},
                                                                  {"outer", "elsewhere"},
                                                                  {"note.md", "outer/inner"},
                                                                  {"note.md", "outer/inner/new/note.md"},
                                                                  {"outer/inner/own.md", "own.md"}};
  for (const auto& [from, to] : moves) {
    const Ended refused = two.ws(two.here, {"sync", "mv", from, to});
    INFO(from << " to " << to << '\n' << shown(refused));
    CHECK(refused.exit == 2);
    CHECK_THAT(refused.err, Contains("outer/inner is a synced folder of its own"));
    CHECK(fs::exists(two.here / "note.md"));
    CHECK(fs::exists(inner / "own.md"));
  }
  CHECK(two.ws(inner, {"sync", "mv", "own.md", "renamed.md"}).exit == 0);
  CHECK(fs::exists(inner / "renamed.md"));
}

TEST_CASE("out of sight: what was renamed out of sight is no deletion, and is the same once it is back", "[cli]") {
  const auto [from, to] = GENERATE(table<std::string, std::string>(
      {{"x", ".x"}, {"x/n.md", ".hid/n.md"}, {"x/p.png", ".hid/p.png"}, {"x/p.png", "x/p.gif"}}));
  CAPTURE(from, to);
  const OutOfSight two;
  // `include:` names hidden files too.
  config("attachments_exclude: ['*.gif']\n", false)(two.here);
  REQUIRE(two.sync(two.here).exit == 0);
  const auto ids = [&two] {
    return two.ws(two.here, {"docs", "list", "--all", "--json", "--fields", "id,status"}).out;
  };
  const auto before = bytes_of(two.there);
  const std::string documents = ids();
  fs::create_directories((two.here / to).parent_path());
  fs::rename(two.here / from, two.here / to);
  const Ended hidden = two.sync(two.here);
  INFO(shown(hidden));
  CHECK_FALSE(hidden.out.find("push_") != std::string::npos);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(bytes_of(two.there) == before);
  fs::rename(two.here / to, two.here / from);
  const Ended back = two.sync(two.here);
  INFO(shown(back));
  CHECK(back.exit == 0);
  CHECK(bytes_of(two.here) == before);
  CHECK(ids() == documents);
}

TEST_CASE("out of sight: a note that moved there to an ignored folder holds its old name no more", "[cli]") {
  const OutOfSight two;
  write_text(two.here / ".wsignore", "private/\n");
  REQUIRE(two.sync(two.here).exit == 0);
  fs::create_directory(two.there / "private");
  fs::rename(two.there / "k1.md", two.there / "private/k1.md");
  REQUIRE(two.sync(two.there).exit == 0);
  fs::remove(two.here / "k1.md");
  write_text(two.here / "k1.md/inside.md", "a folder has the name\n");
  const Ended sent = two.sync(two.here);
  INFO(shown(sent));
  CHECK(sent.exit == 0);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(read_text(two.there / "k1.md/inside.md") == "a folder has the name\n");
  CHECK(read_text(two.there / "private/k1.md") == "keep 1\n");
  fs::remove(two.here / ".wsignore");
  REQUIRE(two.sync(two.here).exit == 0);
  CHECK(bytes_of(two.here) == bytes_of(two.there));
}
