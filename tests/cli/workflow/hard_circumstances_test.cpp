// What a program must bear from whoever starts it and where it writes: modes, links, a folder that is gone, a pipe that
// blocks, signals; and a service that answers about something else.
#include <csignal>
#include <filesystem>
#include <thread>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api-client/base/sha256.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/cli/workflow/two_folders.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

/// The umask of the programs that are started meanwhile.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

Json file_of_the_service() { return {{"id", nobody}, {"original_file_name", "a.bin"}, {"size_bytes", 4}}; }

Script give_document_or_file(const Seen& seen) {
  if (seen.target.ends_with("/content")) return answer(200, "text", {{"Content-Type", "text/plain"}});
  if (seen.target.starts_with("/v1/files")) return answer(200, dump(file_of_the_service()));
  return answer(200, dump({{"id", nobody}, {"title", "T"}, {"content", "text"}}));
}

}  // namespace

TEST_CASE("written files: a new one has the user's umask, a replaced one keeps its mode", "[cli]") {
  const HostileServer server(give_document_or_file);
  const At person(server.origin());
  const std::vector<std::string> words =
      GENERATE(std::vector<std::string>{"docs", "get", nobody}, std::vector<std::string>{"files", "download", nobody});
  const Umask mask(027);
  const auto write = [&](const char* file) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"-o", file, "--force"});
    CHECK(person.ws(arguments, person.home()).exit == 0);
    return mode_of(person.home() / file);
  };
  CHECK(write("new") == 0640U);
  for (const unsigned mode : {0600U, 0664U, 0755U}) {
    write_text(person.home() / "old", "old");
    REQUIRE(::chmod((person.home() / "old").c_str(), mode) == 0);
    CHECK(write("old") == mode);
  }
}

TEST_CASE("written files: a link as the target is followed, one that leads nowhere is refused", "[cli]") {
  const HostileServer server(give_document_or_file);
  const At person(server.origin());
  const std::vector<std::string> words =
      GENERATE(std::vector<std::string>{"docs", "get", nobody}, std::vector<std::string>{"files", "download", nobody});
  write_text(person.home() / "folder/real", "old");
  fs::create_symlink("folder/real", person.home() / "link");
  fs::create_symlink("nowhere", person.home() / "dangling");
  std::vector<std::string> arguments = words;
  arguments.insert(arguments.end(), {"--force", "-o", "link"});
  CHECK(person.ws(arguments, person.home()).exit == 0);
  CHECK(fs::is_symlink(person.home() / "link"));
  CHECK(read_text(person.home() / "folder/real") != "old");
  arguments.back() = "dangling";
  CHECK(person.ws(arguments, person.home()).exit == 14);
  CHECK_FALSE(fs::exists(person.home() / "nowhere"));
}

TEST_CASE("written files: a name that is too long ends with 14, the longest possible one is written", "[cli]") {
  const HostileServer server(give_document_or_file);
  const At person(server.origin());
  const std::vector<std::string> words =
      GENERATE(std::vector<std::string>{"docs", "get", nobody}, std::vector<std::string>{"files", "download", nobody});
  for (const std::size_t length : {std::size_t{255}, std::size_t{256}, std::size_t{5000}}) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"-o", std::string(length, 'n')});
    const Ended ended = person.ws(arguments, person.home());
    CAPTURE(length, ended.err);
    CHECK(ended.exit == (length == 255 ? 0 : 14));
    CHECK((length == 255 || ended.err.find("File name too long") != std::string::npos));
  }
}

TEST_CASE("written files: the configuration keeps its mode and its link, a new one has the umask", "[cli]") {
  const Person person;
  const Umask mask(077);
  REQUIRE(person.ws({"config", "set", "format", "json"}).exit == 0);
  fs::path file;
  for (const auto& entry : fs::recursive_directory_iterator(person.home())) {
    if (entry.path().filename() == "config.yaml") file = entry.path();
  }
  REQUIRE_FALSE(file.empty());
  CHECK(mode_of(file) == 0600U);
  REQUIRE(::chmod(file.c_str(), 0640) == 0);
  REQUIRE(person.ws({"config", "set", "max_wait", "5"}).exit == 0);
  CHECK(mode_of(file) == 0640U);
}

