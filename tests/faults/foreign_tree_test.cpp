// A folder from an untrusted source: an archive, a share, a folder that others can write to. Whatever its `.ws/`
// contains, no command reads or changes anything outside the folder, or blocks on it.
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/two_people.hpp"

using namespace ws::test;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;
using Looks = std::map<std::string, std::string>;

constexpr int usage = 2;
constexpr int local = 14;
constexpr unsigned somebody = 54321;

/// Everything below a folder with file type, mode, size, link count and text.
Looks looks_of(const fs::path& folder) {
  Looks looks;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat found {};
    if (::lstat(entry.path().c_str(), &found) != 0) continue;
    std::string look = fmt::format("{:o} {} {}", found.st_mode, found.st_size, found.st_mtim.tv_nsec);
    if (S_ISREG(found.st_mode)) look += read_text(entry.path());
    looks[entry.path().lexically_relative(folder).string()] = look;
  }
  return looks;
}

void copy_all(const fs::path& from, const fs::path& to) {
  REQUIRE(run_command({.arguments = {"cp", "-a", from.string(), to.string()}}).exit == 0);
}

/// A bound tree with a history and a conflict folder, a second such tree outside, and a link out of the first.
struct Stage {
  Stage() {
    fs::create_directories(tree);
    fs::create_directories(victim);
    for (const fs::path& each : {tree, victim}) {
      write_text(each / "a.md", "one\n");
      REQUIRE(person.ws({"sync", "init"}, each).exit == 0);
      REQUIRE(person.ws({"sync", "run"}, each).exit == 0);
      write_text(each / "a.md", "two\n");
      REQUIRE(person.ws({"sync", "run"}, each).exit == 0);
      REQUIRE(person.ws({"sync", "status"}, each).exit == 0);
    }
    write_text(victim / "plain", "nobody's business\n");
    REQUIRE(run_command({.arguments = {"git", "init", "-q", "--bare", (victim / "repository").string()}}).exit == 0);
    copy_all(tree, saved);
  }

