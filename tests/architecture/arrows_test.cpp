// Who may know whom, held as data. Link lines alone let a wrong include compile; this reads every `#include` of ours
// and names file, line and arrow. The tables are those of ARCHITECTURE.md ("The floors", "Libraries: one home each").
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/build_paths.hpp"

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file = {};  ///< from the repository root
  int line = 0;
  std::string target = {};  ///< "api-client/base/json.hpp" or "git2.h"
};

/// A folder and the folders that its files may include, beside their own. The longest matching prefix is the row of a
/// file. "a/b/" permits the files directly in that folder, "a/b/**" all below it too.
struct Room {
  std::string prefix;
  std::vector<std::string> may_know;
};

/// A row of the mock, with names relative to its folder. Each part of it may use the contract and base, too.
Room mock(const std::string& folder, const std::vector<std::string>& may_know) {
  Room room = {"server-mock/" + folder, {"api-client/contract/**", "api-client/base/**"}};
  for (const std::string& known : may_know) room.may_know.push_back("server-mock/" + known);
  return room;
}

/// A row of the command line, with names relative to its folder. Each part of it may use the client and the engine,
/// too.
Room command_line(const std::string& folder, const std::vector<std::string>& may_know) {
  Room room = {"cli/" + folder, {"api-client/**", "sync-engine/**"}};
  for (const std::string& known : may_know) room.may_know.push_back("cli/" + known);
  return room;
}

/// A row of the sync engine; only `remote/` may use the client.
Room sync(const std::string& folder, const std::vector<std::string>& may_know) {
  Room room = {"sync-engine/" + folder, {"api-client/contract/**", "api-client/base/**"}};
  for (const std::string& known : may_know) room.may_know.push_back("sync-engine/" + known);
  return room;
}