TEST_CASE("circumstances: a working directory that is gone is said so, with 14", "[cli]") {
  const Person person;
  const auto in_removed_folder = [&](const std::string& words) {
    Command command{
        .arguments = {"sh", "-c", "mkdir gone && cd gone && rmdir ../gone && \"$0\" " + words, program("ws")},
        .environment = person.environment,
        .folder = person.home()};
    return run_command(command);
  };
  for (const char* const words : {"sync", "docs list", "config list", "sync init here"}) {
    const Ended ended = in_removed_folder(words);
    CAPTURE(words, ended.err);
    CHECK(ended.exit == 14);
    CHECK(ended.err.find("the working directory no longer exists") != std::string::npos);
  }
  CHECK(in_removed_folder("-C / config list").exit == 0);
}

TEST_CASE("circumstances: a pipe that somebody made non-blocking gets every byte", "[cli]") {
  const std::string text(1U << 20U, 'x');
  const HostileServer server([&](const Seen&) { return answer(200, dump({{"id", nobody}, {"content", text}})); });
  const At person(server.origin());
  Command command = person.command({"docs", "get", nobody, "--content"});
  int ends[2] = {-1, -1};
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  REQUIRE(::fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "HOME=" + person.home().string()};
  for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);
  std::vector<std::string> words = {program("ws"), "docs", "get", nobody, "--content"};
  std::vector<char*> argv;
  std::vector<char*> envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  pid_t child = 0;
  REQUIRE(::posix_spawn(&child, words.front().c_str(), &actions, nullptr, argv.data(), envp.data()) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::this_thread::sleep_for(std::chrono::milliseconds{200});  // lets it fill the pipe; a slower machine proves less
  std::size_t came = 0;
  std::string buffer(65536, '\0');
  while (true) {
    const ssize_t count = ::read(ends[0], buffer.data(), buffer.size());
    if (count <= 0) break;
    came += static_cast<std::size_t>(count);
  }
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(came >= text.size());
}

TEST_CASE("circumstances: where the parent ignores SIGCHLD, a child that fails still counts as failed", "[cli]") {
  const std::string ws_mock = program("ws-mock");
  const Ended ended =
      run_command({.arguments = {"env", "--ignore-signal=CHLD", ws_mock, "exec", "--", "sh", "-c", "exit 3"}});
  CHECK(ended.exit == 3);
}

TEST_CASE("circumstances: a failed command of `events work` fails its event, also if SIGCHLD is ignored", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const Ended made =
      person.ws({"agents", "create", "scribe", "--name", "Scribe", "--permissions", "read", "--format", "ids"});
  REQUIRE(made.exit == 0);
  const std::string agent = made.out.substr(0, made.out.size() - 1);
  control(server, "POST", "/events", dump({{"agent_id", agent}}));
  Command work = person.command({"events", "work", "--once", "--json", "--", "sh", "-c", "cat >/dev/null; exit 3"});
  work.arguments.insert(work.arguments.begin(), {"env", "--ignore-signal=CHLD"});
  const Ended ended = run_command(work);
  CAPTURE(ended.out, ended.err);
  CHECK(parse(ended.out).at("outcome") != "completed");
}

TEST_CASE("circumstances: Ctrl-C ends what computes without an end", "[cli]") {
  const HostileServer server([](const Seen&) { return answer(200, R"({"data": []})"); });
  const At person(server.origin());
  Running running(person.command({"docs", "list", "--jq", "reduce repeat(1) as $x (0; 1)"}));
  while (server.requests().empty()) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  running.signal(SIGINT);
  CHECK(running.wait().exit == 130);
}

