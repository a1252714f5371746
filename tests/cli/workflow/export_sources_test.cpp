// `ws docs export`: folders and pictures of sources, with the real programs.
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/pictures.hpp"
#include "tests/support/relay.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

using Rows = std::map<std::string, std::string>;  // states, by file

/// Somebody who syncs a folder of notes and pictures, through a relay that can refuse what is asked for.
struct SourceStage : MeddledServer {
  SourceStage() {
    for (Person* const each : {&person, &elsewhere}) each->environment["WS_BASE_URL"] = relay.origin();
    write_text(folder / "here/note.md", "# Note\n\n![a](img/a.png) and [b](deep/b.md), [[c.pdf]]\n");
    write_text(folder / "here/deep/b.md", "# B\n\n![](../img/same.png) of [the note](/note.md)\n");
    write_text(folder / "here/img/a.png", png);
    write_text(folder / "here/img/same.png", png);
    write_text(folder / "here/img/c.pdf", "%PDF-1.7 some pages");
    source = tied("here", "notes");
  }
  std::string tied(const std::string& name, const std::string& title) const {
    const Ended init = person.ws({"sync", "init", "--name", title, "--json"}, folder / name);
    REQUIRE(init.exit == 0);
    sync(name);
    return text_at(parse(init.out), "source_id");
  }
  void sync(const std::string& name = "here") const {
    const Ended synced = person.ws({"sync", "--allow-deletes"}, folder / name);
    INFO(synced.out << synced.err);
    REQUIRE(synced.exit == 0);
  }
  static void write_text(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    ws::test::write_text(path, text);
  }
  Ended ws(std::vector<std::string> arguments) const { return person.ws(std::move(arguments), folder.path()); }
  /// The rows of an export that ends with `exit`.
  Rows exported(const Person& who, std::vector<std::string> flags, int exit = 0, const std::string& into = "bk") const {
    flags.insert(flags.begin(), {"docs", "export", into, "--json"});
    const Ended ended = who.ws(std::move(flags), folder.path());
    INFO(ended.out << ended.err);
    REQUIRE(ended.exit == exit);
    Rows rows;
    const Json answer = parse(ended.out);
    for (const Json& row : answer["data"]) rows[row["file"].is_null() ? "" : text_at(row, "file")] = row["state"];
    return rows;
  }
  Rows exported(std::vector<std::string> flags = {}, int exit = 0) const {
    return exported(person, std::move(flags), exit);
  }
  /// How often each operation was called since the last time.
  std::map<std::string, int> calls() const {
    std::map<std::string, int> counts;
    const Json journal = parse(control(server, "GET", "/requests", ""));
    for (const Json& entry : journal["data"]) ++counts[text_at(entry, "operation")];
    control(server, "DELETE", "/requests", "");
    return counts;
  }
  /// Refuses what begins so.
  void refuse(const std::string& start, int status) {
    meddles = [=](const Seen& seen) -> std::optional<Script> {
      if (!seen.target.starts_with(start)) return std::nullopt;
      return answer(status, R"({"detail": "no", "code": "no"})");
    };
  }
  std::string asset_of(const std::string& file) const {
    return text_at(parse(read_text(folder / "bk/.ws-export.json"))["pictures"][file], "asset_id");
  }

  Person person{server};
  Person elsewhere{server};  ///< with the same key, on a machine that has synced nothing
  TemporaryFolder folder;
  std::string source;
};

std::map<std::string, std::string> below(const std::map<std::string, std::string>& files, const std::string& start) {
  std::map<std::string, std::string> found;
  for (const auto& [path, text] : files) {
    if (path.starts_with(start)) found.emplace(path.substr(start.size()), text);
  }
  return found;
}

}  // namespace

