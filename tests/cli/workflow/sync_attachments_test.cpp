// The files that notes show, between two trees and through the real service.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/pictures.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

TEST_CASE("attachments: what notes show arrives byte for byte, each content once", "[cli]") {
  const Pictures vault;
  write_text(vault.here / "img/same.png", png);
  write_text(vault.here / "second.md", "![again](img/same.png)\n");
  const Ended planned = vault.ws(vault.here, {"sync", "status", "--json"});
  const std::vector<std::string> wanted = {
      "push_create img/a.png", "push_create img/b.pdf", "push_create img/same.png"};
  CHECK(attachment_rows(planned) == wanted);
  const Ended sent = vault.sync(vault.here);
  INFO(sent.out << sent.err);
  CHECK(sent.exit == 0);
  CHECK(attachment_rows(sent) == wanted);
  CHECK(vault.assets() == 2);
  const Ended received = vault.sync(vault.there);
  INFO(received.out << received.err);
  CHECK(received.exit == 0);
  auto expected = bytes_of(vault.here);
  expected.erase("img/unshown.png");
  CHECK(bytes_of(vault.there) == expected);
  CHECK(vault.assets() == 2);
  CHECK(parse(vault.sync(vault.there).out)["clean"] == true);
  CHECK(vault.assets() == 2);
}

