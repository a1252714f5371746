// Who may know whom, held as data. Link lines alone let a wrong include compile; this reads every `#include` of ours
// and names file, line and arrow. The tables are those of ARCHITECTURE.md ("The house", "One home each").
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file = {};  ///< from the repository root
  int line = 0;
  std::string target = {};  ///< "api-client/base/json.hpp" or "git2.h"
};

/// A room of the house and the rooms that it may include. The longest matching prefix is the room of a file.
struct Room {
  std::string_view prefix;
  std::vector<std::string_view> may_know;
};

const std::vector<Room> rooms = {
    {"api-client/base/", {"api-client/base/"}},
    {"api-client/contract/", {"api-client/contract/", "api-client/base/"}},
    {"api-client/", {"api-client/"}},
    {"sync-engine/remote/", {"sync-engine/", "api-client/"}},
    {"sync-engine/", {"sync-engine/", "api-client/contract/", "api-client/base/"}},
    {"server-mock/services/",
     {"server-mock/services/", "server-mock/store/", "api-client/contract/", "api-client/base/"}},
    {"server-mock/store/", {"server-mock/store/", "api-client/contract/", "api-client/base/"}},
    {"server-mock/", {"server-mock/", "api-client/contract/", "api-client/base/"}},
    {"cli/", {"cli/", "sync-engine/", "api-client/"}},
};

/// A library and the only places that include it.
struct Home {
  std::string_view header_prefix;
  std::vector<std::string_view> homes;
};

const std::vector<Home> homes = {
    {"curl/", {"api-client/http/curl"}},
    {"git2", {"sync-engine/git/"}},
    {"sqlite3", {"api-client/base/sqlite."}},
    {"openssl/", {"api-client/base/sha256.", "server-mock/http/"}},  // the server's TLS is OpenSSL's too
    {"boost/", {"server-mock/http/"}},
    {"zlib.h", {"server-mock/http/gzip."}},
    {"yaml-cpp/", {"api-client/base/yaml."}},
    {"cmark-gfm", {"api-client/base/markdown."}},
    {"utf8proc", {"api-client/base/utf8."}},
    {"CLI/", {"cli/", "server-mock/main.cpp"}},
    {"jq.h", {"cli/output/jq."}},
    {"jv.h", {"cli/output/jq."}},
    {"libsecret/", {"cli/settings/keyring."}},
    {"tl/", {"api-client/base/result.hpp", "server-mock/services/service.hpp", "server-mock/services/refuse.hpp"}},
    {"termios.h", {"cli/terminal/"}},
    {"sys/ioctl.h", {"cli/terminal/"}},
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

std::string name(const Include& include) {
  return include.file + ":" + std::to_string(include.line) + " -> " + include.target;
}

/// Every arrow that one of the two tables forbids.
std::vector<std::string> forbidden(const std::vector<Include>& includes) {
  std::vector<std::string> found;
  for (const Include& include : includes) {
    const Room* room = room_of(include.file);
    if (room == nullptr) continue;
    if (is_ours(include.target)) {
      bool allowed = false;
      for (const std::string_view known : room->may_know) allowed = allowed || starts_with(include.target, known);
      if (!allowed) found.push_back(name(include));
    }
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
  const fs::path root = WS_SOURCE_DIR;
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

TEST_CASE("arrows: the check itself sees what is forbidden", "[architecture]") {
  const auto seen = [](const char* file, const char* target) { return !forbidden({{file, 1, target}}).empty(); };
  CHECK(seen("api-client/base/json.cpp", "api-client/contract/schema.hpp"));
  CHECK(seen("api-client/contract/schema.cpp", "api-client/http/transport.hpp"));
  CHECK(seen("sync-engine/engine.cpp", "api-client/client.hpp"));
  CHECK_FALSE(seen("sync-engine/remote/api_remote.cpp", "api-client/client.hpp"));
  CHECK(seen("server-mock/pipeline.cpp", "api-client/client.hpp"));
  CHECK(seen("server-mock/services/sync.cpp", "server-mock/http/message.hpp"));
  CHECK(seen("cli/app.cpp", "server-mock/pipeline.hpp"));
  CHECK(seen("api-client/client.cpp", "curl/curl.h"));
  CHECK(seen("cli/commands/sync.cpp", "git2.h"));
  CHECK(seen("server-mock/services/documents.cpp", "boost/asio.hpp"));
  CHECK(seen("cli/app.hpp", "nlohmann/json.hpp"));
  CHECK(seen("cli/output/table.cpp", "sys/ioctl.h"));
  CHECK(seen("cli/app.cpp", "tests/support/run_command.hpp"));
}