TEST_CASE("docs export: a synced source lies in its folders with its pictures, and links hold", "[cli]") {
  const SourceStage stage;
  const std::string flat = stage.ws({"docs", "create", "Alone", "-F", "content=x", "--format", "ids"}).out;
  stage.calls();
  const Rows first = stage.exported();
  CHECK(first.at("deep/b.md") == "created");
  CHECK(first.at("img/same.png") == "created");
  auto calls = stage.calls();
  CHECK(calls["files.content"] == 2);  // of three pictures two have the same bytes
  CHECK(calls["sync.pull"] == 1);
  const auto files = bytes_of(stage.folder / "bk");
  for (const auto& [path, bytes] : bytes_of(stage.folder / "here")) CHECK(files.at(path) == bytes);
  CHECK(files.at("Alone.md") == "x");
  for (const auto& [path, bytes] : files) CHECK(bytes.find("# Attachments\n") == std::string::npos);
  CHECK(stage.ws({"-C", "here", "links", "check"}).exit == 0);
  for (const char* const place : {"note.md", "deep"}) {
    const Ended links = stage.ws({"-C", "bk", "links", "check", place});
    INFO(links.out << links.err);
    CHECK(links.exit == 0);
  }

  // Nothing changed: nothing is asked for but what changed.
  const auto before = texts_of(stage.folder / "bk");
  for (const auto& [file, state] : stage.exported()) CHECK(state == "unchanged");
  calls = stage.calls();
  calls.erase("docs.list");
  CHECK(calls == std::map<std::string, int>{{"me.get", 1}, {"sync.pull", 1}});
  CHECK(texts_of(stage.folder / "bk") == before);

  // Renamed folders of notes and pictures: neither texts nor bytes come again.
  fs::rename(stage.folder / "here/deep", stage.folder / "here/deeper");
  fs::rename(stage.folder / "here/img", stage.folder / "here/pictures");
  stage.write_text(stage.folder / "here/note.md", "# Note\n\n![a](pictures/a.png) and [b](deeper/b.md), [[c.pdf]]\n");
  stage.write_text(stage.folder / "here/deeper/b.md", "# B\n\n![](../pictures/same.png) of [the note](/note.md)\n");
  stage.sync();
  stage.calls();
  const Rows moved = stage.exported();
  CHECK(moved.at("deeper/b.md") == "updated");
  CHECK(moved.at("pictures/a.png") == "created");
  calls = stage.calls();
  CHECK(calls["files.content"] == 0);
  CHECK_FALSE(fs::exists(stage.folder / "bk/deep"));
  CHECK_FALSE(fs::exists(stage.folder / "bk/img"));
  const auto after = bytes_of(stage.folder / "bk");
  for (const auto& [path, bytes] : bytes_of(stage.folder / "here")) CHECK(after.at(path) == bytes);
}

TEST_CASE("docs export: into a synced folder it says that the next sync there sends what comes", "[cli]") {
  const SourceStage stage;
  const auto exported = [&](const fs::path& folder) {
    const Ended ended = stage.person.ws({"docs", "export", folder.string()}, stage.folder.path());
    INFO(ended.out << ended.err);
    CHECK(ended.exit == 0);
    return ended.err;
  };
  CHECK_THAT(exported("here/backup"), Contains("here/backup is in the synced folder"));
  CHECK_THAT(exported("backup"), !Contains("is in the synced folder"));
}