TEST_CASE("attachments: a picture that was restored and not sent yet is taken back here alone", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  write_text(vault.there / "img/a.png", "theirs");
  REQUIRE(vault.sync(vault.there).exit == 0);
  REQUIRE(vault.sync(vault.here).exit == 0);
  REQUIRE(vault.ws(vault.here, {"sync", "restore", "img/a.png"}).exit == 0);
  REQUIRE(read_text(vault.here / "img/a.png") != "theirs");
  const Ended planned = vault.ws(vault.here, {"sync", "undo", "-n", "--json"});
  const Ended undone = vault.ws(vault.here, {"sync", "undo", "--json"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  CHECK(attachment_rows(undone) == std::vector<std::string>{"pull_update img/a.png"});
  CHECK(attachment_rows(planned) == attachment_rows(undone));
  CHECK(read_text(vault.here / "img/a.png") == "theirs");
}

TEST_CASE("attachments: what comes below the name of a file of one's own waits until there is room", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  fs::create_directory(vault.there / "own");
  write_text(vault.there / "own/p.png", "kept for myself");
  fs::create_directories(vault.here / "own/p.png");
  write_text(vault.here / "own/p.png/q.png", png);
  write_text(vault.here / "second.md", "![](own/p.png/q.png)\n");
  REQUIRE(vault.sync(vault.here).exit == 0);
  for (int run = 0; run < 2; ++run) {
    const Ended waits = vault.sync(vault.there);
    INFO(waits.out << waits.err);
    CHECK(waits.exit == 0);
    CHECK(parse(vault.ws(vault.there, {"sync", "status", "--json"}).out)["skipped"] ==
          Json::parse(R"([{"path": "own/p.png/q.png", "reason": "twin"}])"));
    CHECK(read_text(vault.there / "own/p.png") == "kept for myself");
  }
  fs::remove(vault.there / "own/p.png");
  CHECK(attachment_rows(vault.sync(vault.there)) == std::vector<std::string>{"pull_create own/p.png/q.png"});
}

TEST_CASE("attachments: edits, renames and deletions go both ways, a rename uploads nothing", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  const std::size_t before = vault.assets();
  fs::rename(vault.here / "img/a.png", vault.here / "img/renamed.png");
  write_text(vault.here / "note.md", "# Note\n\n![a](img/renamed.png) and [[b.pdf]]\n");
  write_text(vault.there / "img/b.pdf", "%PDF-1.7 other pages");
  CHECK(attachment_rows(vault.sync(vault.here)) == std::vector<std::string>{"push_move img/renamed.png"});
  CHECK(vault.assets() == before);
  CHECK(vault.sync(vault.there).exit == 0);
  CHECK(vault.assets() == before + 1);
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(read_text(vault.here / "img/b.pdf") == "%PDF-1.7 other pages");
  CHECK(bytes_of(vault.there).contains("img/renamed.png"));
  CHECK_FALSE(bytes_of(vault.there).contains("img/a.png"));
  fs::remove(vault.there / "img/renamed.png");
  CHECK(attachment_rows(vault.sync(vault.there)) == std::vector<std::string>{"push_delete img/renamed.png"});
  CHECK(attachment_rows(vault.sync(vault.here)) == std::vector<std::string>{"pull_delete img/renamed.png"});
  CHECK_FALSE(bytes_of(vault.here).contains("img/renamed.png"));
  // What went can be had again: from the service, by the state's name or without.
  CHECK(vault.ws(vault.here, {"sync", "restore", "img/renamed.png"}).exit == 0);
  CHECK(read_text(vault.here / "img/renamed.png") == png);
}

TEST_CASE("attachments: nothing changed is one request", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  CHECK(vault.sync(vault.here).exit == 0);
  const auto requests = [&] { return parse(control(vault.server, "GET", "/requests", ""))["data"].size(); };
  const std::size_t before = requests();
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(requests() == before + 1);
}

TEST_CASE("attachments: other bytes on both sides are a conflict, and each decision holds", "[cli]") {
  const std::string keep = GENERATE("local", "remote", "both");
  CAPTURE(keep);
  const Pictures vault;
  vault.both_in_step();
  write_text(vault.here / "img/a.png", "ours");
  write_text(vault.there / "img/a.png", "theirs");
  REQUIRE(vault.sync(vault.there).exit == 0);
  const Ended met = vault.sync(vault.here);
  INFO(met.out << met.err);
  CHECK(met.exit == 7);
  CHECK(read_text(vault.here / "img/a.png") == "ours");
  CHECK(read_text(vault.here / "img/a (remote).png") == "theirs");
  const Json conflicts = parse(vault.ws(vault.here, {"sync", "conflicts", "--json"}).out);
  REQUIRE(conflicts["data"].size() == 1);
  CHECK(conflicts["data"][0]["kind"] == "attachment");
  CHECK(vault.sync(vault.here).exit == 7);
  // Their copy belongs to the conflict: only one file here is not synced.
  CHECK(parse(vault.ws(vault.here, {"sync", "status", "--json"}).out)["not_included"] == 1);
  const Ended decided = vault.ws(vault.here, {"sync", "resolve", "img/a.png", "--keep", keep});
  INFO(decided.out << decided.err);
  CHECK(decided.exit == 0);
  const Ended after = vault.sync(vault.here);
  INFO(after.out << after.err);
  CHECK(after.exit == 0);
  CHECK(vault.sync(vault.there).exit == 0);
  CHECK(read_text(vault.here / "img/a.png") == (keep == "remote" ? "theirs" : "ours"));
  CHECK(read_text(vault.there / "img/a.png") == (keep == "remote" ? "theirs" : "ours"));
  CHECK(fs::exists(vault.here / "img/a (remote).png") == (keep == "both"));
  CHECK(fs::exists(vault.there / "img/a (remote).png") == (keep == "both"));
}

TEST_CASE("attachments: a picture edited here and removed there is worded so, and the run has done its part", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  fs::remove(vault.there / "img/a.png");
  REQUIRE(vault.ws(vault.there, {"sync", "--allow-deletes"}).exit == 0);
  write_text(vault.here / "img/a.png", "ours");
  const Ended met = vault.sync(vault.here);
  CHECK(met.exit == 7);
  const Json rows = parse(met.out)["actions"];
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["action"] == "conflict");
  CHECK(rows[0]["reason"] == "file edited here, removed on the service");
  CHECK(rows[0]["state"] == "done");
  CHECK(parse(vault.ws(vault.here, {"sync", "status", "--json"}).out)["actions"][0]["state"] == "planned");
}

// Where other tools lose files.

TEST_CASE("attachments: a fresh empty folder deletes nothing on the service", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  const fs::path third = vault.stage / "third";
  fs::create_directory(third);
  REQUIRE(vault.ws(third, {"sync", "init", "--source", vault.source}).exit == 0);
  CHECK(vault.sync(third).exit == 0);
  CHECK(read_text(third / "img/a.png") == png);
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(read_text(vault.here / "img/a.png") == png);
}

TEST_CASE("attachments: a setting changed to off, an exclude added, and a note that shows no more delete nothing",
          "[cli]") {
  const std::string config = GENERATE("attachments: off\n",
                                      "attachments: linked\nattachments_exclude: [\"*.png\"]\n",
                                      "attachments: linked\nattachments_max_bytes: 3\n",
                                      "attachments: linked\n");
  CAPTURE(config);
  const Pictures vault;
  vault.both_in_step();
  write_text(vault.here / ".ws/config.yaml", config);
  write_text(vault.here / "note.md", "# Note\n");
  const Ended ended = vault.sync(vault.here);
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
  CHECK(attachment_rows(ended).empty());
  fs::remove(vault.here / "img/unshown.png");
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(vault.sync(vault.there).exit == 0);
  CHECK(read_text(vault.there / "img/a.png") == png);
  CHECK(read_text(vault.here / "img/a.png") == png);
}

TEST_CASE("attachments: a list that was edited by hand deletes nothing, is told, and is written anew", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  const Json documents = parse(body_of(vault.server, "/v1/documents?limit=100"));
  std::string id;
  for (const Json& each : documents["data"]) {
    if (each["title"] == "Attachments") id = each["id"];
  }
  REQUIRE_FALSE(id.empty());
  const Json list = parse(body_of(vault.server, "/v1/documents/" + id));
  std::string text = list["content"];
  const std::size_t row = text.find("| img/a.png");
  REQUIRE(row != std::string::npos);
  text.erase(row, text.find('\n', row) + 1 - row);
  const fs::path file = vault.stage / "list.md";
  write_text(file, text);
  REQUIRE(vault
              .ws(vault.stage / "here",
                  {"docs", "update", id, "-f", file.string(), "--revision", list["content_revision"].dump()})
              .exit == 0);
  const Ended told = vault.ws(vault.there, {"sync", "--json"});
  INFO(told.out << told.err);
  CHECK(told.exit == 0);
  CHECK(parse(told.out)["remarks"].dump().find("manifest_damaged") != std::string::npos);
  CHECK(read_text(vault.there / "img/a.png") == png);
  const std::string anew = parse(body_of(vault.server, "/v1/documents/" + id))["content"];
  CHECK_THAT(anew, Contains("| img/a.png"));
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(read_text(vault.here / "img/a.png") == png);
}

TEST_CASE("attachments: a file of the reserved name is told and left alone", "[cli]") {
  const Pictures vault;
  write_text(vault.here / "_attachments.md", "my own list\n");
  const Ended ended = vault.sync(vault.here);
  CHECK(ended.exit == 0);
  CHECK_THAT(ended.out, Contains("reserved_name"));
  CHECK(vault.sync(vault.there).exit == 0);
  CHECK_FALSE(fs::exists(vault.there / "_attachments.md"));
  CHECK(read_text(vault.here / "_attachments.md") == "my own list\n");
}

TEST_CASE("attachments: what has the list's place on the service already is never written over", "[cli]") {
  const Pictures vault;
  const std::string place = GENERATE("_attachments.md", "_Attachments.md", "_attachments.md/inside.md");
  CAPTURE(place);
  if (place == "_attachments.md") {
    const Json source =
        parse(vault.ws(vault.here, {"call", "sync.source_get", "--source-id", vault.source, "--json"}).out);
    const std::string root = "parent_node_id=" + text_at(source, "root_node_id");
    REQUIRE(vault.ws(vault.here, {"docs", "create", "_attachments", "-F", "content=my own", "-F", root}).exit == 0);
  } else {
    std::filesystem::create_directories((vault.here / place).parent_path());
    write_text(vault.here / place, "my own");
  }
  vault.both_in_step();
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(parse(vault.sync(vault.there).out)["clean"] == true);
  std::map<std::string, std::string> shown = bytes_of(vault.here);
  CHECK(shown.at(place) == "my own");
  shown.erase("img/unshown.png");
  CHECK(bytes_of(vault.there) == shown);
}

TEST_CASE("attachments: a key without the right to files syncs the notes and lists the rest", "[cli]") {
  Pictures vault;
  Person notes_only(vault.server);
  notes_only.environment["WS_TOKEN"] =
      text_at(parse(control(vault.server, "POST", "/keys", R"({"scopes": ["sync:read", "sync:write"]})")), "secret");
  const Ended sent = notes_only.ws({"sync", "--json"}, vault.here);
  INFO(sent.out << sent.err);
  CHECK(sent.exit == 0);
  CHECK_THAT(sent.out, Contains("missing_scope"));
  CHECK(vault.assets() == 0);
  const Ended status = notes_only.ws({"sync", "status"}, vault.here);
  CHECK_THAT(status.err, Contains("2 shown files are not synced"));
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(vault.assets() == 2);
}

TEST_CASE("sync attachments: an undo takes a picture back on both sides, and a redo brings it again", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  const auto before = bytes_of(two.here);
  write_text(two.here / "img/a.png", png + "edited");
  fs::remove(two.here / "img/b.pdf");
  write_text(two.here / "img/new.png", png + "new");
  write_text(two.here / "note.md", "# Note\n\n![a](img/a.png) and ![n](img/new.png)\n");
  REQUIRE(two.sync(two.here).exit == 0);
  const auto after = bytes_of(two.here);
  two.both_in_step();

  const Json planned = parse(two.ws(two.here, {"sync", "undo", "-n", "--json"}).out);
  std::map<std::string, std::string> foreseen;
  for (const Json& row : planned["actions"]) foreseen[text_at(row, "path")] = text_at(row, "action");
  CHECK(foreseen == std::map<std::string, std::string>{{"img/a.png", "push_update"},
                                                       {"img/b.pdf", "push_create"},
                                                       {"img/new.png", "push_delete"},
                                                       {"note.md", "push_update"}});
  CHECK(bytes_of(two.here) == after);

  CHECK(two.ws(two.here, {"sync", "undo", "--allow-deletes"}).exit == 0);
  CHECK(bytes_of(two.here) == before);
  two.both_in_step();
  CHECK(bytes_of(two.there).at("img/a.png") == png);
  CHECK(bytes_of(two.there).count("img/new.png") == 0);
  CHECK(bytes_of(two.there).at("img/b.pdf") == "%PDF-1.7 some pages");
  CHECK(two.ws(two.here, {"sync", "redo", "--allow-deletes"}).exit == 0);
  CHECK(bytes_of(two.here) == after);
  two.both_in_step();
  CHECK(bytes_of(two.there).at("img/new.png") == png + "new");
}

TEST_CASE("sync attachments: an undo brings a deleted picture back that another folder had sent", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.there / "img/a.png", png + "theirs");
  two.sync(two.there);
  REQUIRE(two.sync(two.here).exit == 0);
  fs::remove(two.here / "img/a.png");
  fs::remove(two.here / "note.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  const Ended undone = two.ws(two.here, {"sync", "undo"});
  CAPTURE(undone.err);
  CHECK(undone.exit == 0);
  CHECK(bytes_of(two.here).at("img/a.png") == png + "theirs");
  two.both_in_step();
  CHECK(bytes_of(two.there).at("img/a.png") == png + "theirs");
}

TEST_CASE("sync attachments: the plan of an undo does not count pictures as files that are not synced", "[cli][undo]") {
  const Pictures vault;
  vault.both_in_step();
  write_text(vault.here / "img/a.png", "edited");
  REQUIRE(vault.sync(vault.here).exit == 0);
  const Ended planned = vault.ws(vault.here, {"sync", "undo", "-n", "--json"});
  CHECK(planned.exit == 0);
  CHECK(attachment_rows(planned) == std::vector<std::string>{"push_update img/a.png"});
  CHECK(parse(planned.out)["not_included"] == 0);
}

TEST_CASE("sync attachments: an undo gives a renamed picture, deleted on the other side, its name back",
          "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  const bool is_renamed_here = GENERATE(true, false);
  CAPTURE(is_renamed_here);
  fs::rename((is_renamed_here ? two.here : two.there) / "img/a.png",
             (is_renamed_here ? two.here : two.there) / "img/r.png");
  fs::remove((is_renamed_here ? two.there : two.here) / "img/a.png");
  REQUIRE(two.sync(two.there).exit == 0);
  REQUIRE(two.sync(two.here).exit == 0);
  REQUIRE(read_text(two.here / "img/r.png") == png);
  const Ended undone = two.ws(two.here, {"sync", "undo"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  two.both_in_step();
  for (const fs::path& folder : {two.here, two.there}) {
    CHECK(read_text(folder / "img/a.png") == png);
    CHECK_FALSE(fs::exists(folder / "img/r.png"));
  }
}

TEST_CASE("sync attachments: `push` counts no picture that is synced as a file that is not", "[cli]") {
  const Pictures two;
  fs::remove(two.here / "img/unshown.png");
  two.both_in_step();
  write_text(two.here / "other.md", "other\n");
  const Ended pushed = two.ws(two.here, {"sync", "push", "--json"});
  CHECK(pushed.exit == 0);
  CHECK(parse(pushed.out)["not_included"] == 0);
}

TEST_CASE("sync attachments: `push` stages files as its preview says, and `commit` publishes them", "[cli]") {
  const Pictures two;
  write_text(two.here / "more.md", "![m](img/m.png) ![o](img/o.png)\n");
  write_text(two.here / "img/m.png", png + "m");
  write_text(two.here / "img/o.png", png + "o");
  two.both_in_step();
  write_text(two.here / "img/a.png", png + "edited");
  write_text(two.here / "img/new.png", png + "new");
  write_text(two.here / "note.md", "# Note\n\n![a](img/a.png) ![n](img/new.png) and [[b.pdf]]\n");
  fs::rename(two.here / "img/m.png", two.here / "img/moved.png");
  fs::remove(two.here / "img/o.png");
  const std::vector<std::string> rows = {
      "push_update img/a.png", "push_move img/moved.png", "push_create img/new.png", "push_delete img/o.png"};
  const auto before = bytes_of(two.there);
  CHECK(attachment_rows(two.ws(two.here, {"sync", "push", "-n", "--json"})) == rows);
  const Ended pushed = two.ws(two.here, {"sync", "push", "--json"});
  INFO(pushed.out << pushed.err);
  CHECK(pushed.exit == 0);
  CHECK(attachment_rows(pushed) == rows);
  for (const Json& row : parse(pushed.out)["actions"]) CHECK(row["state"] == "staged");
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(bytes_of(two.there) == before);

  SECTION("all of it, and it can be taken back") {
    CHECK(attachment_rows(two.ws(two.here, {"sync", "commit", "-n", "--json"})) == rows);
    const Ended committed = two.ws(two.here, {"sync", "commit", "--json"});
    INFO(committed.out << committed.err);
    CHECK(committed.exit == 0);
    CHECK(attachment_rows(committed) == rows);
    CHECK(parse(two.ws(two.here, {"sync", "status", "--json"}).out)["clean"] == true);
    CHECK(attachment_rows(two.ws(two.here, {"sync", "commit", "-n", "--json"})).empty());
    REQUIRE(two.sync(two.there).exit == 0);
    auto here = bytes_of(two.here);
    here.erase("img/unshown.png");
    CHECK(bytes_of(two.there) == here);
    REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK(bytes_of(two.there) == before);
  }
  SECTION("what changed since waits for the next push") {
    write_text(two.here / "img/new.png", png + "newer");
    write_text(two.here / "img/o.png", png + "o");
    const Ended committed = two.ws(two.here, {"sync", "commit", "--json"});
    CHECK(committed.exit == 0);
    CHECK(attachment_rows(committed) == std::vector<std::string>{"push_update img/a.png", "push_move img/moved.png"});
    CHECK(attachment_rows(two.ws(two.here, {"sync", "push", "-n", "--json"})) ==
          std::vector<std::string>{"push_create img/new.png"});
  }
}

TEST_CASE("sync attachments: a picture that was copied and removed was renamed", "[cli]") {
  const Pictures two;
  two.both_in_step();
  fs::copy_file(two.here / "img/a.png", two.here / "img/copy.png");
  SECTION("its copy is new") {
    fs::remove(two.here / "img/a.png");
    CHECK(attachment_rows(two.sync(two.here)) == std::vector<std::string>{"push_move img/copy.png"});
    CHECK(attachment_rows(two.sync(two.there)) == std::vector<std::string>{"pull_move img/copy.png"});
    CHECK(two.assets() == 2);
  }
  SECTION("its copy was here when a run last did something: that is one that somebody keeps") {
    write_text(two.here / "other.md", "other\n");
    REQUIRE(two.sync(two.here).exit == 0);
    fs::remove(two.here / "img/a.png");
    CHECK(attachment_rows(two.sync(two.here)) == std::vector<std::string>{"push_delete img/a.png"});
  }
  SECTION("of two copies nobody knows which one") {
    fs::copy_file(two.here / "img/a.png", two.here / "img/second.png");
    fs::remove(two.here / "img/a.png");
    CHECK(attachment_rows(two.sync(two.here)) == std::vector<std::string>{"push_delete img/a.png"});
  }
}

TEST_CASE("sync attachments: the list says of no file that is not here that it is in step", "[cli]") {
  const Pictures two;
  two.both_in_step();
  const auto state_of = [&](const std::string& path) {
    const Json listed = parse(two.ws(two.there, {"sync", "attachments", "--json"}).out);
    for (const Json& each : listed["data"]) {
      if (each["path"] == path) return text_at(each, "state");
    }
    return listed.dump();
  };
  SECTION("its new name is the twin of another") {
    write_text(two.here / "img/twin.png", png + "t");
    write_text(two.here / "other.md", "![t](img/twin.png)\n");
    REQUIRE(two.sync(two.here).exit == 0);
    fs::rename(two.there / "img/a.png", two.there / "img/TWIN.png");
    static_cast<void>(two.sync(two.there));
    CHECK(state_of("img/a.png") == "not here");
  }
  SECTION("it is left out here") {
    REQUIRE(two.ws(two.there, {"sync", "leave", "img/a.png"}).exit == 0);
    CHECK(state_of("img/a.png") == "left_out");
  }
  CHECK(state_of("img/b.pdf") == "in step");
}

TEST_CASE("sync attachments: another picture in the place of one that was renamed here stays its own", "[cli]") {
  const Pictures two;
  two.both_in_step();
  fs::rename(two.here / "img/a.png", two.here / "img/mine.png");
  write_text(two.here / "img/a.png", "another");
  write_text(two.here / "note.md", "# Note\n\n![a](img/a.png) ![m](img/mine.png) and [[b.pdf]]\n");
  SECTION("renamed there too") {
    fs::rename(two.there / "img/a.png", two.there / "img/theirs.png");
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK(two.sync(two.here).exit == 7);
    CHECK(bytes_of(two.here).at("img/a.png") == "another");
    CHECK(bytes_of(two.here).at("img/mine.png") == png);
    const std::string side = GENERATE("local", "remote");
    CAPTURE(side);
    REQUIRE(two.ws(two.here, {"sync", "resolve", "img/mine.png", "--path", side}).exit == 0);
    two.both_in_step();
    two.both_in_step();
    for (const fs::path& folder : {two.here, two.there}) {
      CHECK(read_text(folder / "img/a.png") == "another");
      CHECK(read_text(folder / (side == "local" ? "img/mine.png" : "img/theirs.png")) == png);
      CHECK_FALSE(fs::exists(folder / (side == "local" ? "img/theirs.png" : "img/mine.png")));
    }
  }
  SECTION("edited there, or deleted") {
    const bool is_edited = GENERATE(true, false);
    CAPTURE(is_edited);
    if (is_edited) {
      write_text(two.there / "img/a.png", png + "edited");
    } else {
      fs::remove(two.there / "img/a.png");
    }
    REQUIRE(two.sync(two.there).exit == 0);
    const Ended met = two.sync(two.here);
    INFO(met.out << met.err);
    CHECK(met.exit == 0);
    CHECK(attachment_rows(two.sync(two.here)).empty());
    CHECK(two.sync(two.there).exit == 0);
    for (const fs::path& folder : {two.here, two.there}) {
      CHECK(bytes_of(folder).at("img/a.png") == "another");
      CHECK(bytes_of(folder).at("img/mine.png") == (is_edited ? png + "edited" : png));
    }
  }
}

TEST_CASE("sync attachments: the run of a picture alone is the one that an undo takes back", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.here / "img/a.png", png + "edited");
  REQUIRE(two.sync(two.here).exit == 0);
  const Json runs = parse(two.ws(two.here, {"sync", "log", "--runs", "--json"}).out)["data"];
  CHECK(runs[0]["counts"] == Json{{"sent", 1}});
  const std::string run = std::to_string(runs[0]["run"].get<int>());
  CHECK_THAT(two.ws(two.here, {"sync", "show", run, "--diff"}).out,
             Contains("--- before/img/a.png\n+++ after/img/a.png\nBinary files differ\n"));
  CHECK(parse(two.ws(two.here, {"sync", "show", run, "--json"}).out)["rows"][0]["action"] == "changed");
  write_text(two.here / "img/a.png", png + "and again");
  const Ended left = two.ws(two.here, {"sync", "undo"});
  CHECK(left.exit == 13);
  CHECK_THAT(left.err, Contains("not undone: img/a.png, changed since"));
  CHECK(read_text(two.here / "note.md").find("# Note") == 0);
  write_text(two.here / "img/a.png", png + "edited");
  CHECK(two.ws(two.here, {"sync", "undo"}).exit == 0);
  CHECK(read_text(two.here / "img/a.png") == png);
  two.both_in_step();
  CHECK(read_text(two.there / "img/a.png") == png);
}

TEST_CASE("sync attachments: a picture that is renamed by hand is renamed there, shown or not", "[cli]") {
  const Pictures two;
  two.both_in_step();
  fs::create_directory(two.here / "pics");
  fs::rename(two.here / "img/a.png", two.here / "pics/renamed.png");
  const Json report = parse(two.sync(two.here).out);
  REQUIRE(report["actions"].size() == 1);
  CHECK(report["actions"][0]["action"] == "push_move");
  CHECK(report["actions"][0]["previous_path"] == "img/a.png");
  two.both_in_step();
  CHECK(read_text(two.there / "pics/renamed.png") == png);
  CHECK_FALSE(fs::exists(two.there / "img/a.png"));

  // Kept in step though no note shows it any more, and through a rename of its folder.
  REQUIRE(two.ws(two.here, {"sync", "mv", "pics", "art"}).exit == 0);
  two.both_in_step();
  CHECK(read_text(two.there / "art/renamed.png") == png);
  CHECK_FALSE(fs::exists(two.there / "pics"));
  CHECK(bytes_of(two.there).count("img/unshown.png") == 0);
}

TEST_CASE("sync attachments: links to a picture that is renamed are counted, mended, and kept", "[cli]") {
  const Pictures two;
  two.both_in_step();
  fs::rename(two.here / "img/a.png", two.here / "img/lamp.png");
  CHECK_THAT(two.ws(two.here, {"sync"}).err, Contains("break 1 link: `ws links fix` updates it"));
  REQUIRE(two.ws(two.here, {"links", "fix", "--yes"}).exit == 0);
  CHECK(read_text(two.here / "note.md") == "# Note\n\n![a](img/lamp.png) and [[b.pdf]]\n");
  two.both_in_step();
  write_text(two.here / ".ws/config.yaml", read_text(two.here / ".ws/config.yaml") + "links: keep\n");
  fs::rename(two.here / "img/lamp.png", two.here / "lamp.png");
  CHECK_THAT(two.ws(two.here, {"sync"}).err, Contains("edited 1 link to renamed files"));
  two.both_in_step();
  CHECK(read_text(two.there / "note.md") == "# Note\n\n![a](lamp.png) and [[b.pdf]]\n");
}

TEST_CASE("links: a text whose links a run edits can be had again", "[cli]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.here / ".ws/config.yaml", read_text(two.here / ".ws/config.yaml") + "links: keep\n");
  const std::string edited = "# Note\n\nnever sent ![a](img/a.png)\n";
  write_text(two.here / "note.md", edited);
  fs::rename(two.here / "img/a.png", two.here / "lamp.png");
  CHECK_THAT(two.ws(two.here, {"sync"}).err, Contains("edited 1 link to renamed files"));
  CHECK(read_text(two.here / "note.md") == "# Note\n\nnever sent ![a](lamp.png)\n");
  REQUIRE(two.ws(two.here, {"sync", "restore", "note.md"}).exit == 0);
  CHECK(read_text(two.here / "note.md") == edited);
}

TEST_CASE("links: `links fix` mends all the links that a run said the renames break, those to a folder too", "[cli]") {
  const Pictures two;
  write_text(two.here / "index.md", "[all](img/) [a](img/a.png) [gone](gone/)\n");
  two.both_in_step();
  fs::rename(two.here / "img", two.here / "pics");
  // Those of note.md: `img/a.png`.
  CHECK_THAT(two.ws(two.here, {"sync"}).err, Contains("break 3 links: `ws links fix` updates them"));
  CHECK_THAT(two.ws(two.here, {"links", "fix", "--yes"}).out, Contains("edited 3 links in 2 notes"));
  CHECK(read_text(two.here / "index.md") == "[all](pics/) [a](pics/a.png) [gone](gone/)\n");
  REQUIRE(two.ws(two.here, {"sync", "mv", "pics", "art"}).exit == 0);
  CHECK(read_text(two.here / "index.md") == "[all](art/) [a](art/a.png) [gone](gone/)\n");
}

TEST_CASE("sync attachments: links follow a folder with two equal pictures", "[cli]") {
  const Pictures two;
  for (const char* path : {"img/x/logo.png", "img/y/logo.png"}) {
    fs::create_directories((two.here / path).parent_path());
    write_text(two.here / path, png);
  }
  write_text(two.here / "note.md", "![](img/a.png) ![](img/x/logo.png) ![](img/y/logo.png) [[b.pdf]]\n");
  write_text(two.here / ".ws/config.yaml", read_text(two.here / ".ws/config.yaml") + "links: keep\n");
  two.both_in_step();
  const std::size_t before = two.assets();
  fs::rename(two.here / "img", two.here / "pics");
  const Ended ended = two.sync(two.here);
  CHECK(parse(ended.out)["links_mended"] == 3);
  CHECK(attachment_rows(ended) ==
        std::vector<std::string>{
            "push_move pics/a.png", "push_move pics/b.pdf", "push_move pics/x/logo.png", "push_move pics/y/logo.png"});
  CHECK(two.assets() == before);
  CHECK(read_text(two.here / "note.md") == "![](pics/a.png) ![](pics/x/logo.png) ![](pics/y/logo.png) [[b.pdf]]\n");
  two.both_in_step();
  auto expected = bytes_of(two.here);
  expected.erase("pics/unshown.png");
  CHECK(bytes_of(two.there) == expected);
  CHECK(two.ws(two.there, {"links", "check"}).exit == 0);
}

TEST_CASE("sync attachments: equal pictures that all get new names are told apart by their files", "[cli]") {
  const Pictures two;
  write_text(two.here / "img/same.png", png);
  write_text(two.here / "note.md", "![](img/a.png) ![](img/same.png) [[b.pdf]]\n");
  two.both_in_step();
  const std::size_t before = two.assets();
  // Neither bytes nor names tell which of the two became which, but the numbers of the files do.
  fs::rename(two.here / "img/a.png", two.here / "img/lamp.png");
  fs::rename(two.here / "img/same.png", two.here / "img/sun.png");
  write_text(two.here / "note.md", "![](img/lamp.png) ![](img/sun.png) [[b.pdf]]\n");
  CHECK(attachment_rows(two.sync(two.here)) ==
        std::vector<std::string>{"push_move img/lamp.png", "push_move img/sun.png"});
  CHECK(two.assets() == before);
  two.both_in_step();
  CHECK(two.assets() == before);
  auto expected = bytes_of(two.here);
  expected.erase("img/unshown.png");
  CHECK(bytes_of(two.there) == expected);
  CHECK(two.ws(two.there, {"links", "check"}).exit == 0);
}

TEST_CASE("sync attachments: a picture renamed alike on both sides and edited on one is one picture", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  const fs::path edits = GENERATE(fs::path("here"), fs::path("there"));
  CAPTURE(edits);
  fs::rename(two.here / "img/a.png", two.here / "img/lamp.png");
  fs::rename(two.there / "img/a.png", two.there / "img/lamp.png");
  write_text(two.stage / edits / "img/lamp.png", png + "edited");
  for (const fs::path& side : {two.here, two.there}) {
    write_text(side / "note.md", "# Note\n\n![a](img/lamp.png) and [[b.pdf]]\n");
  }
  REQUIRE(two.sync(two.there).exit == 0);
  const Ended ended = two.sync(two.here);
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
  CHECK(attachment_rows(ended) ==
        std::vector<std::string>{edits == "here" ? "push_update img/lamp.png" : "pull_update img/lamp.png"});
  two.both_in_step();
  CHECK(read_text(two.here / "img/lamp.png") == png + "edited");
  CHECK(read_text(two.there / "img/lamp.png") == png + "edited");
  CHECK(two.ws(two.here, {"sync", "undo"}).exit == 0);
  CHECK(read_text(two.here / "img/lamp.png") == png);
  two.both_in_step();
  CHECK(read_text(two.there / "img/lamp.png") == png);
}

TEST_CASE("sync attachments: a picture gives its name to a folder of pictures", "[cli]") {
  const Pictures two;
  two.both_in_step();
  fs::remove(two.there / "img/b.pdf");
  write_text(two.there / "img/b.pdf/page.png", png + "page");
  write_text(two.there / "note.md", "# Note\n\n![a](img/a.png) ![p](img/b.pdf/page.png)\n");
  REQUIRE(two.sync(two.there).exit == 0);

  SECTION("untouched here: the file goes, the folder comes") {
    two.both_in_step();
    CHECK(read_text(two.here / "img/b.pdf/page.png") == png + "page");
  }
  SECTION("edited here: a conflict, and what comes waits until it is decided") {
    write_text(two.here / "img/b.pdf", "ours");
    const Ended met = two.sync(two.here);
    INFO(met.out << met.err);
    CHECK(met.exit == 7);
    CHECK_THAT(parse(met.out)["skipped"].dump(), Contains("img/b.pdf/page.png") && Contains("twin"));
    CHECK(read_text(two.here / "img/b.pdf") == "ours");
    CHECK(two.ws(two.here, {"sync", "resolve", "img/b.pdf", "--keep", "remote"}).exit == 0);
    CHECK(two.sync(two.here).exit == 0);
    CHECK(read_text(two.here / "img/b.pdf/page.png") == png + "page");
  }
}

TEST_CASE("sync attachments: a picture comes in the run that takes the last file of a folder of its name", "[cli]") {
  const Pictures two;
  write_text(two.here / "art.png/page.png", png + "page");
  write_text(two.here / "art.md", "![](art.png/page.png)\n");
  two.both_in_step();
  fs::remove_all(two.there / "art.png");
  write_text(two.there / "art.png", png + "art");
  write_text(two.there / "art.md", "![](art.png)\n");
  REQUIRE(two.sync(two.there).exit == 0);
  const Ended met = two.sync(two.here);
  INFO(met.out << met.err);
  CHECK(met.exit == 0);
  CHECK(attachment_rows(met) == std::vector<std::string>{"pull_create art.png", "pull_delete art.png/page.png"});
  CHECK(read_text(two.here / "art.png") == png + "art");
  CHECK(attachment_rows(two.sync(two.here)).empty());
}

TEST_CASE("sync attachments: where a link names a folder by now, a second run writes nothing", "[cli]") {
  const Pictures two;
  write_text(two.here / "list.md", "[b](img/b.pdf)\n");
  two.both_in_step();
  fs::remove(two.there / "img/b.pdf");
  write_text(two.there / "img/b.pdf/page.png", png + "page");
  write_text(two.there / "note.md", "# Note\n\n![a](img/a.png) ![p](img/b.pdf/page.png)\n");
  two.both_in_step();
  REQUIRE(two.sync(two.there).exit == 0);
  REQUIRE(two.sync(two.here).exit == 0);
  const std::string known = read_text(two.here / ".ws/state.db");
  REQUIRE(two.sync(two.here).exit == 0);
  CHECK(read_text(two.here / ".ws/state.db") == known);
}

TEST_CASE("sync attachments: an undo leaves a picture whose folder is a file by now, and nothing is stuck",
          "[cli][undo]") {
  const Pictures two;
  write_text(two.here / "album/p.png", png + "p");
  write_text(two.here / "album.md", "![p](album/p.png)\n");
  two.both_in_step();
  fs::remove_all(two.here / "album");
  fs::remove(two.here / "album.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  write_text(two.here / "album", "a file");
  const Ended undone = two.ws(two.here, {"sync", "undo"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 13);
  CHECK_THAT(undone.err, Contains("not undone: album/p.png, "));
  CHECK(read_text(two.here / "album.md") == "![p](album/p.png)\n");
  CHECK(read_text(two.here / "album") == "a file");
  CHECK(two.sync(two.here).exit == 0);
}

TEST_CASE("sync attachments: an undo makes a picture again of what became a folder", "[cli][undo]") {
  const bool is_in_itself = GENERATE(true, false);
  CAPTURE(is_in_itself);
  const Pictures two;
  two.both_in_step();
  const auto before = bytes_of(two.here);
  fs::remove(two.here / "img/a.png");
  write_text(two.here / "img/a.png/p.png", is_in_itself ? png : png + "another");
  write_text(two.here / "note.md", "# Note\n\n![p](img/a.png/p.png) and [[b.pdf]]\n");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  const auto after = bytes_of(two.here);

  SECTION("of all that is in it") {
    const Ended undone = two.ws(two.here, {"sync", "undo", "--allow-deletes"});
    INFO(undone.out << undone.err);
    CHECK(undone.exit == 0);
    CHECK(bytes_of(two.here) == before);
    two.both_in_step();
    CHECK(read_text(two.there / "img/a.png") == png);
    CHECK(two.ws(two.here, {"sync", "redo", "--allow-deletes"}).exit == 0);
    CHECK(bytes_of(two.here) == after);
  }
  SECTION("it stays where somebody has put something else in it") {
    write_text(two.here / "img/a.png/own.txt", "my own");
    const Ended undone = two.ws(two.here, {"sync", "undo", "--allow-deletes"});
    INFO(undone.out << undone.err);
    CHECK(undone.exit == 13);
    CHECK_THAT(undone.err, Contains("not undone: img/a.png, another file is in its place"));
    CHECK(read_text(two.here / "note.md") == before.at("note.md"));
    CHECK(read_text(two.here / "img/a.png/own.txt") == "my own");
    CHECK(two.sync(two.here).exit == 0);
  }
}

TEST_CASE("sync attachments: an undo leaves a picture whose bytes the service does not give, and nothing is stuck",
          "[cli][undo]") {
  const auto [effect, ends_first] =
      GENERATE(table<std::string, bool>({{R"({"status": 403})", false}, {R"({"status": 500})", true}}));
  CAPTURE(effect);
  const Pictures two;
  two.both_in_step();
  write_text(two.there / "img/a.png", png + "theirs");
  REQUIRE(two.sync(two.there).exit == 0);
  REQUIRE(two.sync(two.here).exit == 0);
  fs::remove(two.here / "img/a.png");
  fs::remove(two.here / "note.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  control(two.server, "POST", "/faults", fmt::format(R"({{"operation": "files.content", "effect": {}}})", effect));
  if (ends_first) {
    const Ended ended = two.ws(two.here, {"sync", "undo", "--no-retry"});
    CHECK(ended.exit == 10);
    CHECK_FALSE(fs::exists(two.here / "note.md"));
  }
  const Ended undone = two.ws(two.here, {"sync", "undo", "--no-retry"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 13);
  CHECK_THAT(undone.err, Contains("not undone: img/a.png, its bytes could not be fetched"));
  CHECK(fs::exists(two.here / "note.md"));
  CHECK(two.sync(two.here).exit == 0);
  control(two.server, "DELETE", "/faults", "");
  const Ended rest = two.ws(two.here, {"sync", "undo"});
  INFO(rest.out << rest.err);
  CHECK(rest.exit == 0);
  CHECK(read_text(two.here / "img/a.png") == png + "theirs");
}

TEST_CASE("sync attachments: an undo brings a picture back by the name that it had on disk", "[cli][undo]") {
  const std::string composed = "img/pi\u00e9.png";
  const std::string decomposed = "img/pie\u0301.png";
  const Pictures two;
  write_text(two.here / decomposed, png + "pie");
  write_text(two.here / "pie.md", "![pie](" + composed + ")\n");
  two.both_in_step();
  const auto before = bytes_of(two.here);
  const std::string how = GENERATE("removed here", "removed there", "edited");
  CAPTURE(how);
  const fs::path place = how == "removed there" ? two.there / composed : two.here / decomposed;
  if (how == "edited") {
    write_text(place, png + "another");
  } else {
    fs::remove(place);
  }
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  REQUIRE(bytes_of(two.here) != before);
  const Ended undone = two.ws(two.here, {"sync", "undo"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  CHECK(bytes_of(two.here) == before);
  two.both_in_step();
  CHECK(bytes_of(two.here) == before);
  CHECK(read_text(two.there / composed) == png + "pie");
}

TEST_CASE("sync attachments: a picture that became a folder with a note is undone and redone", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  fs::remove(two.here / "img/b.pdf");
  write_text(two.here / "img/b.pdf/inner.md", "# Inner\n");
  write_text(two.here / "note.md", "# Note\n\n![a](img/a.png)\n");
  REQUIRE(two.sync(two.here).exit == 0);
  REQUIRE(two.sync(two.there).exit == 0);
  REQUIRE(read_text(two.there / "img/b.pdf/inner.md") == "# Inner\n");
  CHECK(two.ws(two.there, {"sync", "undo"}).exit == 0);
  CHECK(fs::is_regular_file(two.there / "img/b.pdf"));
  const Ended redone = two.ws(two.there, {"sync", "redo"});
  INFO(redone.out << redone.err);
  CHECK(redone.exit == 0);
  CHECK(read_text(two.there / "img/b.pdf/inner.md") == "# Inner\n");
}

TEST_CASE("sync attachments: an undo knows a picture for one also where notes have its name by now", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  fs::remove(two.here / "img/a.png");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / ".ws/config.yaml", "attachments: linked\ninclude: ['*.png']\n");
  const Ended undone = two.ws(two.here, {"sync", "undo"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  CHECK(read_text(two.here / "img/a.png") == png);
}

TEST_CASE("sync attachments: what comes to a folder without pictures obeys its .wsignore", "[cli]") {
  const std::string rule = GENERATE("img/\n", "*.png\n", "img/*\n");
  CAPTURE(rule);
  const Pictures two;
  write_text(two.there / "own.md", "# Own\n");
  write_text(two.there / ".wsignore", rule);
  REQUIRE(two.sync(two.there).exit == 0);
  REQUIRE(two.sync(two.here).exit == 0);
  for (int i = 0; i < 2; ++i) {
    const Ended told = two.sync(two.there);
    INFO(told.out << told.err);
    CHECK(told.exit == 0);
    CHECK_FALSE(fs::exists(two.there / "img/a.png"));
    CHECK(fs::exists(two.there / "b.pdf") == fs::exists(two.here / "b.pdf"));
    CHECK_THAT(told.out, Contains(R"("reason":"ignored")"));
  }
}

TEST_CASE("sync attachments: a folder here in place of a picture that was edited there", "[cli]") {
  const std::string keep = GENERATE("local", "both");
  CAPTURE(keep);
  const Pictures two;
  two.both_in_step();
  write_text(two.there / "img/b.pdf", "theirs");
  REQUIRE(two.sync(two.there).exit == 0);
  fs::remove(two.here / "img/b.pdf");
  write_text(two.here / "img/b.pdf/page.png", png + "page");
  write_text(two.here / "note.md", "# Note\n\n![a](img/a.png) ![p](img/b.pdf/page.png)\n");
  const Ended met = two.sync(two.here);
  INFO(met.out << met.err);
  CHECK(met.exit == 7);
  CHECK(read_text(two.here / "img/b (remote).pdf") == "theirs");
  const Ended refused = two.ws(two.here, {"sync", "resolve", "img/b.pdf", "--keep", "remote"});
  CHECK_THAT(refused.err, Contains("was removed here"));
  CHECK(two.ws(two.here, {"sync", "resolve", "img/b.pdf", "--keep", keep}).exit == 0);
  CHECK(two.sync(two.here).exit == 0);
  two.both_in_step();
  two.both_in_step();
  CHECK(read_text(two.there / "img/b.pdf/page.png") == png + "page");
  CHECK(fs::exists(two.there / "img/b (remote).pdf") == (keep == "both"));
}

TEST_CASE("sync attachments: a picture and a folder of one name, both new, are a conflict that a rename ends",
          "[cli]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.here / "art", "a picture");
  write_text(two.here / "own.md", "![](art)\n");
  write_text(two.there / "art/page.png", png + "page");
  write_text(two.there / "other.md", "![](art/page.png)\n");
  REQUIRE(two.sync(two.there).exit == 0);
  for (int i = 0; i < 2; ++i) {
    const Ended met = two.sync(two.here);
    INFO(met.out << met.err);
    CHECK(met.exit == 7);
    CHECK(attachment_rows(met) == std::vector<std::string>{"conflict art"});
    CHECK_THAT(parse(met.out)["skipped"].dump(), Contains("art/page.png"));
  }
  fs::rename(two.here / "art", two.here / "art.png");
  write_text(two.here / "own.md", "![](art.png)\n");
  two.both_in_step();
  CHECK(read_text(two.here / "art/page.png") == png + "page");
  CHECK(read_text(two.there / "art.png") == "a picture");
}

TEST_CASE("sync attachments: a key that is refused at the last request of a run ends it with 4, and nothing is changed",
          "[cli]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.there / "img/a.png", png + "theirs");
  fs::remove(two.there / "img/b.pdf");
  REQUIRE(two.sync(two.there).exit == 0);
  control(two.server, "POST", "/faults", R"({"operation": "files.get", "effect": {"status": 401}, "times": 100})");
  const Ended refused = two.sync(two.here);
  INFO(refused.out << refused.err);
  CHECK(refused.exit == 4);
  CHECK(read_text(two.here / "img/a.png") == png);
  CHECK(fs::exists(two.here / "img/b.pdf"));
  control(two.server, "DELETE", "/faults", "");
  two.both_in_step();
  CHECK(read_text(two.here / "img/a.png") == png + "theirs");
  CHECK_FALSE(fs::exists(two.here / "img/b.pdf"));
}

TEST_CASE("sync attachments: the list gets its title by a later run where the first could not give it", "[cli]") {
  const int status = GENERATE(401, 503);
  CAPTURE(status);
  const Pictures two;
  control(two.server,
          "POST",
          "/faults",
          fmt::format(R"({{"operation": "docs.update", "effect": {{"status": {}}}, "times": 100}})", status));
  CHECK(two.sync(two.here).exit == (status == 401 ? 4 : 0));
  control(two.server, "DELETE", "/faults", "");
  two.both_in_step();
  CHECK_THAT(body_of(two.server, "/v1/documents?limit=100"), Contains("\"Attachments\""));
}

TEST_CASE("sync attachments: a shown file that is ignored, linked or no file is listed as skipped", "[cli]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.here / ".hidden/a.png", png);
  fs::create_symlink("img/a.png", two.here / "link.png");
  fs::create_symlink("img", two.here / "linked");
  fs::create_directory(two.here / "folder.png");
  write_text(two.here / "note.md",
             "# Note\n\n![a](img/a.png) [[b.pdf]] ![h](.hidden/a.png) ![l](link.png) ![i](linked/a.png)\n"
             "![f](folder.png) ![gone](gone.png) ![out](../other/gone.png)\n");
  const Json skipped = parse(two.ws(two.here, {"sync", "status", "--json"}).out)["skipped"];
  std::map<std::string, std::string> why;
  for (const Json& each : skipped) why[text_at(each, "path")] = text_at(each, "reason");
  CHECK(why ==
        std::map<std::string, std::string>{
            {".hidden/a.png", "ignored"}, {"link.png", "symlink"}, {"linked", "symlink"}, {"linked/a.png", "symlink"}});
  const Ended ended = two.sync(two.here);
  CHECK(ended.exit == 0);
  CHECK(parse(ended.out)["skipped"].size() == 4);
  // A file that is on one side only is never called the same on both.
  CHECK(two.ws(two.here, {"sync", "status"}).err.find("in sync; 3 shown files are not synced, 1 skipped\n") == 0);
  CHECK(two.ws(two.here, {"sync"}).err.find("in sync; 3 shown files are not synced, 1 skipped\n") == 0);
}

TEST_CASE("sync attachments: one that is ignored or excluded is listed with its size", "[cli]") {
  const Pictures two;
  write_text(two.here / ".wsignore", "a.png\n");
  write_text(two.here / ".ws/config.yaml", read_text(two.here / ".ws/config.yaml") + "attachments_exclude: [b.pdf]\n");
  const Json listed = parse(two.ws(two.here, {"sync", "attachments", "--json"}).out)["data"];
  REQUIRE(listed.size() == 2);
  CHECK(listed[0]["state"] == "ignored");
  CHECK(listed[0]["bytes"] == png.size());
  CHECK(listed[1]["state"] == "excluded");
  CHECK(listed[1]["bytes"] == std::string("%PDF-1.7 some pages").size());
}

TEST_CASE("sync attachments: a look that found nothing to do is kept until something changes", "[cli]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.here / "note.md", "# Note\n\n![a](img/a.png), [[b.pdf]] and ![gone](.hidden/gone.png)\n");
  REQUIRE(two.sync(two.here).exit == 0);
  const fs::path kept = two.here / ".ws/attachments.cache";
  const auto look = [&] { return two.ws(two.here, {"sync", "status", "--offline", "--json"}).out; };
  // Of files that changed just now nothing is kept.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::string quiet = look();
  REQUIRE(fs::exists(kept));
  const std::string clean = read_text(kept);
  look();
  CHECK(read_text(kept) == clean);
  const auto time = fs::last_write_time(two.here / "img/a.png");

  const std::string change =
      GENERATE("none", "edit", "removal", "shown file", "less shown", "hidden file", "setting", "damage");
  CAPTURE(change);
  if (change == "edit") {
    write_text(two.here / "img/a.png", std::string(png.size(), 'x'));
    fs::last_write_time(two.here / "img/a.png", time);
  } else if (change == "removal") {
    fs::remove(two.here / "img/a.png");
  } else if (change == "shown file") {
    write_text(two.here / "more.md", "![u](img/unshown.png)\n");
  } else if (change == "less shown") {
    write_text(two.here / "note.md", "# Note\n");
  } else if (change == "hidden file") {
    write_text(two.here / ".hidden/gone.png", png);
  } else if (change == "setting") {
    write_text(two.here / ".ws/config.yaml", "attachments: all\n");
  } else if (change == "damage") {
    std::string text = read_text(kept);
    text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
    write_text(kept, text);
  }
  const std::string with_kept = look();
  fs::remove(kept);
  CHECK(with_kept == look());
  CHECK((with_kept == quiet) == (change == "none" || change == "damage"));
}

TEST_CASE("sync attachments: a tree tied before them stays without, and is told once what it leaves behind", "[cli]") {
  const Pictures two;
  write_text(two.here / ".ws/config.yaml", "# of an earlier version\n");
  const Ended first = two.ws(two.here, {"sync"});
  CHECK(first.exit == 0);
  CHECK_THAT(first.err, Contains("set `attachments: linked` in .ws/config.yaml to sync them"));
  CHECK(two.assets() == 0);
  const Ended second = two.ws(two.here, {"sync"});
  CHECK(second.err.find("`attachments: linked`") == std::string::npos);
  CHECK(second.err.find("in sync; 2 shown files are not synced\n") == 0);
  const Json skipped = parse(two.ws(two.here, {"sync", "status", "--json"}).out)["skipped"];
  REQUIRE(skipped.size() == 2);
  CHECK(text_at(skipped[0], "path") == "img/a.png");
  CHECK(text_at(skipped[0], "reason") == "attachments_off");
}

TEST_CASE("sync attachments: a picture renamed here and replaced there stays one where the run ends before the list",
          "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.there / "img/a.png", png + "replaced");
  REQUIRE(two.sync(two.there).exit == 0);
  fs::rename(two.here / "img/a.png", two.here / "img/lamp.png");
  write_text(two.here / "note.md", "# Note\n\n![a](img/lamp.png) and [[b.pdf]] and ![new](img/new.png)\n");
  write_text(two.here / "img/new.png", png + " new");
  const Json busy = {{"operation", "files.upload_finish"}, {"times", 1}, {"effect", {{"status", 429}}}};
  control(two.server, "POST", "/faults", busy.dump());
  const Ended cut = two.ws(two.here, {"sync", "--no-retry"});
  INFO(cut.out << cut.err);
  CHECK(cut.exit == 9);
  CHECK(read_text(two.here / "img/lamp.png") == png + "replaced");
  const std::string next = GENERATE("run", "pull", "undo");
  CAPTURE(next);
  if (next == "undo") {
    const Ended undone = two.ws(two.here, {"sync", "undo", "--json"});
    INFO(undone.out << undone.err);
    CHECK(attachment_rows(undone) == std::vector<std::string>{"push_move img/lamp.png", "push_update img/lamp.png"});
    CHECK(read_text(two.here / "img/lamp.png") == png);
  } else {
    if (next == "pull") CHECK(two.ws(two.here, {"sync", "pull"}).exit == 0);
    CHECK(attachment_rows(two.sync(two.here)) ==
          std::vector<std::string>{"push_move img/lamp.png", "push_create img/new.png"});
  }
  two.both_in_step();
  CHECK_FALSE(fs::exists(two.here / "img/a.png"));
}

TEST_CASE("sync attachments: one that came back once its rule was gone stays in an undo, which says so",
          "[cli][undo]") {
  const Pictures vault;
  vault.both_in_step();
  write_text(vault.here / ".wsignore", "*.png\n");
  fs::remove(vault.here / "img/a.png");
  REQUIRE(vault.sync(vault.here).exit == 0);
  fs::remove(vault.here / ".wsignore");
  CHECK(attachment_rows(vault.sync(vault.here)) == std::vector<std::string>{"pull_create img/a.png"});
  const Json undone = parse(vault.ws(vault.here, {"sync", "undo", "--json"}).out);
  CHECK(text_at(undone, "left.0.path") == "img/a.png");
  CHECK(read_text(vault.here / "img/a.png") == png);
  vault.both_in_step();
}

TEST_CASE("sync attachments: what an undo removed was not renamed to a file of the same bytes that nobody sent",
          "[cli][undo]") {
  const Pictures vault;
  vault.both_in_step();
  write_text(vault.here / "note.md", "# Note\n\n![a](img/a.png) and [[b.pdf]] and ![new](img/new.png)\n");
  write_text(vault.here / "img/new.png", png + " new");
  REQUIRE(vault.sync(vault.here).exit == 0);
  write_text(vault.here / "private/twin.png", png + " new");
  const Ended undone = vault.ws(vault.here, {"sync", "undo", "--json"});
  INFO(undone.out << undone.err);
  CHECK(attachment_rows(undone) == std::vector<std::string>{"push_delete img/new.png"});
  CHECK(fs::exists(vault.here / "private/twin.png"));
  REQUIRE(vault.ws(vault.there, {"sync"}).exit == 0);
  CHECK_FALSE(fs::exists(vault.there / "private"));
}

TEST_CASE("sync attachments: an undo names a picture that it cannot take back, for it went here since", "[cli][undo]") {
  const Pictures vault;
  vault.both_in_step();
  write_text(vault.here / "note.md", "# Note\n\n![a](img/a.png) and [[b.pdf]] and ![new](img/new.png)\n");
  write_text(vault.here / "img/new.png", png + " new");
  REQUIRE(vault.sync(vault.here).exit == 0);
  const std::string how = GENERATE("deleted here since", "renamed since");
  if (how == "renamed since") {
    REQUIRE(vault.ws(vault.there, {"sync"}).exit == 0);
    REQUIRE(vault.ws(vault.there, {"sync", "mv", "img/new.png", "img/lamp.png"}).exit == 0);
    REQUIRE(vault.ws(vault.there, {"sync"}).exit == 0);
    REQUIRE(vault.ws(vault.here, {"sync"}).exit == 0);
  } else {
    fs::remove(vault.here / "img/new.png");
  }
  const Json undone = parse(vault.ws(vault.here, {"sync", "undo", "2", "--json"}).out);
  INFO(undone.dump());
  std::vector<std::string> left;
  for (const Json& each : undone.at("left")) left.push_back(text_at(each, "path") + " " + text_at(each, "reason"));
  CHECK_THAT(left, Catch::Matchers::VectorContains(std::string("img/new.png ") + how));
}

TEST_CASE("sync attachments: one that fails is a row of its own, the rest goes on, and the next run tries it",
          "[cli]") {
  const Pictures two;
  const auto [operation, effect] =
      GENERATE(table<std::string, std::string>({{"files.upload_start", R"({"status": 422})"},
                                                {"files.content", R"({"status": 404})"},
                                                {"files.content", R"({"truncate_at": 5})"}}));
  CAPTURE(operation, effect);
  const bool up = operation == "files.upload_start";
  if (!up) REQUIRE(two.sync(two.here).exit == 0);
  const std::filesystem::path& folder = up ? two.here : two.there;
  control(two.server,
          "POST",
          "/faults",
          fmt::format(R"({{"operation": "{}", "effect": {}, "times": 1}})", operation, effect));
  const Ended ended = two.ws(folder, {"sync", "--no-retry", "--json"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 13);
  std::map<std::string, int> states;
  const Json report = parse(ended.out);
  for (const Json& row : report["actions"]) {
    if (row.contains("what") && row["what"] == "attachment") ++states[text_at(row, "state")];
  }
  CHECK(states == std::map<std::string, int>{{"done", 1}, {"failed", 1}});
  CHECK(read_text(folder / "note.md") == read_text(two.here / "note.md"));
  CHECK(two.sync(folder).exit == 0);
  CHECK(two.assets() == 2);
  two.both_in_step();
  auto expected = bytes_of(two.here);
  expected.erase("img/unshown.png");
  CHECK(bytes_of(two.there) == expected);
}

TEST_CASE("sync attachments: a rename that arrives edits no link, whatever `links:` says here", "[cli]") {
  const Pictures two;
  two.both_in_step();
  for (const std::filesystem::path& side : {two.here, two.there}) {
    const std::string links = side == two.here ? "links: off\n" : "links: keep\n";
    write_text(side / ".ws/config.yaml", read_text(side / ".ws/config.yaml") + links);
  }
  fs::rename(two.here / "img/a.png", two.here / "img/lamp.png");
  const Ended sent = two.ws(two.here, {"sync"});
  CHECK(sent.exit == 0);
  CHECK(sent.err.find("ws links") == std::string::npos);
  CHECK(two.ws(two.here, {"sync", "status"}).err.find("lead") == std::string::npos);
  const Json received = parse(two.sync(two.there).out);
  CHECK_FALSE(received.contains("links_mended"));
  CHECK(read_text(two.there / "note.md") == "# Note\n\n![a](img/a.png) and [[b.pdf]]\n");
  CHECK(fs::exists(two.there / "img/lamp.png"));
}

TEST_CASE("sync attachments: --only takes the picture that it names", "[cli]") {
  const Pictures two;
  const Ended ended = two.ws(two.here, {"sync", "--json", "--only", "img/b.pdf"});
  INFO(ended.out << ended.err);
  CHECK(attachment_rows(ended) == std::vector<std::string>{"push_create img/b.pdf"});
  CHECK(two.assets() == 1);
  two.both_in_step();
  CHECK(two.assets() == 2);
}

TEST_CASE("sync attachments: a run whose list of files got no answer is one run, and its undo takes all of it back",
          "[cli][undo]") {
  const Pictures vault;
  vault.both_in_step();
  const auto before = bytes_of(vault.here);
  write_text(vault.here / "note.md", "# Note\n\n![a](img/a.png) and [[b.pdf]] and ![new](img/new.png)\n");
  write_text(vault.here / "img/a.png", png + " edited");
  write_text(vault.here / "img/new.png", png + " new");
  fs::remove(vault.here / "img/b.pdf");
  const Json lost = {
      {"operation", "sync.commit"}, {"nth", 2}, {"times", 1}, {"phase", "after"}, {"effect", {{"reset", true}}}};
  control(vault.server, "POST", "/faults", lost.dump());
  CHECK(vault.ws(vault.here, {"sync", "--no-retry"}).exit == 12);
  // Whichever command comes first brings it to its end.
  const std::string next = GENERATE("run", "pull", "undo");
  CAPTURE(next);
  if (next != "undo") REQUIRE(vault.ws(vault.here, {"sync", next}).exit == 0);
  const Json runs = parse(vault.ws(vault.here, {"sync", "log", "--runs", "--json"}).out)["data"];
  REQUIRE(runs.size() == 2);
  CHECK(runs[0]["counts"]["sent"] == 4);
  const Ended undone = vault.ws(vault.here, {"sync", "undo", "--allow-deletes"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  CHECK(bytes_of(vault.here) == before);
  REQUIRE(vault.sync(vault.here).exit == 0);
  REQUIRE(vault.ws(vault.there, {"sync", "--allow-deletes"}).exit == 0);
  auto there = before;
  there.erase("img/unshown.png");
  CHECK(bytes_of(vault.there) == there);
}

TEST_CASE("sync attachments: of two names in other normal forms the tracked picture stays synced", "[cli]") {
  const Pictures vault;
  const std::string composed = "caf\xC3\xA9.png";
  const std::string decomposed = "cafe\xCC\x81.png";
  const auto [tracked, twin] = GENERATE_COPY(std::pair(composed, decomposed), std::pair(decomposed, composed));
  CAPTURE(tracked);
  write_text(vault.here / "cafe.md", "![](" + tracked + ")\n");
  write_text(vault.here / tracked, png + "one");
  vault.both_in_step();
  REQUIRE(read_text(vault.there / composed) == png + "one");
  write_text(vault.here / twin, png + "another");
  const auto run = [&, twin = twin](const std::vector<std::string>& rows) {
    const Ended ended = vault.sync(vault.here);
    INFO(ended.out << ended.err);
    CHECK(ended.exit == 0);
    CHECK(attachment_rows(ended) == rows);
    CHECK(parse(ended.out)["skipped"] == Json({{{"path", twin}, {"reason", "twin"}}}));
  };
  run({});
  write_text(vault.there / composed, png + "theirs");
  REQUIRE(vault.sync(vault.there).exit == 0);
  run({"pull_update " + composed});
  CHECK(read_text(vault.here / tracked) == png + "theirs");
  CHECK(read_text(vault.here / twin) == png + "another");
  run({});
  // As an editor writes it anew.
  write_text(vault.here / "new", png + "mine");
  fs::rename(vault.here / "new", vault.here / tracked);
  run({"push_update " + composed});
  REQUIRE(vault.sync(vault.there).exit == 0);
  CHECK(read_text(vault.there / composed) == png + "mine");
}

TEST_CASE("sync attachments: a picture that became a folder of notes there arrives in one run", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  fs::remove(vault.here / "img/a.png");
  fs::create_directory(vault.here / "img/a.png");
  write_text(vault.here / "img/a.png/x.md", "in it\n");
  REQUIRE(vault.sync(vault.here).exit == 0);
  const std::string verb = GENERATE("run", "pull");
  CAPTURE(verb);
  const Ended ended = vault.ws(vault.there, {"sync", verb, "--json"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
  CHECK(parse(ended.out)["conflicts"].empty());
  CHECK(attachment_rows(ended) == std::vector<std::string>{"pull_delete img/a.png"});
  CHECK(read_text(vault.there / "img/a.png/x.md") == "in it\n");
  CHECK(parse(vault.sync(vault.there).out)["clean"] == true);
}

TEST_CASE("sync diff: pictures of either side are rows with their sizes, and none of their bytes", "[cli]") {
  const Pictures two;
  two.both_in_step();
  const auto diff = [&two](const fs::path& folder, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"sync", "diff"});
    return two.ws(folder, std::move(more));
  };
  const std::string end_of_pdf = "--- base/img/b.pdf\n+++ /dev/null\na file of 19 bytes\n";
  CHECK(diff(two.here, {"--exit-code"}).exit == 0);
  write_text(two.here / "img/a.png", png + "edited");
  fs::remove(two.here / "img/b.pdf");
  const std::string edited = "the files differ: 26 bytes before, 32 bytes now\n";
  CHECK(diff(two.here).out ==
        "--- base/img/a.png\n+++ local/img/a.png\n" + edited + "deleted here: img/b.pdf\n" + end_of_pdf);
  CHECK(diff(two.here, {"img/b.pdf", "--exit-code"}).exit == 13);
  CHECK(diff(two.here, {"note.md", "--exit-code"}).exit == 0);
  CHECK(diff(two.here, {"img/none.png"}).exit == 6);
  const Json rows = parse(diff(two.here, {"img", "--offline", "--json"}).out)["data"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0] == Json::parse(R"({"side": "local", "path": "img/a.png", "before": "img/a.png", "after": "img/a.png",
    "hunks": "", "what": "attachment", "bytes_before": 26, "bytes_after": 32})"));
  CHECK(rows[1]["bytes_after"].is_null());
  REQUIRE(two.sync(two.here).exit == 0);
  CHECK(diff(two.there).out ==
        "--- base/img/a.png\n+++ remote/img/a.png\n" + edited + "removed on the service: img/b.pdf\n" + end_of_pdf);
  // Both sides of a conflict, before it is met and while it is open.
  write_text(two.there / "img/a.png", png + "mine");
  REQUIRE(diff(two.there, {"img/a.png", "--exit-code"}).exit == 7);
  REQUIRE(two.sync(two.there).exit == 7);
  const Ended open = diff(two.there, {"img/a.png", "--exit-code"});
  CHECK(open.exit == 7);
  CHECK(open.out ==
        "--- base/img/a.png\n+++ local/img/a.png\nthe files differ: 26 bytes before, 30 bytes now\n"
        "--- base/img/a.png\n+++ remote/img/a.png\n" +
            edited);
  // A rename, and a new file.
  fs::rename(two.here / "img/a.png", two.here / "img/c.png");
  write_text(two.here / "more.md", "![n](img/new.png)\n");
  write_text(two.here / "img/new.png", png + "new");
  const Ended renamed = diff(two.here, {"img"});
  CHECK(renamed.out ==
        "--- base/img/a.png\n+++ local/img/c.png\nthe same file: 32 bytes\n"
        "--- /dev/null\n+++ local/img/new.png\na new file: 29 bytes\n");
}

TEST_CASE("sync attachments: after the service went back, what is kept is proved and sent again, and renamed again",
          "[cli]") {
  const Pictures two;
  two.both_in_step();
  const std::string before = png + "before";
  write_text(two.here / "img/c.png", before);
  write_text(two.here / "more.md", "![c](img/c.png)\n");
  REQUIRE(two.sync(two.here).exit == 0);
  control(two.server, "POST", "/snapshots", R"({"name": "backup"})");
  write_text(two.here / "img/a.png", png + "edited");
  std::filesystem::rename(two.here / "img/c.png", two.here / "img/d.png");
  REQUIRE(two.sync(two.here).exit == 0);
  control(two.server, "POST", "/snapshots/backup:restore", "");
  CHECK(two.sync(two.here).exit == 7);
  CHECK(two.ws(two.here, {"sync", "resolve", "rewound", "--keep", "mine"}).exit == 0);
  CHECK(two.sync(two.here).exit == 0);
  CHECK(two.sync(two.here).exit == 0);
  // A new machine gets all of it: the Asset that the list names is there.
  const std::filesystem::path third = two.stage / "third";
  std::filesystem::create_directory(third);
  REQUIRE(two.ws(third, {"sync", "init", "--source", two.source}).exit == 0);
  CHECK(two.sync(third).exit == 0);
  CHECK(read_text(third / "img/a.png") == png + "edited");
  CHECK(read_text(third / "img/d.png") == before);
  CHECK_FALSE(std::filesystem::exists(third / "img/c.png"));
}

TEST_CASE("sync attachments: Ctrl-C while pictures come keeps the report of what was published", "[cli]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.here / "img/a.png", png + "edited");
  REQUIRE(two.sync(two.here).exit == 0);
  write_text(two.there / "mine.md", "mine\n");
  two.hold_up("files.content", 1, std::chrono::milliseconds{60000});
  Running running(two.person.command({"sync", "--json"}, two.there));
  two.wait_until_held_up();
  running.signal(SIGINT);
  const Ended stopped = running.wait();
  INFO(stopped.out << stopped.err);
  CHECK(stopped.exit == 130);
  const Json rows = parse(stopped.out)["actions"];
  CHECK(std::ranges::any_of(
      rows, [](const Json& row) { return text_at(row, "path") == "mine.md" && text_at(row, "state") == "done"; }));
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(read_text(two.there / "img/a.png") == png + "edited");
}

TEST_CASE("sync: what was taken back after a commit without an answer is not sent by the next run", "[cli]") {
  // The first commit of a run is that of the notes, the second that of the list of pictures.
  const bool is_applied = GENERATE(false, true);
  const int nth = GENERATE(1, 2);
  CAPTURE(is_applied, nth);
  const Pictures two;
  write_text(two.here / "gone.md", "# Gone\n");
  two.both_in_step();
  const auto before = bytes_of(two.here);
  const std::string id = text_at(parse(two.ws(two.here, {"docs", "get", "gone", "--json"}).out), "data.id");
  fs::remove(two.here / "gone.md");
  fs::remove(two.here / "img/a.png");
  write_text(two.here / "img/b.pdf", "%PDF-1.7 a secret");
  write_text(two.here / "note.md", before.at("note.md") + "a secret\n");
  const Json fault{{"operation", "sync.commit"},
                   {"nth", nth},
                   {"times", 9},
                   {"phase", is_applied ? "after" : "before"},
                   {"effect", {{"reset", true}}}};
  control(two.server, "POST", "/faults", dump(fault));
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit != 0);
  control(two.server, "DELETE", "/faults", "");
  for (const auto& [path, bytes] : before) write_text(two.here / path, bytes);
  const Ended run = two.sync(two.here);
  INFO(run.out << run.err);
  CHECK(run.exit == 0);
  CHECK(bytes_of(two.here) == before);
  two.both_in_step();
  CHECK(bytes_of(two.here) == before);
  auto there = before;
  there.erase("img/unshown.png");
  CHECK(bytes_of(two.there) == there);
  if (nth == 1 && !is_applied)
    CHECK(text_at(parse(two.ws(two.here, {"docs", "get", "gone", "--json"}).out), "data.id") == id);
}

TEST_CASE("sync attachments: a run that ends the commit of the list of another says what it sent", "[cli]") {
  const bool is_applied = GENERATE(false, true);
  const bool goes_on = GENERATE(false, true);
  CAPTURE(is_applied, goes_on);
  const Pictures two;
  two.both_in_step();
  write_text(two.here / "new.md", "![n](img/new.png)\n");
  write_text(two.here / "img/new.png", png + "new");
  fs::remove(two.here / "img/a.png");
  const Json fault{{"operation", "sync.commit"},
                   {"nth", 2},
                   {"times", 9},
                   {"phase", is_applied ? "after" : "before"},
                   {"effect", {{"reset", true}}}};
  control(two.server, "POST", "/faults", dump(fault));
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit != 0);
  control(two.server, "DELETE", "/faults", "");
  // A picture that somebody goes on with is no conflict of this tree with itself.
  if (goes_on) write_text(two.here / "img/new.png", png + "newer");
  const Ended run = two.ws(two.here, {"sync", "--allow-deletes"});
  INFO(run.out << run.err);
  CHECK(run.exit == 0);
  const char* const sent = goes_on && is_applied ? "push_update\timg/new.png" : "push_create\timg/new.png";
  CHECK_THAT(run.out, Contains(sent) && Contains("push_delete\timg/a.png"));
  const Ended next = two.sync(two.here);
  INFO(next.out << next.err);
  CHECK(next.exit == 0);
}
