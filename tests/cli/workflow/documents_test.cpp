#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/on_terminal.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

struct DocumentStage {
  MockProcess server;
  Person person{server};
  TemporaryFolder folder;

  Ended ws(std::vector<std::string> arguments) const { return person.ws(std::move(arguments), folder.path()); }
  std::string created(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"docs", "create", "--format", "ids"});
    const Ended ended = ws(std::move(arguments));
    REQUIRE(ended.exit == 0);
    return ended.out.substr(0, ended.out.size() - 1);
  }
};

}  // namespace

TEST_CASE("docs: the title is the argument, else the first heading, else the file's name", "[cli]") {
  const DocumentStage stage;
  write_text(stage.folder / "trip.md", "some text\n\n# The *long* way\n");
  write_text(stage.folder / "plain.md", "some text\n");
  const auto title_of = [&](std::vector<std::string> arguments) {
    return text_at(parse(stage.ws({"docs", "get", stage.created(std::move(arguments)), "--json"}).out), "title");
  };
  CHECK(title_of({"[draft], mine", "-f", "trip.md"}) == "[draft], mine");
  CHECK(title_of({"-f", "trip.md"}) == "The long way");
  CHECK(title_of({"-f", "plain.md"}) == "plain");
  CHECK(title_of({"docs"}) == "docs");
}

TEST_CASE("docs: a document from stdin needs a title, and keeps every byte", "[cli]") {
  const DocumentStage stage;
  Command command = stage.person.command({"docs", "create", "-f", "-"});
  command.input = "# A\r\n\r\nno end";
  CHECK(run_command(command).exit == 2);
  Command twice = stage.person.command({"docs", "create", "Given", "-f", "-", "--body", "-"});
  twice.input = "{}";
  CHECK(run_command(twice).err.find("stdin is named twice") != std::string::npos);
  command.arguments.insert(command.arguments.end(), {"Given", "--format", "ids"});
  const Ended created = run_command(command);
  REQUIRE(created.exit == 0);
  const std::string id = created.out.substr(0, created.out.size() - 1);
  CHECK(stage.ws({"docs", "get", id, "--content"}).out == command.input);
  CHECK(stage.ws({"docs", "get", id, "--content", "-o", "copy.md"}).out.empty());
  CHECK(read_text(stage.folder / "copy.md") == command.input);
  CHECK(stage.ws({"docs", "get", id, "--content", "-o", "copy.md"}).exit == 0);  // it is that text already
  write_text(stage.folder / "copy.md", "other\n");
  CHECK(stage.ws({"docs", "get", id, "--content", "-o", "copy.md"}).exit == 14);
  CHECK(stage.ws({"docs", "get", id, "--content", "-o", "copy.md", "--force", "-n"}).exit == 0);
  CHECK(read_text(stage.folder / "copy.md") == "other\n");
  CHECK(stage.ws({"docs", "get", id, "--content", "-o", "copy.md", "--force"}).exit == 0);
}

TEST_CASE("docs: an update names the revision that it was made from", "[cli]") {
  const DocumentStage stage;
  write_text(stage.folder / "a.md", "one\n");
  const std::string id = stage.created({"-f", "a.md"});
  write_text(stage.folder / "a.md", "two\n");
  CHECK(stage.ws({"docs", "update", id, "-f", "a.md"}).exit == 2);
  CHECK(stage.ws({"docs", "update", id, "-f", "a.md", "--revision", "1"}).exit == 0);
  const Ended late = stage.ws({"docs", "update", id, "-f", "a.md", "--revision", "1", "--json"});
  CHECK(late.exit == 7);
  CHECK(late.out.empty());
  const Json error = error_of(late);
  CHECK(error["code"] == "revision_conflict");
  CHECK(error["http_status"] == 409);
  CHECK(error["operation"] == "docs.update");
  CHECK(error["applied"] == "no");
  CHECK(error["details"]["current_content_revision"] == 2);
  CHECK(stage.ws({"docs", "get", id, "--content"}).out == "two\n");
}