TEST_CASE("circumstances: Ctrl-C in a sync tells one truth about what was published", "[cli]") {
  const auto [operation, told, doubt] = GENERATE(table<std::string, std::string, std::string>(
      {{"sync.pull", "stopped before anything was published", "run the same command again to continue"},
       {"sync.push", "0 of 2 changes were published", "whether the last changes were staged"},
       {"sync.commit", "0 of 2 changes are known to be published", "whether the change was made"}}));
  CAPTURE(operation);
  const MockProcess server;
  const Person person(server);
  const TemporaryFolder folder;
  for (const char* name : {"a.md", "b.md"}) write_text(folder / name, "text\n");
  REQUIRE(person.ws({"sync", "init"}, folder.path()).exit == 0);
  control(server, "POST", "/faults", dump({{"operation", operation}, {"nth", 1}, {"effect", {{"delay_ms", 60000}}}}));
  Running running(person.command({"sync", "--format", "table"}, folder.path()));
  while (parse(control(server, "GET", "/faults", ""))["data"][0]["fired"] == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  running.signal(SIGINT);
  const Ended stopped = running.wait();
  CHECK(stopped.exit == 130);
  CHECK(stopped.err.find(told) != std::string::npos);
  CHECK(stopped.err.find(doubt) != std::string::npos);
  CHECK(stopped.out.empty());  // what was only planned is not listed
}

TEST_CASE("circumstances: a number with a hyphen is no flag, and said so", "[cli]") {
  const Ended ended = At("http://127.0.0.1:1").ws({"docs", "list", "-1"});
  CHECK(ended.exit == 2);
  CHECK(ended.err.find("has no flag -1") != std::string::npos);
}

TEST_CASE("sync init: an unclear answer says to look for the new source, not that there is one", "[cli]") {
  const std::string head = GENERATE(as<std::string>(), "201 Created\r\nContent-Type: text/html", "202 Accepted");
  const HostileServer server([&](const Seen&) {
    return Script{SendBytes{"HTTP/1.1 " + head + "\r\nContent-Length: 2\r\n\r\n{}"}, CloseConnection{}};
  });
  const TemporaryFolder folder;
  const Ended ended = At(server.origin()).ws({"sync", "init", "--json"}, folder.path());
  CHECK(ended.exit == 12);
  CHECK_THAT(ended.err, Contains("look for the new source on the service") && Contains("\"unknown\""));
}

TEST_CASE("another object: a write that is answered about another id is exit 15, and names it", "[cli]") {
  const std::string other = "018f6b2a-9c1d-7e3f-8a4b-000000000000";
  std::string id = other;
  const HostileServer server([&](const Seen&) {
    return answer(200,
                  dump({{"id", id},
                        {"page_id", id},
                        {"document_id", id},
                        {"asset_id", id},
                        {"operation_id", id},
                        {"agent_id", id},
                        {"case_id", id},
                        {"suite_id", id},
                        {"status", "completed"},
                        {"content", "x"},
                        {"content_revision", 2},
                        {"secret", "s"}}));
  });
  At person(server.origin());
  write_text(person.home() / "f.md", "text");
  const std::vector<std::vector<std::string>> commands = {
      {"docs", "get", nobody},
      {"docs", "update", nobody, "-f", "f.md", "--revision", "1"},
      {"docs", "share", nobody, "--with", "@a", "--permission", "read"},
      {"comments", "add", nobody, "-m", "x"},
      {"comments", "reply", nobody, nobody, "-m", "x"},
      {"comments", "resolve", nobody, nobody},
      {"files", "organize", nobody, "-m", "x"},
      {"agents", "update", nobody, "--display-name", "x"},
      {"agents", "rotate", nobody, "--yes"}};
  for (std::vector<std::string> words : commands) {
    words.push_back("--json");
    id = other;
    const Ended ended = person.ws(words, person.home());
    CAPTURE(words, ended.out, ended.err);
    CHECK(ended.exit == 15);
    CHECK(ended.err.find(other) != std::string::npos);
  }
  // What was to be archived and is there has not been.
  const HostileServer archives([&](const Seen&) {
    return answer(200, dump({{"id", id}, {"object", "document"}, {"status", id == other ? "archived" : "active"}}));
  });
  for (const std::string& came : {other, std::string(nobody)}) {
    id = came;
    const Ended archived = At(archives.origin()).ws({"docs", "archive", nobody, "--json"}, person.home());
    CHECK(archived.exit == 15);
    CHECK(text_at(error_of(archived), "applied") == "unknown");
  }
  // The id of an answer that the API leaves free-form is its own.
  person.environment["WS_LEASE_TOKEN"] = "a-lease-token-of-an-event";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"docs", "archive", nobody},
                                             {"nodes", "move", nobody, "--to", "root"},
                                             {"events", "complete", nobody, "--result", "{}"}}) {
    id = other;
    CHECK(person.ws(words, person.home()).exit == 0);
  }
  // What is only shown may go by another id.
  for (const char* noun : {"files", "questions", "conversations"}) {
    CHECK(person.ws({noun, "get", nobody, "--json"}, person.home()).exit == 0);
  }
  // Letters of another case name the same object.
  id = "018F6B2A-9C1D-7E3F-8A4B-5C6D7E8F9A0B";
  CHECK(person.ws({"docs", "get", nobody, "--json"}, person.home()).exit == 0);
}