/// Rows of one area stand in such an order that each permits only rows above it.
const std::vector<Room> rooms = {
    {"api-client/base/", {}},
    {"api-client/contract/", {"api-client/base/"}},
    {"api-client/contract/operations/", {"api-client/contract/"}},
    {"api-client/http/", {"api-client/contract/", "api-client/base/"}},
    {"api-client/client/", {"api-client/http/", "api-client/contract/", "api-client/base/"}},
    {"api-client/login/", {"api-client/client/", "api-client/base/"}},
    {"api-client/transfer/", {"api-client/client/", "api-client/http/", "api-client/contract/", "api-client/base/"}},

    sync("model/", {}),
    sync("disk/", {"model/"}),
    sync("git/", {"disk/"}),
    sync("merge/", {"git/"}),
    sync("links/", {"model/"}),
    sync("tree/", {"disk/", "model/"}),
    {"sync-engine/remote/", {"sync-engine/model/", "api-client/**"}},
    sync("reconcile/", {"model/"}),
    sync("state/", {"disk/", "git/", "model/"}),
    sync("binding/", {"disk/", "model/", "remote/", "state/"}),
    sync("session/", {"binding/", "disk/", "model/", "remote/", "state/", "tree/"}),
    sync("conflict_store/", {"binding/", "merge/", "model/", "session/", "state/"}),
    sync("manifest/", {"model/", "state/"}),
    sync("survey/",
         {"conflict_store/",
          "disk/",
          "git/",
          "links/",
          "manifest/",
          "merge/",
          "model/",
          "reconcile/",
          "remote/",
          "session/",
          "state/",
          "tree/"}),
    sync("changes/", {"conflict_store/", "disk/", "model/", "reconcile/", "session/", "state/", "survey/", "tree/"}),
    sync("undo/", {"disk/", "merge/", "model/", "reconcile/", "session/", "state/", "survey/", "tree/"}),
    sync("relink/", {"changes/", "disk/", "links/", "model/", "session/", "state/", "survey/"}),
    sync("conflicts/",
         {"changes/", "conflict_store/", "disk/", "merge/", "model/", "reconcile/", "session/", "survey/"}),
    sync("publish/", {"conflict_store/", "disk/", "model/", "reconcile/", "remote/", "session/", "state/", "survey/"}),
    sync("attachments/",
         {"changes/",
          "disk/",
          "links/",
          "manifest/",
          "model/",
          "reconcile/",
          "remote/",
          "session/",
          "state/",
          "survey/",
          "tree/",
          "undo/"}),
    sync("run/",
         {"attachments/",
          "binding/",
          "changes/",
          "conflicts/",
          "disk/",
          "manifest/",
          "model/",
          "publish/",
          "reconcile/",
          "relink/",
          "session/",
          "state/",
          "survey/",
          "tree/",
          "undo/"}),
    sync("",
         {"attachments/",
          "binding/",
          "changes/",
          "conflict_store/",
          "conflicts/",
          "model/",
          "publish/",
          "relink/",
          "remote/",
          "run/",
          "state/",
          "survey/",
          "undo/"}),
    sync("watch/", {"", "disk/", "model/", "tree/"}),

    command_line("base/", {}),
    command_line("settings/", {"base/"}),
    command_line("credentials/", {"base/"}),
    command_line("state/", {}),
    command_line("terminal/", {"base/"}),
    command_line("grammar/", {"base/", "terminal/"}),
    command_line("output/", {"base/", "terminal/"}),
    command_line("walk/", {"base/", "output/", "terminal/"}),
    command_line("commands/shared/", {"credentials/", "grammar/", "output/", "settings/", "state/", "terminal/"}),
    command_line("commands/agents/", {"commands/shared/"}),
    command_line("commands/auth/", {"commands/shared/", "credentials/", "terminal/"}),
    command_line("commands/comments/", {"commands/shared/"}),
    command_line("commands/config/", {"commands/shared/", "output/"}),
    command_line("commands/docs/", {"commands/shared/", "output/", "state/", "terminal/", "walk/"}),
    command_line("commands/events/", {"commands/shared/", "grammar/", "output/"}),
    command_line("commands/files/", {"commands/shared/", "output/", "state/", "terminal/"}),
    command_line("commands/merge/", {"commands/shared/"}),
    command_line("commands/questions/", {"commands/shared/", "output/"}),
    command_line("commands/search/", {"commands/shared/"}),
    command_line("commands/sync/", {"commands/shared/", "output/", "state/", "terminal/", "walk/"}),
    command_line("commands/tests/", {"commands/shared/"}),
    command_line("commands/utilities/",
                 {"commands/shared/", "credentials/", "grammar/", "output/", "settings/", "terminal/"}),
    command_line("commands/workspaces/", {"commands/shared/"}),
    command_line("commands/", {"commands/shared/", "grammar/", "output/"}),
    command_line("", {"base/", "commands/", "commands/shared/", "grammar/", "output/", "terminal/"}),

    {"server-mock/http/", {"api-client/base/**"}},
    {"server-mock/http/tls/", {"api-client/base/**"}},
    {"server-mock/http/server/", {"server-mock/http/", "server-mock/http/tls/", "api-client/base/**"}},
    mock("output/", {}),
    mock("store/", {}),
    mock("services/shared/", {"store/"}),
    mock("services/", {"services/shared/"}),
    mock("services/sync_sources/", {"store/"}),
    mock("services/authorization/", {"services/shared/", "store/"}),
    mock("services/agents/", {"services/authorization/", "services/shared/", "store/"}),
    mock("services/events/", {"services/shared/", "store/"}),
    mock("services/comments/", {"services/events/", "services/shared/", "store/"}),
    mock("services/documents/",
         {"services/comments/", "services/events/", "services/shared/", "services/sync_sources/", "store/"}),
    mock("services/built_in/", {"services/documents/", "store/"}),
    mock("services/files/", {"services/documents/", "services/shared/", "store/"}),
    mock("services/sync/", {"services/documents/", "services/shared/", "services/sync_sources/", "store/"}),
    mock("services/tests/", {"services/shared/", "store/"}),
    mock("services/text_index/", {"services/files/", "services/shared/", "store/"}),
    mock("services/workspaces/", {"services/documents/", "services/files/", "services/shared/", "store/"}),
    mock("services/questions/", {"services/documents/", "services/shared/", "services/text_index/", "store/"}),
    mock("services/search/",
         {"services/questions/", "services/shared/", "services/sync/", "services/text_index/", "store/"}),
    mock("faults/", {"http/", "services/shared/"}),
    mock("access/", {"http/", "services/authorization/", "services/shared/", "store/"}),
    mock("fixtures/",
         {"services/authorization/",
          "services/built_in/",
          "services/events/",
          "services/files/",
          "services/shared/",
          "store/"}),
    mock("journal/", {"faults/", "http/", "output/", "services/files/", "services/shared/", "store/"}),
    mock("sandbox/",
         {"access/",
          "faults/",
          "fixtures/",
          "journal/",
          "services/built_in/",
          "services/events/",
          "services/files/",
          "services/questions/",
          "services/shared/",
          "store/"}),
    mock("pages/", {"http/", "output/", "sandbox/", "services/authorization/"}),
    mock("pipeline/",
         {"http/",
          "output/",
          "pages/",
          "sandbox/",
          "services/files/",
          "services/questions/",
          "services/shared/",
          "store/"}),
    mock("control/",
         {"faults/",
          "fixtures/",
          "http/",
          "journal/",
          "output/",
          "pages/",
          "pipeline/",
          "sandbox/",
          "services/authorization/",
          "services/built_in/",
          "services/events/",
          "services/shared/",
          "services/sync_sources/",
          "store/"}),
    mock("application/",
         {"access/",
          "control/",
          "faults/",
          "http/",
          "http/server/",
          "journal/",
          "output/",
          "pages/",
          "pipeline/",
          "sandbox/",
          "services/authorization/",
          "services/documents/",
          "services/events/",
          "services/files/",
          "store/"}),
    mock("sweep/", {"application/", "faults/", "http/", "http/server/", "journal/", "output/", "store/"}),
    // It calls another service, and so has the client's transport.
    {"server-mock/compare/",
     {"api-client/contract/**",
      "api-client/base/**",
      "api-client/http/",
      "server-mock/application/",
      "server-mock/http/",
      "server-mock/journal/",
      "server-mock/output/",
      "server-mock/pages/",
      "server-mock/pipeline/",
      "server-mock/store/",
      "server-mock/sweep/"}},
    mock("trace/", {"application/", "http/", "output/", "pages/", "sandbox/", "services/files/", "store/"}),
    mock("", {"application/", "compare/", "control/", "faults/", "fixtures/", "output/", "sweep/", "trace/"}),
};