TEST_CASE("docs: archiving one needs no question, several need a yes", "[cli]") {
  const DocumentStage stage;
  const std::string a = stage.created({"A"});
  const std::string b = stage.created({"B"});
  CHECK(stage.ws({"docs", "archive", a}).exit == 0);
  const Ended unasked = stage.ws({"docs", "archive", a, b});
  CHECK(unasked.exit == 2);
  CHECK(unasked.err.find("--yes") != std::string::npos);
  CHECK(stage.ws({"docs", "archive", a, b, nobody, "-n"}).out.find("DELETE") != std::string::npos);
  const Ended some = stage.ws({"docs", "delete", a, b, nobody, "--yes", "--json"});
  CHECK(some.exit == 13);
  const Json results = parse(some.out)["data"];
  CHECK(results[1]["ok"] == true);
  CHECK(results[1]["result"]["status"] == "archived");
  CHECK(results[2]["ok"] == false);
  CHECK(results[2]["error"]["exit"] == 6);
}

TEST_CASE("docs: pages are joined, counted, streamed", "[cli]") {
  const DocumentStage stage;
  for (int i = 0; i < 7; ++i) stage.created({"Note " + std::to_string(i)});
  const Json all = parse(stage.ws({"docs", "list", "--all", "--limit", "3", "--json"}).out);
  CHECK(all["next_cursor"].is_null());
  CHECK(all["data"].size() >= 7);
  const Json some = parse(stage.ws({"docs", "list", "--max-items", "4", "--limit", "3", "--json"}).out);
  CHECK(some["data"].size() == 4);
  CHECK(some["next_cursor"].is_string());
  const Ended ids = stage.ws({"docs", "list", "--all", "--limit", "3", "--format", "ids"});
  CHECK(static_cast<std::size_t>(std::count(ids.out.begin(), ids.out.end(), '\n')) == all["data"].size());
  const Ended first = stage.ws({"docs", "list", "--limit", "3"});
  CHECK(std::count(first.out.begin(), first.out.end(), '\n') == 3);
  CHECK(first.err.find("--cursor") != std::string::npos);
}

TEST_CASE("docs: what breaks a published limit is refused here, and by the server where it is sent all the same",
          "[cli]") {
  const DocumentStage stage;
  const Ended local = stage.ws({"docs", "list", "--limit", "101"});
  CHECK(local.exit == 2);
  CHECK(local.err.find("--limit") != std::string::npos);
  CHECK(local.err.find("100") != std::string::npos);
  const Ended sent = stage.ws({"docs", "list", "--limit", "101", "--no-validate", "--json"});
  CHECK(sent.exit == 3);
  CHECK(error_of(sent)["http_status"] == 422);
  CHECK(stage.ws({"docs", "get", nobody}).exit == 6);
  CHECK(stage.ws({"docs", "get", "nonsense"}).exit == 6);
  CHECK(stage.ws({"docs", "create", "-f", "missing.md"}).exit == 14);
}

TEST_CASE("json: the body is printed as it was received, fields that nobody knows too", "[cli]") {
  const MockProcess server({"--assume", "list_extra=unknown_fields"});
  const Person person(server);
  const Ended list = person.ws({"docs", "list", "--json"});
  REQUIRE(list.exit == 0);
  CHECK(list.out == body_of(server, "/v1/documents") + "\n");
  const std::string id = text_at(parse(list.out), "data.0.id");
  CHECK(person.ws({"docs", "get", id, "--json"}).out == body_of(server, "/v1/documents/" + id) + "\n");
}