TEST_CASE("docs export: what lies in the way steps aside, and files that change places are right at once", "[cli]") {
  const SourceStage stage;
  const std::string flat = stage.ws({"docs", "create", "new", "-F", "content=flat", "--format", "ids"}).out;
  stage.write_text(stage.folder / "here/one.md", "1\n");
  stage.write_text(stage.folder / "here/two.md", "2\n");
  stage.sync();
  REQUIRE(stage.exported().at("new.md") == "created");
  stage.write_text(stage.folder / "here/new.md", "laid\n");
  fs::rename(stage.folder / "here/one.md", stage.folder / "here/x.md");
  fs::rename(stage.folder / "here/two.md", stage.folder / "here/one.md");
  fs::rename(stage.folder / "here/x.md", stage.folder / "here/two.md");
  stage.sync();
  stage.exported();
  const auto files = bytes_of(stage.folder / "bk");
  for (const auto& [path, bytes] : bytes_of(stage.folder / "here")) CHECK(files.at(path) == bytes);
  CHECK(files.at("new (" + flat.substr(28, 8) + ").md") == "flat");
  // A file of somebody's own stays, whatever is to lie there.
  stage.write_text(stage.folder / "bk/own.md", "mine\n");
  stage.write_text(stage.folder / "bk/img/own.png", "mine");
  stage.write_text(stage.folder / "here/own.md", "![](img/own.png)\n");
  stage.write_text(stage.folder / "here/img/own.png", "theirs");
  stage.sync();
  const Rows rows = stage.exported({"--force"});
  CHECK(rows.at("img/own.png") == "kept");
  CHECK(read_text(stage.folder / "bk/own.md") == "mine\n");
  CHECK(read_text(stage.folder / "bk/img/own.png") == "mine");
  for (const auto& [file, state] : stage.exported()) CHECK((state == "unchanged" || file == "img/own.png"));
}

TEST_CASE("docs export: a source that is named once is laid out from then on, each of several in its folder", "[cli]") {
  const SourceStage stage;
  stage.write_text(stage.folder / "other/note.md", "# Another\n");
  const std::string other = stage.tied("other", "Log");
  // Without the register everything lies flat, and the list is left out though nobody names it; it is read once.
  stage.calls();
  const Rows flat = stage.exported(stage.elsewhere, {});
  CHECK(flat.at("b.md") == "created");
  CHECK(flat.size() == bytes_of(stage.folder / "bk").size());
  for (const auto& [file, text] : texts_of(stage.folder / "bk"))
    CHECK(text.find("# Attachments\n") == std::string::npos);
  CHECK(stage.calls()["docs.get"] == static_cast<int>(flat.size()) + 1);
  stage.exported(stage.elsewhere, {});
  CHECK(stage.calls()["docs.get"] == 0);
  // What lies flat moves to its place, and is not read again.
  const Rows laid = stage.exported(stage.elsewhere, {"--source", stage.source});
  CHECK(laid.at("deep/b.md") == "updated");
  CHECK(stage.calls()["docs.get"] == 0);
  CHECK_FALSE(fs::exists(stage.folder / "bk/b.md"));
  for (const auto& [file, state] : stage.exported(stage.elsewhere, {})) CHECK(state == "unchanged");
  // One more: beside the first in a folder of its own.
  stage.exported(stage.elsewhere, {"--source", other});
  CHECK(read_text(stage.folder / "bk/Log/note.md") == "# Another\n");
  CHECK_THAT(read_text(stage.folder / "bk/note.md"), Contains("# Note"));
  // The register knows both, by name or ending, too.
  stage.exported(stage.person, {"--source", "Log", "--source", stage.source.substr(28)}, 0, "both");
  CHECK(below(bytes_of(stage.folder / "both"), "notes/") == bytes_of(stage.folder / "here"));
  CHECK(below(bytes_of(stage.folder / "both"), "Log/") == bytes_of(stage.folder / "other"));
  const Ended unknown = stage.ws({"docs", "export", "bk", "--source", "Logs"});
  CHECK(unknown.exit == 2);
  CHECK_THAT(unknown.err, Contains("did you mean `Log`?"));
}