/// Areas in which every folder with sources has a row of its own, and every permission is used.
const std::vector<std::string_view> complete_areas = {"api-client/", "cli/", "server-mock/", "sync-engine/"};

/// A library and the only places that include it.
struct Home {
  std::string_view header_prefix;
  std::vector<std::string_view> homes;
};

const std::vector<Home> homes = {
    {"curl/", {"api-client/http/curl"}},
    {"git2", {"sync-engine/git/"}},
    {"sqlite3", {"api-client/base/sqlite.", "api-client/base/sqlite_pages."}},
    {"openssl/", {"api-client/base/sha256.", "server-mock/http/"}},  // the server's TLS is OpenSSL's too
    {"boost/", {"server-mock/http/", "server-mock/store/query."}},
    {"zlib.h", {"server-mock/http/server/gzip.", "server-mock/trace/packed.", "sync-engine/git/pack_writer."}},
    {"yaml-cpp/", {"api-client/base/yaml."}},
    {"cmark-gfm", {"api-client/base/markdown.", "api-client/base/markdown_layout."}},
    {"utf8proc", {"api-client/base/utf8."}},
    {"CLI/",
     {"cli/",
      "server-mock/background_command.",
      "server-mock/compare_command.",
      "server-mock/main.cpp",
      "server-mock/flags.",
      "server-mock/grade_command.",
      "server-mock/sweep_command.",
      "server-mock/usage."}},
    {"jq.h", {"cli/output/jq."}},
    {"jv.h", {"cli/output/jq."}},
    {"qrencode.h", {"cli/terminal/qr_code."}},
    {"dlfcn.h", {"api-client/base/shared_library."}},
    {"spawn.h", {"api-client/base/process."}},
    {"libsecret/", {"cli/credentials/keyring."}},
    {"tl/",
     {"api-client/base/result.hpp",
      "server-mock/services/shared/service.hpp",
      "server-mock/services/shared/errors.hpp"}},
    {"termios.h", {"cli/terminal/"}},
    {"sys/ioctl.h", {"cli/terminal/", "server-mock/sweep_command."}},
};

std::vector<Include> includes_of(const fs::path& root, const fs::path& file) {
  std::vector<Include> found;
  std::ifstream stream(file);
  std::string text;
  for (int line = 1; std::getline(stream, text); ++line) {
    const std::size_t hash = text.find_first_not_of(" \t");
    if (hash == std::string::npos || text[hash] != '#') continue;
    const std::size_t word = text.find("include", hash);
    if (word == std::string::npos) continue;
    const std::size_t open = text.find_first_of("<\"", word);
    if (open == std::string::npos) continue;
    const std::size_t close = text.find_first_of(">\"", open + 1);
    if (close == std::string::npos) continue;
    found.push_back({fs::relative(file, root).string(), line, text.substr(open + 1, close - open - 1)});
  }
  return found;
}

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool is_ours(std::string_view target) {
  for (const std::string_view folder : {"api-client/", "sync-engine/", "server-mock/", "cli/", "tests/"}) {
    if (starts_with(target, folder)) return true;
  }
  return false;
}