TEST_CASE("dry run: the exact request without the key, and nothing is sent", "[cli]") {
  const DocumentStage stage;
  const Ended shown = stage.ws({"docs", "create", "Plan", "-F", "project_id=" + std::string(nobody), "-n", "--json"});
  REQUIRE(shown.exit == 0);
  const Json request = parse(shown.out);
  CHECK(request["method"] == "POST");
  CHECK(request["url"] == stage.server.base_url() + "/v1/documents");
  CHECK(request["body"]["title"] == "Plan");
  CHECK(request["body"]["project_id"] == nobody);
  CHECK(shown.out.find(stage.server.token()) == std::string::npos);
  CHECK(shown.out.find("Authorization") == std::string::npos);
  CHECK(control(stage.server, "GET", "/requests", "").find("docs.create") == std::string::npos);
}

TEST_CASE("debug: requests are traced on stderr, the key is not", "[cli]") {
  const DocumentStage stage;
  const Ended traced = stage.ws({"whoami", "--debug", "--json"});
  REQUIRE(traced.exit == 0);
  CHECK(traced.err.find("GET " + stage.server.base_url() + "/v1/me") != std::string::npos);
  CHECK(traced.err.find(stage.server.token()) == std::string::npos);
}

TEST_CASE("debug: the address of an upload is not traced, nor what is sent with its bytes", "[cli]") {
  const DocumentStage stage;
  write_text(stage.folder / "a.md", "text");
  const Ended traced = stage.ws({"files", "upload", "a.md", "--debug", "--json"});
  REQUIRE(traced.exit == 0);
  CHECK(traced.err.find("PUT " + stage.server.base_url() + "/[redacted] (send 1)") != std::string::npos);
  CHECK(traced.err.find("/uploads/") == std::string::npos);
}

TEST_CASE("batches: --fields, --template and --jq shape what each call answered, without the envelope", "[cli]") {
  const DocumentStage stage;
  const std::string a = stage.created({"A"});
  const std::string b = stage.created({"B"});
  const auto get = [&](std::vector<std::string> shape) {
    shape.insert(shape.begin(), {"docs", "get", a, b});
    return stage.ws(std::move(shape)).out;
  };
  CHECK(get({"--template", "{title}={content_revision}"}) == "A=1\nB=1\n");
  CHECK(get({"--jq", ".title"}) == "A\nB\n");
  CHECK(get({"--fields", "title,content_revision"}) == "A\t1\nB\t1\n");
  CHECK(parse(get({"--json"}))["data"][0]["ok"] == true);
  CHECK(stage.ws({"docs", "get", a, b, "--template", "{result.title}"}).exit == 2);
}

TEST_CASE("names: a document is named by its title, by its file, by the end of its id, or as the last one", "[cli]") {
  const DocumentStage stage;
  const std::string id = stage.created({"Tidal gate"});
  const auto id_of = [&](const std::string& name) { return stage.ws({"docs", "get", name, "--template", "{id}"}).out; };
  CHECK(id_of("Tidal gate") == id + "\n");
  const Person& person = stage.person;
  std::filesystem::remove_all(person.home() / "STATE/ws/shown");
  CHECK(stage.ws({"docs", "get", "last"}).exit == 2);
  run_on_terminal(person.command({"docs", "get", "Tidal gate", "--no-pager"}, stage.folder.path()), 80);
  CHECK(id_of("last") == id + "\n");
  CHECK(id_of(id.substr(28)) == id + "\n");
  const std::string twin = stage.created({"Tidal gate"});
  const Ended two = stage.ws({"docs", "get", "Tidal gate"});
  CHECK(two.exit == 2);
  CHECK(two.err.find(id) != std::string::npos);
  CHECK(two.err.find(twin) != std::string::npos);
}