TEST_CASE("docs export: a source that is refused lies flat, and what was laid out keeps its place", "[cli]") {
  SourceStage stage;
  const int status = GENERATE(403, 404);
  stage.refuse("/v1/sync/sources/", status);
  const Ended told = stage.ws({"docs", "export", "bk"});
  CHECK(told.exit == 0);
  CHECK_THAT(told.err, Contains("not visible with this key: source notes; documents of it lie flat"));
  CHECK(fs::exists(stage.folder / "bk/b.md"));
  CHECK(stage.ws({"docs", "export", "bk", "--source", stage.source}).exit == 13);
  stage.meddles = [](const Seen&) { return std::nullopt; };
  CHECK(stage.exported().at("deep/b.md") == "updated");
  stage.refuse("/v1/sync/sources/", status);
  const auto before = texts_of(stage.folder / "bk");
  for (const auto& [file, state] : stage.exported({"--delete"})) CHECK(state == "unchanged");
  CHECK(texts_of(stage.folder / "bk") == before);
  // Nor does a listing that is empty take anything out of its place.
  fs::remove(stage.folder / "bk/.ws-export.sources.json");
  stage.meddles = [&](const Seen& seen) -> std::optional<Script> {
    if (seen.target.find("/pull") == std::string::npos) return std::nullopt;
    const Json empty = {
        {"source_id", stage.source}, {"revision", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
    return answer(200, dump(empty));
  };
  for (const auto& [file, state] : stage.exported({"--delete"})) CHECK(state == "unchanged");
}

TEST_CASE("docs export --delete: pictures have the guard, and only one that is archived goes", "[cli]") {
  SourceStage stage;
  for (const char* const name : {"1", "2", "3"})
    stage.write_text(stage.folder / "here/img" / (std::string(name) + ".png"), name);
  stage.write_text(stage.folder / "here/three.md", "![](img/1.png) ![](img/2.png) ![](img/3.png)\n");
  stage.sync();
  stage.exported();
  stage.write_text(stage.folder / "here/three.md", "none\n");
  stage.write_text(stage.folder / "here/note.md", "none\n");
  for (const char* const name : {"1.png", "2.png", "3.png", "a.png", "c.pdf"})
    fs::remove(stage.folder / "here/img" / name);
  stage.sync();
  const auto before = texts_of(stage.folder / "bk");
  const Ended stopped = stage.ws({"docs", "export", "bk", "--delete", "--yes", "--json"});
  CHECK(stopped.exit == 7);
  CHECK_THAT(text_at(error_of(stopped), "message"), Contains("5 of 6 exported pictures are missing"));
  CHECK(texts_of(stage.folder / "bk") == before);
  CHECK(stage.exported().at("img/1.png") == "unlisted");

  const std::map<std::string, std::string> by_answer = {{"img/1.png", "removed"},
                                                        {"img/2.png", "removed"},
                                                        {"img/3.png", "not_visible"},
                                                        {"img/c.pdf", "unlisted"},
                                                        {"img/same.png", "unchanged"}};
  std::map<std::string, std::string> assets;
  for (const auto& [file, state] : by_answer) assets[stage.asset_of(file)] = file;
  stage.meddles = [&](const Seen& seen) -> std::optional<Script> {
    const std::string start = "/v1/files/";
    const auto found = seen.target.starts_with(start) ? assets.find(seen.target.substr(start.size())) : assets.end();
    if (found == assets.end()) return std::nullopt;
    if (found->second == "img/1.png") return answer(200, R"({"status": "archived"})");
    if (found->second == "img/2.png") return answer(200, R"({"deleted": true})");
    if (found->second == "img/3.png") return answer(403, R"({"detail": "no", "code": "no"})");
    return std::nullopt;
  };
  const Rows rows = stage.exported({"--delete", "--allow-deletes"});
  for (const auto& [file, state] : by_answer) {
    CAPTURE(file);
    CHECK(rows.at(file) == state);
    CHECK(fs::exists(stage.folder / "bk" / file) == (state != "removed"));
  }
}

TEST_CASE("docs export: a picture that was changed here is kept, one that is gone comes again", "[cli]") {
  SourceStage stage;
  stage.exported();
  stage.write_text(stage.folder / "bk/img/c.pdf", "mine");
  fs::remove(stage.folder / "bk/img/same.png");
  stage.calls();
  const Rows rows = stage.exported();
  CHECK(rows.at("img/c.pdf") == "kept");
  CHECK(rows.at("img/same.png") == "created");
  CHECK(stage.calls()["files.content"] == 0);  // the same bytes lie in img/a.png
  CHECK(read_text(stage.folder / "bk/img/same.png") == png);
  CHECK(stage.exported({"--force"}).at("img/c.pdf") == "updated");
  CHECK(stage.calls()["files.content"] == 1);
  CHECK(read_text(stage.folder / "bk/img/c.pdf") == "%PDF-1.7 some pages");
  // Without a manifest what lies there is taken over where it is the same.
  fs::remove(stage.folder / "bk/.ws-export.json");
  for (const auto& [file, state] : stage.exported()) CHECK(state == "unchanged");
  CHECK(stage.calls()["files.content"] == 0);
  // One that cannot be read fails alone.
  fs::remove(stage.folder / "bk/img/c.pdf");
  stage.refuse("/v1/files/" + stage.asset_of("img/c.pdf"), 404);
  CHECK(stage.exported({}, 13).at("img/c.pdf") == "failed");
}

TEST_CASE("docs export: a picture whose name became a folder fails until the old one has gone", "[cli]") {
  SourceStage stage;
  stage.exported();
  fs::remove(stage.folder / "here/img/a.png");
  stage.write_text(stage.folder / "here/img/a.png/inside.png", png + "inside");
  stage.write_text(stage.folder / "here/note.md", "# Note\n\n![a](img/a.png/inside.png)\n");
  stage.sync();
  CHECK(stage.exported({}, 13).at("img/a.png/inside.png") == "failed");
  CHECK(read_text(stage.folder / "bk/img/a.png") == png);
}

TEST_CASE("docs export: no path of a source, and no link in the folder, leads out of it", "[cli]") {
  const SourceStage stage;
  fs::create_directories(stage.folder / "outside");
  fs::create_directories(stage.folder / "bk");
  fs::create_symlink("../outside", stage.folder / "bk/deep");
  fs::create_symlink("../outside", stage.folder / "bk/img");
  const Rows rows = stage.exported({}, 13);
  CHECK(fs::is_empty(stage.folder / "outside"));
  CHECK(rows.at("note.md") == "created");

  const std::string path =
      GENERATE("../out.md", "/abs.md", ".ws-export.json/a.md", ".WS-EXPORT.sources.json", ".git/x.md");
  CAPTURE(path);
  const HostileServer server([&](const Seen& seen) {
    const Json document = {{"id", nobody}, {"title", "T"}, {"content_revision", 1}, {"content", "text"}};
    if (seen.target == "/v1/me") return answer(200, R"({"object": "identity"})");
    if (seen.target.starts_with("/v1/documents?"))
      return answer(200, dump({{"data", {document}}, {"next_cursor", nullptr}}));
    if (seen.target.find("/pull") == std::string::npos && seen.target.find("/sync/") != std::string::npos)
      return answer(200, dump({{"id", nobody}, {"name", "../.."}, {"revision", 1}}));
    if (seen.target.find("/pull") == std::string::npos) return answer(200, dump(document));
    const Json item = {{"document_id", nobody}, {"path", path}, {"content", "text"}, {"content_revision", 1}};
    return answer(200, dump({{"source_id", nobody}, {"revision", 1}, {"data", {item}}, {"next_cursor", nullptr}}));
  });
  const At person(server.origin());
  const TemporaryFolder outer;
  fs::create_directories(outer / "in");
  const Ended ended = person.ws({"docs", "export", "bk", "--source", nobody}, outer / "in");
  INFO(ended.err);
  CHECK(ended.exit == 0);
  std::set<std::string> found;
  for (const auto& [file, text] : texts_of(outer.path())) found.insert(file);
  CHECK(found == std::set<std::string>{"in/bk/.ws-export.json", "in/bk/.ws-export.sources.json", "in/bk/T.md"});
}