TEST_CASE("another text: one that does not have the hash beside it replaces no file", "[cli]") {
  std::string text = "right";
  const std::string hash = Sha256::of(text).hex();
  const HostileServer server([&](const Seen& seen) {
    const Json document{
        {"id", nobody}, {"title", "Ledger"}, {"content", text}, {"content_sha256", hash}, {"content_revision", 1}};
    return answer(200, dump(seen.target.find(nobody) != std::string::npos ? document : Json{{"data", {document}}}));
  });
  const At person(server.origin());
  const std::vector<std::string> words = {"docs", "get", nobody, "--content", "-o", "good.md", "--force"};
  CHECK(person.ws(words, person.home()).exit == 0);
  text = "wrong";
  for (const auto& [reads, exit] : std::vector<std::pair<std::vector<std::string>, int>>{
           {words, 15}, {{"docs", "get", nobody}, 15}, {{"docs", "get", nobody, nobody, "-o", "many"}, 13}}) {
    const Ended ended = person.ws(reads, person.home());
    CAPTURE(reads, ended.err);
    CHECK(ended.exit == exit);
  }
  CHECK(read_text(person.home() / "good.md") == "right");
  CHECK_FALSE(std::filesystem::exists(person.home() / "many" / "Ledger.md"));
}

TEST_CASE("files: a file that is too small or too large is refused with both sizes", "[cli]") {
  const MockProcess server;
  const Person person(server);
  write_text(person.home() / "empty.txt", "");
  write_text(person.home() / "large.txt", "");
  fs::resize_file(person.home() / "large.txt", 104'857'601);
  const Ended small = person.ws({"files", "upload", "empty.txt"}, person.home());
  CHECK(small.exit == 2);
  CHECK_THAT(small.err, Contains("empty.txt: it has 0 bytes; the service accepts 1 to 104857600"));
  const Ended large = person.ws({"files", "upload", "large.txt"}, person.home());
  CHECK(large.exit == 2);
  CHECK_THAT(large.err, Contains("large.txt: it has 104857601 bytes"));
}

TEST_CASE("files: an upload whose id could not be told makes no second asset when it is run again", "[cli]") {
  const MockProcess server;
  const Person person(server);
  write_text(person.home() / "a.md", "text");
  const auto count = [&] {
    const std::string ids = person.ws({"files", "list", "--format", "ids"}).out;
    return std::count(ids.begin(), ids.end(), '\n');
  };
  const auto before = count();
  Command untold = person.command({}, person.home());
  untold.program.clear();
  untold.arguments = {"sh", "-c", "\"$0\" files upload a.md --json > /dev/full", program("ws")};
  CHECK(run_command(untold).exit == 14);
  CHECK(count() == before + 1);
  const Ended told = person.ws({"files", "upload", "a.md", "--format", "ids"}, person.home());
  CHECK(told.exit == 0);
  CHECK(told.out.size() == 37);
  CHECK(count() == before + 1);
}