TEST_CASE("names: `last` is what the latest command made or printed as one, in pipes too, of each kind", "[cli]") {
  const DocumentStage stage;
  const auto id_of = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--format", "ids"});
    const Ended ended = stage.ws(std::move(words));
    CAPTURE(ended.err);
    CHECK(ended.exit == 0);
    return ended.out;
  };
  const std::string one = stage.created({"One"});
  CHECK(id_of({"docs", "get", "last"}) == one + "\n");
  const std::string two = stage.created({"Two"});
  CHECK(id_of({"docs", "get", "last"}) == two + "\n");
  REQUIRE(stage.ws({"docs", "get", one, "--content"}).exit == 0);
  CHECK(id_of({"docs", "get", "last"}) == one + "\n");
  // A list is not one thing, and neither is a thing of another kind a document.
  REQUIRE(stage.ws({"docs", "list"}).exit == 0);
  const std::string thread = id_of({"comments", "add", "last", "-m", "Why?"});
  CHECK(id_of({"comments", "resolve", "last", "last"}) == thread);
  write_text(stage.folder / "a.txt", "a\n");
  write_text(stage.folder / "b.txt", "b\n");
  const std::string asset = id_of({"files", "upload", "a.txt"});
  CHECK(id_of({"files", "get", "last"}) == asset);
  CHECK(id_of({"docs", "get", "last"}) == one + "\n");
  const std::string both = id_of({"files", "upload", "--again", "a.txt", "b.txt"});
  CHECK(id_of({"files", "get", "last"}) == both.substr(both.find('\n') + 1));
}

TEST_CASE("names: what is not found is followed by the nearest path, Project or document", "[cli]") {
  const DocumentStage stage;
  write_text(stage.folder / "notes" / "tides.md", "# Tides\n");
  REQUIRE(stage.ws({"sync", "init", "notes"}).exit == 0);
  REQUIRE(stage.ws({"sync", "notes"}).exit == 0);
  REQUIRE(stage.ws({"projects", "create", "Harbour"}).exit == 0);
  const auto said = [&](std::vector<std::string> words) { return stage.ws(std::move(words)).err; };
  CHECK_THAT(said({"docs", "get", "notes/tide.md"}), Contains("did you mean `notes/tides.md`?"));
  CHECK_THAT(said({"docs", "get", "tidse"}), Contains("did you mean `tides`?"));
  CHECK_THAT(said({"-C", "notes", "sync", "diff", "tide.md"}), Contains("did you mean `tides.md`?"));
  CHECK_THAT(said({"-C", "notes", "sync", "restore", "tide.md"}), Contains("did you mean `tides.md`?"));
  CHECK_THAT(said({"links", "check", "note"}), Contains("did you mean `notes`?"));
  CHECK_THAT(said({"docs", "create", "T", "--project", "Harbor"}), Contains("did you mean `Harbour`?"));
}

TEST_CASE("names: a word is never followed by its opposite", "[cli]") {
  const DocumentStage stage;
  const Ended ended = stage.ws({"docs", "unarchive", nobody});
  CHECK(ended.exit == 2);
  CHECK(ended.err.find("docs archive`") == std::string::npos);
}

TEST_CASE("docs archive: what a synced folder keeps is named, and brings the document back", "[cli]") {
  const DocumentStage stage;
  write_text(stage.folder / "my notes" / "tides.md", "# Tides\n");
  REQUIRE(stage.ws({"sync", "init", "my notes"}).exit == 0);
  REQUIRE(stage.ws({"sync", "my notes"}).exit == 0);
  const std::string loose = stage.created({"Loose"});
  const Ended plain = stage.ws({"docs", "archive", loose});
  CHECK(plain.exit == 0);
  CHECK(plain.err.find("to undo it") == std::string::npos);
  const Ended archived = stage.ws({"docs", "archive", "my notes/tides.md"});
  INFO(archived.err);
  REQUIRE(archived.exit == 0);
  const std::size_t begin = archived.err.find("`ws -C ");
  REQUIRE(begin != std::string::npos);
  const std::string line = archived.err.substr(begin + 1, archived.err.find('`', begin + 1) - begin - 1);
  CHECK_THAT(line, Contains("sync restore tides.md"));
  const auto sync = [&] { return stage.ws({"sync", "my notes", "--allow-deletes"}); };
  REQUIRE(sync().exit == 0);
  REQUIRE_FALSE(std::filesystem::exists(stage.folder / "my notes/tides.md"));
  CHECK(stage.ws({"-C", "my notes", "sync", "restore", "tides.md"}).exit == 0);
  REQUIRE(sync().exit == 0);
  CHECK(stage.ws({"docs", "get", "my notes/tides.md", "--content"}).out == "# Tides\n");
}