const Room* room_of(std::string_view file) {
  const Room* best = nullptr;
  for (const Room& room : rooms) {
    if (starts_with(file, room.prefix) && (best == nullptr || room.prefix.size() > best->prefix.size())) best = &room;
  }
  return best;
}

/// "server-mock/http/" of "server-mock/http/message.hpp"
std::string_view folder_of(std::string_view file) { return file.substr(0, file.rfind('/') + 1); }

/// "cli/" of "cli/output/"
std::string_view area_of(std::string_view folder) { return folder.substr(0, folder.find('/') + 1); }

/// Whether `known`, an entry of `may_know`, permits files of this folder.
bool permits(std::string_view known, std::string_view folder) {
  if (known.substr(known.size() - 2) == "**") return starts_with(folder, known.substr(0, known.size() - 2));
  return folder == known;
}

bool permits(const Room& room, std::string_view folder) {
  for (const std::string& known : room.may_know) {
    if (permits(known, folder)) return true;
  }
  return folder == room.prefix;
}

bool is_complete(std::string_view folder) {
  for (const std::string_view area : complete_areas) {
    if (starts_with(folder, area)) return true;
  }
  return false;
}

std::string name(const Include& include) {
  return include.file + ":" + std::to_string(include.line) + " -> " + include.target;
}

/// Every arrow that one of the two tables forbids.
std::vector<std::string> forbidden(const std::vector<Include>& includes) {
  std::vector<std::string> found;
  for (const Include& include : includes) {
    const Room* room = room_of(include.file);
    if (room == nullptr) continue;
    if (is_ours(include.target) && !permits(*room, folder_of(include.target))) found.push_back(name(include));
    for (const Home& home : homes) {
      if (!starts_with(include.target, home.header_prefix)) continue;
      bool at_home = false;
      for (const std::string_view place : home.homes) at_home = at_home || starts_with(include.file, place);
      if (!at_home) found.push_back(name(include) + " (not the home of this library)");
    }
    const bool header = include.file.size() > 4 && include.file.substr(include.file.size() - 4) == ".hpp";
    if (header && include.target == "nlohmann/json.hpp")
      found.push_back(name(include) + " (headers hold json_fwd.hpp)");
  }
  return found;
}

std::vector<Include> all_includes() {
  const fs::path root = ws::test::source_path("");
  std::vector<Include> all;
  for (const char* folder : {"api-client", "sync-engine", "server-mock", "cli"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".hpp" && extension != ".cpp") continue;
      for (Include& include : includes_of(root, entry.path())) all.push_back(std::move(include));
    }
  }
  return all;
}

}  // namespace

TEST_CASE("arrows: every include points downwards, and every library stays at home", "[architecture]") {
  const auto includes = all_includes();
  REQUIRE(includes.size() > 100);
  for (const std::string& arrow : forbidden(includes)) FAIL_CHECK(arrow);
}

TEST_CASE("arrows: within a complete area no folder includes, over any way, itself", "[architecture]") {
  // Rows above a row permit nothing below them: so the table can hold no cycle, and reads from the ground up.
  for (auto lower = rooms.begin(); lower != rooms.end(); ++lower) {
    if (!is_complete(lower->prefix)) continue;
    for (auto upper = lower + 1; upper != rooms.end(); ++upper) {
      if (permits(*lower, upper->prefix))
        FAIL_CHECK(lower->prefix << " permits " << upper->prefix << ", a row below it");
    }
  }
}

TEST_CASE("arrows: every folder of a complete area has a row, and uses what the row permits", "[architecture]") {
  std::set<std::string_view> seen;
  std::set<std::pair<std::string_view, std::string_view>> used;
  const auto includes = all_includes();
  for (const Include& include : includes) {
    const std::string_view folder = folder_of(include.file);
    if (!is_complete(folder)) continue;
    const Room* room = room_of(folder);
    REQUIRE(room != nullptr);
    if (room->prefix != folder && seen.insert(folder).second) FAIL_CHECK("no row for " << folder);
    for (const std::string_view known : room->may_know) {
      if (permits(known, folder_of(include.target))) used.insert({room->prefix, known});
    }
  }
  for (const Room& room : rooms) {
    if (!is_complete(room.prefix)) continue;
    for (const std::string_view known : room.may_know) {
      if (area_of(known) == area_of(room.prefix) && !used.contains({room.prefix, known})) {
        FAIL_CHECK(room.prefix << " includes nothing of " << known << ": take it out of the row");
      }
    }
  }
}