TEST_CASE("files: a download that fills the disk names what is left, and what to do", "[cli]") {
  const TemporaryFolder folder;
  const HostileServer server([](const Seen& seen) {
    if (!seen.target.ends_with("/content")) {
      return answer(200, dump({{"id", nobody}, {"original_file_name", "a.bin"}, {"size_bytes", 200'000}}));
    }
    return answer(200, std::string(200'000, 'x'), {{"Content-Type", "application/octet-stream"}});
  });
  const At person(server.origin());
  Command command = person.command({}, person.home());
  command.program.clear();
  // A limit on the size of files is a full disk that needs no rights: SIGXFSZ ignored, the write fails.
  command.arguments = {"bash",
                       "-c",
                       "trap '' XFSZ; ulimit -f 100; \"$0\" files download " + std::string(nobody) + " -o 'my file'",
                       program("ws")};
  const Ended ended = run_command(command);
  CAPTURE(ended.err);
  CHECK(ended.exit == 14);
  CHECK(ended.err.find("are saved: free some space and run the same command again to resume") != std::string::npos);
  CHECK(ended.err.find("`rm './.my file.ws-part'") != std::string::npos);
  CHECK(person.ws({"files", "download", nobody, "-o", "my file"}, person.home()).exit == 0);
  CHECK(fs::file_size(person.home() / "my file") == 200'000);
  CHECK_FALSE(fs::exists(person.home() / ".my file.ws-part"));
}

TEST_CASE("skill: another skill's folder, a manifest of another name and links are left alone", "[cli]") {
  std::string name = "service-operate-workspace";
  const std::string text = "---\nname: service-operate-workspace\n---\n";
  const HostileServer server([&](const Seen& seen) {
    if (seen.target.find("manifest.json") == std::string::npos) return answer(200, text);
    const Json file = {{"path", "SKILL.md"}, {"sha256", Sha256::of(text).hex()}, {"size_bytes", text.size()}};
    return answer(200, dump({{"name", name}, {"version", "1"}, {"files", {file}}}));
  });
  const At person(server.origin());
  const auto install = [&] {
    return person.ws({"skill", "install", "--force", "--dir", "skills", "--url", server.url("/s")}, person.home()).exit;
  };
  const fs::path folder = person.home() / "skills/service-operate-workspace";
  for (const char* const other : {"another-skill", "..", "a/b", ""}) {
    name = other;
    CHECK(install() == 15);
  }
  CHECK_FALSE(fs::exists(person.home() / "skills"));
  name = "service-operate-workspace";
  write_text(folder / "SKILL.md", "---\nname: mine\n---\n");
  CHECK(install() == 14);
  CHECK(read_text(folder / "SKILL.md") == "---\nname: mine\n---\n");
  fs::remove(folder / "SKILL.md");
  write_text(folder / "notes.txt", "mine");
  CHECK(install() == 14);
  fs::remove_all(folder);
  write_text(person.home() / "elsewhere/SKILL.md", text);
  fs::create_directory_symlink(person.home() / "elsewhere", folder);
  CHECK(install() == 14);
  fs::remove(folder);
  CHECK(install() == 0);
  CHECK(install() == 0);
}

TEST_CASE("sync: files that may not grow (ulimit -f) end it with 14 and the reason, and nothing is lost", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "edited\n");
  Command limited = two.person.command({"sync"}, two.here);
  limited.arguments.insert(limited.arguments.begin(), {"/bin/sh", "-c", "ulimit -f 0; exec \"$@\"", "sh"});
  const Ended ended = run_command(limited);
  CAPTURE(ended.err);
  CHECK(ended.exit == 14);
  CHECK(ended.err.find("File too large") != std::string::npos);
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(read_text(two.there / "a.md") == "edited\n");
}

TEST_CASE("sync: a history that cannot be written is named by its folder", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "edited\n");
  // A file in the place of each folder that an object could go into.
  const fs::path objects = two.here / ".ws/history.git/objects";
  for (int first = 0; first < 256; ++first) {
    const fs::path folder = objects / fmt::format("{:02x}", first);
    if (!fs::exists(folder)) write_text(folder, "");
  }
  const Ended ended = two.ws(two.here, {"sync"});
  CAPTURE(ended.err);
  CHECK(ended.exit == 14);
  CHECK(ended.err.find(objects.string()) != std::string::npos);
  CHECK(ended.err.find("/proc/") == std::string::npos);
}

TEST_CASE("a page of a file that the disk has no room for ends ws with 14 and a message", "[cli]") {
  const TwoFolders two;
  Running watch(two.person.command({"sync", "watch"}, two.here));
  REQUIRE(watch.wait_for("watching "));
  watch.signal(SIGBUS);
  const Ended ended = watch.wait();
  CHECK(ended.exit == 14);
  CHECK(ended.err.find("the disk is full") != std::string::npos);
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
}