TEST_CASE("names: a file of a synced folder is its document", "[cli]") {
  const DocumentStage stage;
  write_text(stage.folder / "notes" / "tides.md", "# Tides\n");
  REQUIRE(stage.ws({"sync", "init", "notes"}).exit == 0);
  REQUIRE(stage.ws({"sync", "notes"}).exit == 0);
  CHECK(stage.ws({"docs", "get", "notes/tides.md", "--content"}).out == "# Tides\n");
  write_text(stage.folder / "notes" / "new.md", "new\n");
  const Ended unknown = stage.ws({"docs", "get", "notes/new.md"});
  CHECK(unknown.exit == 2);
  CHECK(unknown.err.find("run `ws sync`") != std::string::npos);
}

TEST_CASE("docs export: a file each, again only what changed, what was edited here is kept", "[cli]") {
  const DocumentStage stage;
  write_text(stage.folder / "text.md", "one\n");
  const std::string tides = stage.created({"Tides", "-f", "text.md"});
  const std::string twin = stage.created({"tides", "-f", "text.md"});
  const std::string odd = stage.created({"../a/b: c", "-f", "text.md"});
  const auto exported = [&](std::vector<std::string> flags) {
    std::vector<std::string> arguments = {"docs", "export", "out", "--json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Ended ended = stage.ws(std::move(arguments));
    INFO(ended.err);
    REQUIRE(ended.exit == 0);
    std::map<std::string, std::pair<std::string, std::string>> rows;
    const Json answer = parse(ended.out);
    for (const Json& row : answer["data"]) {
      rows[text_at(row, "id")] = {text_at(row, "state"), row["file"].is_null() ? "" : text_at(row, "file")};
    }
    return rows;
  };
  auto rows = exported({});
  CHECK(rows[tides].first == "created");
  CHECK(rows[odd] == std::pair<std::string, std::string>("created", "a-b- c.md"));
  CHECK(rows[tides].second != rows[twin].second);
  const auto file = [&](const std::string& id) { return stage.folder / ("out/" + rows[id].second); };
  CHECK(read_text(file(tides)) == "one\n");
  CHECK_FALSE(std::filesystem::exists(stage.folder.path().parent_path() / "a"));

  // Nothing changed: one list, no document is read. Else those that changed are, and no other.
  const auto documents_read = [&] {
    std::set<std::string> ids;
    const Json journal = parse(control(stage.server, "GET", "/requests", ""));
    for (const Json& entry : journal["data"]) {
      const std::string path = text_at(entry, "path");
      if (entry["operation"] == "docs.get") ids.insert(path.substr(path.rfind('/') + 1));
    }
    control(stage.server, "DELETE", "/requests", "");
    return ids;
  };
  CHECK(documents_read().contains(odd));
  CHECK(exported({})[odd].first == "unchanged");
  CHECK(documents_read().empty());

  write_text(stage.folder / "text.md", "two\n");
  REQUIRE(stage.ws({"docs", "update", tides, "-f", "text.md", "--revision", "1"}).exit == 0);
  REQUIRE(stage.ws({"docs", "update", twin, "-f", "text.md", "--revision", "1"}).exit == 0);
  REQUIRE(stage.ws({"docs", "archive", odd}).exit == 0);
  write_text(file(twin), "mine\n");
  auto later = exported({});
  CHECK(documents_read() == std::set{tides});
  CHECK(later[tides].first == "updated");
  CHECK(later[twin].first == "kept");
  CHECK(later[odd].first == "unlisted");
  CHECK(read_text(file(tides)) == "two\n");
  CHECK(read_text(file(twin)) == "mine\n");
  CHECK(std::filesystem::exists(file(odd)));
  later = exported({"--delete", "--force"});
  CHECK(later[twin].first == "updated");
  CHECK(later[odd].first == "removed");
  CHECK(read_text(file(twin)) == "two\n");
  CHECK_FALSE(std::filesystem::exists(file(odd)));

  // Another name goes with the title; ids from stdin go to a folder, too.
  REQUIRE(stage.ws({"docs", "update", tides, "--title", "Ebb", "--revision", "2"}).exit == 0);
  documents_read();
  CHECK(exported({})[tides].second == "Ebb.md");
  CHECK(documents_read() == std::set{tides});
  CHECK_FALSE(std::filesystem::exists(file(tides)));
  Command some = stage.person.command({"docs", "get", "--stdin", "-o", "some/"}, stage.folder.path());
  some.input = tides + "\n";
  some.input += tides + "\n";
  CHECK(run_command(some).out == tides + "\tcreated\tEbb.md\t\n");
  CHECK(read_text(stage.folder / "some/Ebb.md") == "two\n");
  CHECK(run_command(some).out == tides + "\tunchanged\tEbb.md\t\n");
  // A manifest of another service, or of somebody who means harm.
  write_text(stage.folder / "out/.ws-export.json", R"({"base_url":"http://elsewhere.test","documents":{}})");
  CHECK(stage.ws({"docs", "export", "out"}).exit == 2);
}

TEST_CASE("docs get: several documents with -o are a file each in a folder, never one over the other", "[cli]") {
  const DocumentStage stage;
  write_text(stage.folder / "text.md", "one\n");
  const std::string tides = stage.created({"Tides", "-f", "text.md"});
  write_text(stage.folder / "text.md", "two\n");
  const std::string ebb = stage.created({"Ebb", "-f", "text.md"});
  const auto piped = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"docs", "get", "--stdin"});
    Command command = stage.person.command(std::move(flags), stage.folder.path());
    command.input = tides + "\n" + ebb + "\n";
    return run_command(command);
  };
  const auto both = [&](const char* folder) {
    return texts_of(stage.folder / folder).contains("Tides.md") && texts_of(stage.folder / folder)["Ebb.md"] == "two\n";
  };
  CHECK(piped({"-o", "got"}).exit == 0);
  CHECK(both("got"));
  CHECK(piped({"--content", "-o", "content"}).exit == 0);
  CHECK(both("content"));
  CHECK(stage.ws({"docs", "get", tides, ebb, "-o", "named"}).exit == 0);
  CHECK(both("named"));
  // A file of that name stays; a format asks for one file, and one document is one.
  write_text(stage.folder / "mine", "mine\n");
  const Ended refused = piped({"-o", "mine", "--force"});
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.err, Contains("several documents need a folder, but mine is not one"));
  CHECK(read_text(stage.folder / "mine") == "mine\n");
  CHECK(piped({"--render", "-o", "got"}).exit == 2);
  CHECK(piped({"--json", "-o", "both.json"}).exit == 0);
  CHECK(parse(read_text(stage.folder / "both.json"))["data"].size() == 2);
  CHECK(stage.ws({"docs", "get", tides, "--content", "-o", "one.md"}).exit == 0);
  CHECK(read_text(stage.folder / "one.md") == "one\n");
}