// `session/written_files.hpp`: a file that is replaced has another number, and the next plan could not tell whose it
// is.
TEST_CASE("arrows: whoever puts a text in the place of a user's note records whose file that is", "[architecture]") {
  const std::map<std::string, std::string_view> recorders = {
      {"sync-engine/changes/apply.cpp", "finish_step("},
      {"sync-engine/changes/finish_step.cpp", "record_written("},
      {"sync-engine/conflicts/decided_block.cpp", "end.files."},
      {"sync-engine/changes/edit_files.cpp", "record_written("},
  };
  // Files that notes show are known by path and bytes; `carry_out` tells its caller what it did; in a folder that is
  // tied to nothing no file is a document's.
  const std::string_view others[] = {"sync-engine/attachments/",
                                     "sync-engine/changes/carry_out.cpp",
                                     "sync-engine/disk/",
                                     "sync-engine/relink/untied_edits.cpp"};
  const fs::path root = ws::test::source_path("");
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root / "sync-engine")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string file = fs::relative(entry.path(), root).string();
    if (std::ranges::any_of(others, [&](std::string_view folder) { return starts_with(file, folder); })) continue;
    std::ifstream stream(entry.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const bool places = std::ranges::any_of(
        std::vector<std::string>{
            "writer.place(", "writer_.place(", "writer_->place(", "{.texts = &writer}", "carry_out(writers"},
        [&](const std::string& call) { return text.find(call) != text.npos; });
    if (!places) continue;
    found.insert(file);
    const auto recorder = recorders.find(file);
    if (recorder == recorders.end() || text.find(recorder->second) == text.npos)
      FAIL_CHECK(file << " places a text and does not record whose file it is");
  }
  CHECK(found.size() == recorders.size());
}

TEST_CASE("arrows: the check itself sees what is forbidden", "[architecture]") {
  const auto seen = [](const char* file, const char* target) { return !forbidden({{file, 1, target}}).empty(); };
  CHECK(seen("api-client/base/json.cpp", "api-client/contract/schema.hpp"));
  CHECK(seen("api-client/contract/schema.cpp", "api-client/http/transport.hpp"));
  CHECK(seen("sync-engine/engine.cpp", "api-client/client/client.hpp"));
  CHECK_FALSE(seen("sync-engine/remote/api_remote.cpp", "api-client/client/client.hpp"));
  CHECK(seen("server-mock/pipeline/pipeline.cpp", "api-client/client/client.hpp"));
  CHECK(seen("server-mock/services/sync/push.cpp", "server-mock/http/message.hpp"));
  CHECK(seen("server-mock/services/shared/errors.cpp", "server-mock/services/sync/shared.hpp"));
  CHECK(seen("server-mock/services/events/notify.cpp", "server-mock/services/comments/anchors.hpp"));
  CHECK(seen("server-mock/pipeline/pipeline.cpp", "server-mock/http/server/server.hpp"));
  CHECK_FALSE(seen("server-mock/pipeline/pipeline.cpp", "server-mock/http/message.hpp"));
  CHECK(seen("cli/app.cpp", "server-mock/pipeline/pipeline.hpp"));
  CHECK(seen("cli/commands/docs/docs.cpp", "cli/commands/sync/walk.hpp"));
  CHECK(seen("cli/commands/shared/paging.cpp", "cli/commands/registry.hpp"));
  CHECK(seen("cli/terminal/programs.cpp", "cli/output/printer.hpp"));
  CHECK(seen("api-client/http/retry.cpp", "api-client/client/client.hpp"));
  CHECK(seen("api-client/client/client.cpp", "curl/curl.h"));
  CHECK(seen("cli/commands/sync/run.cpp", "git2.h"));
  CHECK(seen("server-mock/services/documents/documents.cpp", "boost/asio.hpp"));
  CHECK(seen("cli/app.hpp", "nlohmann/json.hpp"));
  CHECK(seen("cli/output/table.cpp", "sys/ioctl.h"));
  CHECK(seen("cli/app.cpp", "tests/support/run_command.hpp"));
}