  Ended ws(Words arguments) const {
    Command command = person.command(std::move(arguments), tree);
    command.timeout = std::chrono::milliseconds(30'000);
    return run_command(command);
  }

  void reset() const {
    fs::remove_all(tree);
    copy_all(saved, tree);
  }

  TemporaryFolder folder;
  MockProcess server;
  Person person{server};
  fs::path tree = folder.path() / "tree";
  fs::path saved = folder.path() / "saved";
  fs::path victim = folder.path() / "victim";
};

struct Entry {
  std::string name = {};
  bool is_folder = false;
  fs::path outside = {};  ///< a file of the same kind in the victim's folder
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {{"source.json", false, ".ws/source.json"},
                                         {"config.yaml", false, ".ws/config.yaml"},
                                         {".gitignore", false, "plain"},
                                         {"state.db", false, ".ws/state.db"},
                                         {"state.db-wal", false, "plain"},
                                         {"state.db-shm", false, "plain"},
                                         {"state.db-journal", false, "plain"},
                                         {"stat.cache", false, ".ws/stat.cache"},
                                         {"lock", false, "plain"},
                                         {"tmp", true, ".ws/tmp"},
                                         {"conflicts", true, ".ws"},
                                         {"history.git", true, ".ws/history.git"}};
  return all;
}

const std::vector<Words>& verbs() {
  static const std::vector<Words> all = {{"sync", "status"},
                                         {"sync", "plan"},
                                         {"sync", "diff"},
                                         {"sync", "run"},
                                         {"sync", "pull"},
                                         {"sync", "push"},
                                         {"sync", "commit"},
                                         {"sync", "log"},
                                         {"sync", "restore", "a.md"},
                                         {"sync", "gc", "--yes"},
                                         {"sync", "conflicts"},
                                         {"sync", "resolve", "--all", "--keep", "local"},
                                         {"sync", "watch"},
                                         {"sync", "init"},
                                         {"sync", "status", "--offline"}};
  return all;
}

bool make_socket(const fs::path& path) {
  // The path of a socket is limited to 107 bytes: create it beside the test and move it.
  const int made = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("/tmp/ws-{}.socket", ::getpid());
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  const bool bound = ::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(made);
  std::error_code failed;
  fs::rename(name, path, failed);
  if (failed) fs::remove(name);
  return bound && !failed;
}

struct Swap {
  std::string name = {};
  std::function<bool(const Stage&, const Entry&, const fs::path& place)> put =
      {};  ///< returns false if it cannot be created on this machine
};

const std::vector<Swap>& swaps() {
  static const std::vector<Swap> all = {
      {"link to its like outside",
       [](const Stage& stage, const Entry& entry, const fs::path& place) {
         fs::create_symlink(stage.victim / entry.outside, place);
         return true;
       }},
      {"link that dangles",
       [](const Stage& stage, const Entry&, const fs::path& place) {
         fs::create_symlink(stage.victim / "not-there", place);
         return true;
       }},
      {"hard link",
       [](const Stage& stage, const Entry& entry, const fs::path& place) {
         // A file that is replaced by rename may have two hard links: the other one keeps its text.
         const bool in_place = entry.name == "lock" || entry.name.starts_with("state.db");
         return in_place && ::link((stage.victim / entry.outside).c_str(), place.c_str()) == 0;
       }},
      {"fifo", [](const Stage&, const Entry&, const fs::path& place) { return ::mkfifo(place.c_str(), 0600) == 0; }},
      {"socket", [](const Stage&, const Entry&, const fs::path& place) { return make_socket(place); }},
      {"device",
       [](const Stage&, const Entry&, const fs::path& place) {
         return ::mknod(place.c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0;  // /dev/zero, if permitted
       }},
      {"the other kind",
       [](const Stage&, const Entry& entry, const fs::path& place) {
         if (entry.is_folder) {
           write_text(place, "a file\n");
         } else {
           write_text(place / "in" / "a.md", "a folder\n");
         }
         return true;
       }},
      {"another user's",
       [](const Stage&, const Entry& entry, const fs::path& place) {
         if (entry.is_folder) {
           fs::create_directories(place);
         } else {
           write_text(place, "{}\n");
         }
         return ::chown(place.c_str(), somebody, somebody) == 0;  // only root can do this
       }},
  };
  return all;
}

void check_refused(const Stage& stage, const Words& verb, const std::string& named) {
  const Looks before = looks_of(stage.victim);
  const Ended ended = stage.ws(verb);
  CAPTURE(verb, ended.exit, ended.out, ended.err);
  const bool is_init = verb[1] == "init";
  CHECK((ended.exit == local || (is_init && ended.exit == usage)));
  if (!is_init) CHECK_THAT(ended.err, Catch::Matchers::Contains(named));
  CHECK(looks_of(stage.victim) == before);
}

}  // namespace

TEST_CASE("foreign tree: whatever lies in .ws, nothing outside is touched or waited for", "[foreign]") {
  const Stage stage;
  const bool all = std::getenv("WS_FAULTS") != nullptr && std::string(std::getenv("WS_FAULTS")) == "all";
  std::size_t turn = 0;
  for (const Entry& entry : entries()) {
    for (const Swap& swap : swaps()) {
      CAPTURE(entry.name, swap.name);
      const fs::path place = stage.tree / ".ws" / entry.name;
      fs::remove_all(place);
      if (swap.put(stage, entry, place)) {
        // In CI each pair is tested with one command, in turn: opening `.ws` is the same for all commands.
        const std::size_t first = turn++;
        for (std::size_t i = 0; i < (all ? verbs().size() : 1); ++i) {
          check_refused(stage, verbs()[(first + i) % verbs().size()], entry.name);
        }
      }
      stage.reset();
    }
  }
  CHECK(turn > 60);
}

TEST_CASE("foreign tree: no command follows a .ws that is a link, or waits for one that is a pipe", "[foreign]") {
  const Stage stage;
  for (const Words& verb : verbs()) {
    fs::remove_all(stage.tree / ".ws");
    fs::create_symlink(stage.victim / ".ws", stage.tree / ".ws");
    check_refused(stage, verb, ".ws is a symbolic link");
    fs::remove(stage.tree / ".ws");
    REQUIRE(::mkfifo((stage.tree / ".ws").c_str(), 0600) == 0);
    check_refused(stage, verb, ".ws is not a folder");
  }
  // An `init` through a link to an empty folder would create the tree there.
  fs::remove(stage.tree / ".ws");
  fs::create_directories(stage.victim / "empty");
  fs::create_symlink(stage.victim / "empty", stage.tree / ".ws");
  check_refused(stage, {"sync", "init"}, ".ws is a symbolic link");
}

TEST_CASE("foreign tree: within history.git no link is followed, and no setting of git is obeyed", "[foreign]") {
  const Stage stage;
  const fs::path git = stage.tree / ".ws" / "history.git";
  const auto swap = [&](const fs::path& place, const fs::path& outside) {
    fs::remove_all(git / place);
    fs::create_symlink(stage.victim / outside, git / place);
  };
  const std::vector<std::pair<fs::path, fs::path>> links = {{"objects", ".ws/history.git/objects"},
                                                            {"objects/pack", ".ws/history.git/objects/pack"},
                                                            {"refs", ".ws/history.git/refs"},
                                                            {"refs/heads", ".ws/history.git/refs/heads"},
                                                            {"refs/heads/main", ".ws/history.git/refs/heads/main"},
                                                            {"HEAD", "plain"},
                                                            {"config", "plain"},
                                                            {"packed-refs", "plain"},
                                                            {"shallow", "plain"},
                                                            {"objects/ab", ".ws/tmp"}};
  for (const auto& [place, outside] : links) {
    CAPTURE(place);
    for (const Words& verb : {Words{"sync", "log"}, Words{"sync", "gc", "--keep", "0d", "--yes"}}) {
      swap(place, outside);
      check_refused(stage, verb, place.filename().string());
      stage.reset();
    }
    swap(place, outside);
    write_text(stage.tree / "a.md", "three\n");
    check_refused(stage, {"sync", "run"}, place.filename().string());
    stage.reset();
  }
  REQUIRE(::mkfifo((git / "refs/heads/x").c_str(), 0600) == 0);
  check_refused(stage, {"sync", "log"}, "refs/heads/x is not a regular file");
  stage.reset();

  // Settings that make git read, write or run other files are ignored.
  REQUIRE(::mkfifo((stage.folder / "pipe").c_str(), 0600) == 0);
  write_text(git / "config",
             fmt::format("[core]\n\tbare = false\n\tworktree = {0}\n\thooksPath = {0}\n\tlogAllRefUpdates = always\n"
                         "[include]\n\tpath = {1}\n[extensions]\n\tobjectFormat = sha256\n",
                         stage.victim.string(),
                         (stage.folder / "pipe").string()));
  write_text(git / "objects/info/alternates", (stage.victim / "repository/objects").string() + "\n");
  write_text(git / "commondir", (stage.victim / "repository").string() + "\n");
  write_text(git / "gitdir", "../../../victim/repository\n");
  const Looks before = looks_of(stage.victim);
  write_text(stage.tree / "a.md", "three\n");
  CHECK(stage.ws({"sync", "run"}).exit == 0);
  const Ended log = stage.ws({"sync", "log", "--json"});
  CHECK(log.exit == 0);
  CHECK(nlohmann::json::parse(log.out).at("data").size() >= 2);
  CHECK(stage.ws({"sync", "gc", "--keep", "0d", "--yes"}).exit == 0);
  CHECK(looks_of(stage.victim) == before);
}

TEST_CASE("foreign tree: another program's database in our place stays as it is", "[foreign]") {
  const Stage stage;
  const fs::path state = stage.tree / ".ws" / "state.db";
  for (const char* const sql : {"create table passwords (word); insert into passwords values ('x');",
                                "create table base (x); pragma user_version = 6;",
                                "pragma application_id = 1234; create table numbers (x);"}) {
    CAPTURE(sql);
    for (const char* name : {"state.db", "state.db-wal", "state.db-shm"}) fs::remove(stage.tree / ".ws" / name);
    REQUIRE(run_command({.arguments = {"python3",
                                       "-c",
                                       "import sqlite3,sys;c=sqlite3.connect(sys.argv[1]);c.executescript(sys.argv[2]);"
                                       "c.commit();c.close()",
                                       state.string(),
                                       sql}})
                .exit == 0);
    const std::string before = read_text(state);
    for (const Words& verb : {Words{"sync", "status"}, Words{"sync", "run"}, Words{"sync", "conflicts"}}) {
      const Ended ended = stage.ws(verb);
      CAPTURE(verb, ended.err);
      CHECK(ended.exit == local);
      CHECK_THAT(ended.err, Catch::Matchers::Contains("state.db is a database, but not one of ws"));
      CHECK(read_text(state) == before);
    }
    stage.reset();
  }
}

TEST_CASE("foreign tree: a journal beside the state that names a file elsewhere does not remove it", "[foreign]") {
  const Stage stage;
  const fs::path own = stage.tree / ".ws";
  const std::string target = (stage.victim / "plain").string();
  const auto number = [](std::size_t value) {
    std::string text(4, '\0');
    for (int i = 3; i >= 0; --i, value >>= 8U) text[static_cast<std::size_t>(i)] = static_cast<char>(value & 0xFFU);
    return text;
  };
  // A rollback journal without pages (SQLite's file format, 3): after playing it back, SQLite deletes its
  // super-journal.
  const std::string magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  std::size_t sum = 0;
  for (const char c : target) sum += static_cast<unsigned char>(c);
  std::string journal = magic + number(0) + number(1) + number(1) + number(512) + number(4096);
  journal.resize(512, '\0');
  journal += number(0x4000'0000 / 4096 + 1) + target + number(target.size()) + number(sum) + magic;
  fs::remove(own / "state.db-wal");
  fs::remove(own / "state.db-shm");
  write_text(own / "state.db-journal", journal);
  static_cast<void>(stage.ws({"sync", "status"}));
  CHECK(read_text(stage.victim / "plain") == "nobody's business\n");
}

TEST_CASE("foreign tree: a .ws.yaml is read only as a file of our own", "[foreign]") {
  const Stage stage;
  const fs::path file = stage.folder / ".ws.yaml";  // in the folder above the tree
  const auto check = [&](const std::string& named) {
    const Ended ended = stage.ws({"docs", "list"});
    CAPTURE(ended.out, ended.err);
    CHECK(ended.exit == local);
    CHECK_THAT(ended.err, Catch::Matchers::Contains(named));
    fs::remove_all(file);
  };
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  check("is not a regular file");
  fs::create_symlink(stage.victim / "plain", file);
  check("it is a symbolic link");
  fs::create_symlink(stage.victim / "not-there", file);
  check("it is a symbolic link");
  fs::create_directories(file);
  check("is not a regular file");
  CHECK(stage.ws({"docs", "list"}).exit == 0);
  // The user's own settings may be a link: dotfile managers create them.
  const fs::path config = stage.person.home() / ".config" / "ws" / "config.yaml";
  write_text(stage.folder / "dotfiles.yaml", "defaults:\n  format: ids\n");
  const auto known = stage.ws({"config", "list", "--json"});
  CAPTURE(known.out);
  fs::create_directories(config.parent_path());
  fs::remove(config);
  fs::create_symlink(stage.folder / "dotfiles.yaml", config);
  CHECK(stage.ws({"docs", "list"}).exit == 0);
  fs::remove(config);
}

TEST_CASE("foreign tree: a pipe as the token file is not waited for", "[foreign]") {
  const Stage stage;
  REQUIRE(::mkfifo((stage.folder / "token").c_str(), 0600) == 0);
  Command command = stage.person.command({"docs", "list"}, stage.tree);
  command.environment.erase("WS_TOKEN");
  command.environment["WS_TOKEN_FILE"] = (stage.folder / "token").string();
  command.timeout = std::chrono::milliseconds(30'000);
  const Ended ended = run_command(command);
  CHECK(ended.exit > 0);
}

TEST_CASE("foreign tree: what another user owns is refused until the user trusts its folder", "[foreign]") {
  if (::geteuid() != 0) {
    WARN("skipped: only root can give files to somebody else");
    return;
  }
  Stage stage;
  REQUIRE(run_command({.arguments = {"chown", "-R", std::to_string(somebody), (stage.tree / ".ws").string()}}).exit ==
          0);
  for (const Words& verb : verbs()) check_refused(stage, verb, "belongs to the user 54321");
  const Ended refused = stage.ws({"sync", "status"});
  CHECK_THAT(refused.err, Catch::Matchers::Contains("WS_TRUSTED_FOLDERS"));
  // From an unbound folder below: the search upward finds the tree and refuses it.
  fs::create_directories(stage.tree / "below");
  Command below = stage.person.command({"sync", "status"}, stage.tree / "below");
  CHECK(run_command(below).exit == local);
  // It does not prevent binding a folder of one's own below it.
  Command init = stage.person.command({"sync", "init"}, stage.tree / "below");
  CHECK(run_command(init).exit == 0);
  CHECK(fs::is_regular_file(stage.tree / "below/.ws/source.json"));
  fs::remove_all(stage.tree / "below");

  const auto status = [&](const std::string& variable, const std::string& value) {
    stage.person.environment[variable] = value;
    const int exit = stage.ws({"sync", "status"}).exit;
    stage.person.environment.erase(variable);
    return exit;
  };
  CHECK(status("WS_TRUSTED_FOLDERS", stage.tree.string()) == 0);
  CHECK(status("WS_TRUSTED_FOLDERS", "/nowhere:" + stage.tree.string() + "/") == 0);
  CHECK(status("WS_TRUSTED_FOLDERS", stage.folder.path().string() + "/*") == 0);
  CHECK(status("WS_TRUSTED_FOLDERS", "*") == 0);
  CHECK(status("WS_TRUSTED_FOLDERS", stage.folder.path().string()) == local);
  CHECK(status("WS_TRUSTED_FOLDERS", stage.tree.string() + "x") == local);
  CHECK(status("SUDO_UID", std::to_string(somebody)) == 0);  // as in git: root trusts the user who called sudo
  CHECK(status("SUDO_UID", "1") == local);

  // A tree cannot declare itself as trusted.
  write_text(stage.tree / ".ws.yaml", "trusted_folders: \"*\"\n");
  CHECK(stage.ws({"sync", "status"}).exit == local);
  CHECK(stage.ws({"config", "set", "trusted_folders", stage.tree.string()}).exit == 0);
  CHECK(stage.ws({"sync", "status"}).exit == 0);
  CHECK(stage.ws({"config", "set", "trusted_folders", "/nowhere"}).exit == 0);

  REQUIRE(::chown((stage.tree / ".ws.yaml").c_str(), somebody, somebody) == 0);
  const Ended foreign = stage.ws({"docs", "list"});
  CHECK(foreign.exit == local);
  CHECK_THAT(foreign.err, Catch::Matchers::Contains(".ws.yaml belongs to the user 54321"));
  CHECK(stage.ws({"--version"}).exit == 0);
  CHECK(stage.ws({"config", "set", "trusted_folders", stage.tree.string()}).exit == 0);
  CHECK(stage.ws({"docs", "list"}).exit == 0);
  CHECK(stage.ws({"config", "set", "trusted_folders", "/nowhere"}).exit == 0);
  stage.person.environment["WS_TRUSTED_FOLDERS"] = stage.tree.string();
  CHECK(stage.ws({"docs", "list"}).exit == 0);
}

TEST_CASE("foreign tree: what ws keeps is for its owner alone, and a replaced file keeps its mode", "[foreign]") {
  Stage stage;
  const auto under = [&](const char* mask, const std::string& arguments) {
    Command command = stage.person.command({}, stage.tree);
    const std::string ws = program("ws");
    command.program.clear();
    command.arguments = {"sh", "-c", fmt::format("umask {} && exec {} {}", mask, ws, arguments)};
    return run_command(command);
  };
  const auto mode = [&](const fs::path& path) {
    struct stat found {};
    CAPTURE(path);
    REQUIRE(::lstat(path.c_str(), &found) == 0);
    return found.st_mode & 0777U;
  };
  for (const auto& [text, mask] : {std::pair{"077", 077U}, std::pair{"002", 002U}, std::pair{"000", 0U}}) {
    CAPTURE(text);
    fs::remove_all(stage.tree);
    fs::create_directories(stage.tree);
    write_text(stage.tree / "a.md", "one\n");
    REQUIRE(under(text, fmt::format("sync init --name umask{}", text)).exit == 0);
    REQUIRE(under(text, "sync run").exit == 0);
    write_text(stage.tree / "a.md", "two\n");
    REQUIRE(under(text, "sync run").exit == 0);
    CHECK(mode(stage.tree / ".ws") == 0700U);
    for (const auto& entry : fs::directory_iterator(stage.tree / ".ws")) {
      CAPTURE(entry.path());
      CHECK(mode(entry.path()) == (entry.is_directory() ? 0700U : 0600U));
    }
    for (const auto& entry : fs::recursive_directory_iterator(stage.person.home() / "STATE")) {
      CAPTURE(entry.path());
      CHECK((mode(entry.path()) & 077U) == 0U);
    }
    // Below a folder that nobody else enters: as git has it.
    for (const auto& entry : fs::recursive_directory_iterator(stage.tree / ".ws/history.git/objects")) {
      CAPTURE(entry.path());
      CHECK(mode(entry.path()) == ((entry.is_directory() ? 0777U : 0444U) & ~mask));
    }
    // What is the user's own has what the umask leaves.
    fs::remove(stage.tree / "a.md");
    REQUIRE(under(text, "sync restore a.md").exit == 0);
    CHECK(mode(stage.tree / "a.md") == (0666U & ~mask));
    const std::string words = "every user of this machine may write to ";
    CHECK_THAT(under(text, "sync status").err, !Catch::Matchers::Contains(words));
    for (const char* const folder : {".", ".ws"}) {
      const unsigned before = mode(stage.tree / folder);
      REQUIRE(::chmod((stage.tree / folder).c_str(), 0777) == 0);
      const fs::path name = folder[1] == '\0' ? stage.tree : stage.tree / folder;
      CHECK_THAT(under(text, "sync status").err, Catch::Matchers::Contains(words + name.string()));
      REQUIRE(::chmod((stage.tree / folder).c_str(), before) == 0);
    }
    for (const unsigned kept : {0600U, 0640U}) {
      REQUIRE(::chmod((stage.tree / ".ws/history.git/HEAD").c_str(), kept) == 0);
      REQUIRE(::chmod((stage.tree / ".ws/source.json").c_str(), kept) == 0);
      REQUIRE(under(text, "sync run").exit == 0);
      CHECK(mode(stage.tree / ".ws/source.json") == kept);
    }
  }
}