TEST_CASE("docs export: killed and started again, it ends as if it had not been killed", "[cli]") {
  const DocumentStage stage;
  write_text(stage.folder / "text.md", "one\n");
  std::vector<std::string> ids;
  for (const char* title : {"One", "Two", "Three", "Four"}) ids.push_back(stage.created({title, "-f", "text.md"}));
  const auto killed_at = [&](int nth) {
    control(stage.server,
            "POST",
            "/faults",
            dump({{"operation", "docs.get"}, {"nth", nth}, {"effect", {{"delay_ms", 60000}}}}));
    Running running(stage.person.command({"docs", "export", "out"}, stage.folder.path()));
    // Documents are asked for ahead: those before it may not be written yet.
    const auto log = stage.folder / "out/.ws-export.log";
    while (parse(control(stage.server, "GET", "/faults", ""))["data"][0]["fired"] == 0 ||
           !std::filesystem::exists(log) || read_text(log).find('\n') == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    running.signal(SIGKILL);
    running.wait();
    control(stage.server, "DELETE", "/faults", "");
  };
  const auto finished = [&] {
    REQUIRE(stage.ws({"docs", "export", "out"}).exit == 0);
    REQUIRE(stage.ws({"docs", "export", "whole-" + std::to_string(ids.size())}).exit == 0);
    CHECK(texts_of(stage.folder / "out") == texts_of(stage.folder / ("whole-" + std::to_string(ids.size()))));
    CHECK_FALSE(std::filesystem::exists(stage.folder / "out/.ws-export.log"));
  };
  killed_at(3);
  // What a write left that was killed before its rename, and somebody's file of nearly such a name.
  const std::string noted = read_text(stage.folder / "out/.ws-export.log");
  const std::size_t begin = noted.rfind('\n', noted.size() - 2) + 1;  // npos + 1 is 0
  const Json last = parse(noted.substr(begin, noted.size() - 1 - begin));
  const std::string start = "out/." + text_at(last, "file") + ".";
  const std::string left = start + std::to_string(last["process"].get<int>()) + "-2";
  const std::string foreign = start + "2026-11-25";
  write_text(stage.folder / left, "on");
  write_text(stage.folder / foreign, "mine");
  REQUIRE(stage.ws({"docs", "export", "out", "-n"}).exit == 0);
  CHECK(std::filesystem::exists(stage.folder / left));
  REQUIRE(stage.ws({"docs", "export", "out"}).exit == 0);
  CHECK_FALSE(std::filesystem::exists(stage.folder / left));
  REQUIRE(std::filesystem::remove(stage.folder / foreign));
  finished();

  // Updates and a new title: the files of the killed run are nobody's edits.
  write_text(stage.folder / "text.md", "two\n");
  for (const std::string& id : ids)
    REQUIRE(stage.ws({"docs", "update", id, "-f", "text.md", "--title", "New " + id, "--revision", "1"}).exit == 0);
  killed_at(3);
  ids.emplace_back();
  finished();
}

TEST_CASE("docs export, docs edit: a dry run shows what would be done, and does nothing", "[cli]") {
  const MockProcess server;
  Person person(server);
  const std::filesystem::path folder = person.home() / "backup";
  const Json planned = parse(person.ws({"docs", "export", folder.string(), "-n", "--json"}).out);
  CHECK(planned["data"].size() > 0);
  CHECK_FALSE(std::filesystem::exists(folder));
  REQUIRE(person.ws({"docs", "export", folder.string()}).exit == 0);
  const auto exported = texts_of(folder);
  write_text(folder / exported.rbegin()->first, "mine\n");
  const auto changed = texts_of(folder);
  CHECK(person.ws({"docs", "export", folder.string(), "-n", "--force", "--delete"}).exit == 0);
  CHECK(texts_of(folder) == changed);

  const std::string id = text_at(planned["data"][0], "id");
  const std::string before = body_of(server, "/v1/documents/" + id);
  write_text(person.home() / "editor.sh", "#!/bin/sh\necho more >>\"$1\"\n");
  person.environment["EDITOR"] = "sh " + (person.home() / "editor.sh").string();
  const Ended edited = person.ws({"docs", "edit", id, "-n"});
  CHECK(edited.exit == 0);
  CHECK_THAT(edited.out, Contains("PUT") && Contains("more"));
  CHECK(body_of(server, "/v1/documents/" + id) == before);
}

TEST_CASE("auth switch: a dry run keeps the key in use", "[cli]") {
  const MockProcess server({"--device", "auto", "--device-interval", "1"});
  Person person(server);
  person.environment.erase("WS_TOKEN");
  for (const char* const profile : {"one", "two"}) {
    REQUIRE(person.ws({"login", "--base-url", server.base_url(), "--store", "file", "--profile", profile}).exit == 0);
  }
  const std::string before = person.ws({"auth", "list", "--json"}).out;
  CHECK(person.ws({"auth", "switch", "one", "-n"}).exit == 0);
  CHECK(person.ws({"auth", "list", "--json"}).out == before);
}

TEST_CASE("comments: a handle that nobody has is noted, those that are known and code are not", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const std::string id = person.ws({"docs", "create", "Tides", "--format", "ids"}).out.substr(0, 36);
  REQUIRE(person.ws({"agents", "create", "keeper", "--name", "Keeper", "--format", "ids"}).exit == 0);
  const Ended added =
      person.ws({"comments", "add", id, "-m", "@Keeper, and (@kepper) look at `@x` and me@example.com"});
  CHECK(added.exit == 0);
  CHECK(added.err ==
        "note: no agent or person has the handle @kepper, so nobody is notified; `ws agents list` shows the agents\n");
}

TEST_CASE("comments: --body takes JSON, and who gives a text is told the flag for it", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const std::string hint = "--body is the whole request as JSON or @FILE; the text is -m TEXT";
  for (const char* const text : {"@keeper is this right?", "Looks right"}) {
    CAPTURE(text);
    const Ended refused = person.ws({"comments", "add", nobody, "--body", text, "--json"});
    CHECK(refused.out.empty());
    CHECK(text_at(error_of(refused), "hint") == hint);
  }
  CHECK(person.ws({"comments", "add", nobody, "--body", "Looks right"}).exit == 2);
}

TEST_CASE("docs: a Project is named by its title where ws created it, and exported alone", "[cli]") {
  const DocumentStage stage;
  REQUIRE(stage.ws({"projects", "create", "Dredging"}).exit == 0);
  const std::string inside = stage.created({"Inside", "--project", "Dredging", "-F", "content=x"});
  const std::string outside = stage.created({"Outside", "-F", "content=x"});
  const Ended exported = stage.ws({"docs", "export", "out", "--project", "Dredging", "--format", "ids"});
  CHECK(exported.exit == 0);
  CHECK(exported.out == inside + "\n");
  const Ended unknown = stage.ws({"docs", "export", "out", "--project", "Dredged"});
  CHECK(unknown.exit == 2);
  CHECK_THAT(unknown.err, Contains("no Project with the id or title `Dredged`"));
  REQUIRE(stage.ws({"projects", "create", "Dredging"}).exit == 0);
  CHECK_THAT(stage.ws({"docs", "export", "out", "--project", "Dredging"}).err, Contains("`Dredging` names 2 Projects"));
}

TEST_CASE("names: one that names nothing gets the nearest that there is", "[cli]") {
  const DocumentStage stage;
  write_text(stage.folder / "text.md", "one\n");
  stage.created({"Tides of May", "-f", "text.md"});
  CHECK_THAT(stage.ws({"docs", "get", "Tides of Mai"}).err, Contains("did you mean `Tides of May`?"));
  CHECK(stage.ws({"docs", "get", "Quite another"}).err.find("did you mean") == std::string::npos);
  REQUIRE(stage.ws({"agents", "create", "scribe", "--name", "S", "--permissions", "read"}).exit == 0);
  CHECK_THAT(stage.ws({"agents", "pause", "@scrib"}).err, Contains("did you mean `scribe`?"));
}

TEST_CASE("bodies: --body may give what is an argument elsewhere", "[cli]") {
  const MockProcess server;
  const Person person(server);
  CHECK(person.ws({"search", "--body", R"({"query": "tides"})", "--json"}).out ==
        person.ws({"search", "tides", "--json"}).out);
  CHECK(person.ws({"workspaces", "create", "-F", "name=Harbour", "-n"}).exit == 0);
  CHECK(person.ws({"projects", "create", "--body", R"({"title": "A"})", "--jq", ".title"}).out == "A\n");
  CHECK(person.ws({"files", "finalize", "--body", "{}"}).exit == 2);
  CHECK(person.ws({"search"}).exit == 2);
}
