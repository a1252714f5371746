// A service whose document names would be written outside the tree, in `.ws/`, in `.git/`, or as terminal escapes.
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/faults/fault_world.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/on_terminal.hpp"
#include "tests/support/relay.hpp"

using namespace ws::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct HostileName {
  std::string fate = {};
  std::string wire = {};  ///< as in the JSON text, between the quotes
  std::string path() const { return json::parse("\"" + wire + "\""); }
};

std::string expand(std::string text) {
  for (std::size_t at = text.find("<<"); at != std::string::npos; at = text.find("<<")) {
    const std::size_t star = text.find('*', at);
    const std::size_t end = text.find(">>", at);
    if (star == std::string::npos || end == std::string::npos || star > end) break;
    std::string many;
    for (int i = std::stoi(text.substr(star + 1)); i > 0; --i) many += text.substr(at + 2, star - at - 2);
    text.replace(at, end + 2 - at, many);
  }
  // Bytes that cannot be part of valid JSON.
  for (std::size_t at = text.find("\\x"); at != std::string::npos; at = text.find("\\x", at)) {
    if (at > 0 && text[at - 1] == '\\') {
      at += 2;
      continue;
    }
    text.replace(at, 4, 1, static_cast<char>(std::stoi(text.substr(at + 2, 2), nullptr, 16)));
  }
  return text;
}

std::vector<HostileName> names_of(const std::string& fate) {
  std::ifstream lines(source_path("/tests/faults/hostile_names.txt"));
  std::vector<HostileName> names;
  for (std::string line; std::getline(lines, line);) {
    if (line.substr(0, line.find('\t')) != fate || line.front() == '#') continue;
    names.push_back({fate, expand(line.substr(line.find('\t') + 1))});
  }
  return names;
}

std::string text_of(std::size_t number) { return "hostile " + std::to_string(number) + "\n"; }

/// An item of a pull with the path inserted literally.
std::string item_of(const HostileName& name, std::size_t number) {
  const std::string id = fmt::format("018f6b2a-9c1d-7e3f-8a4b-{:012x}", number + 1);
  const std::string text = text_of(number);
  json item{{"path", "@"},
            {"document_id", id},
            {"node_id", id},
            {"content_revision", 1},
            {"content_sha256", ws::Sha256::of(text).hex()},
            {"size_bytes", text.size()},
            {"title", "x"},
            {"content", text},
            {"deleted", false},
            {"updated_by", nullptr},
            {"updated_at", "2026-01-01T00:00:00Z"}};
  std::string wire = item.dump();
  return wire.replace(wire.find("\"@\""), 3, "\"" + name.wire + "\"");
}

/// Inserts items into the response to a pull.
std::string with_items(const std::string& body, const std::vector<HostileName>& names) {
  std::string items;
  for (std::size_t i = 0; i < names.size(); ++i) items += (i == 0 ? "" : ",") + item_of(names[i], i);
  json page = json::parse(body);
  const bool empty = page["data"].empty();
  page["data"].push_back("@@");
  std::string wire = page.dump();
  if (items.empty()) items = empty ? "" : "null";
  return wire.replace(wire.find("\"@@\""), 4, items);
}

/// An up-to-date tree with a service that returns such names from now on.
struct HostileStage {
  explicit HostileStage(std::vector<HostileName> names)
      : names_(std::move(names)), relay_(world.server, [this](const Seen& seen, const Forward& forward) {
          Script script = forward();
          const bool pull = seen.method == "GET" && seen.target.find("/pull") != std::string::npos;
          if (!pull || !hostile) return script;
          const std::string whole = std::get<SendBytes>(script.front()).bytes;
          return answer(200, with_items(whole.substr(whole.find("\r\n\r\n") + 4), names_));
        }) {
    world.person.environment["WS_BASE_URL"] = relay_.origin();
    world.bind_trees();
    write_text(world.tree / "plain.md", "plain\n");
    fs::create_directories(world.tree / ".git" / "hooks");
    write_text(world.tree / ".git" / "config", "[core]\n");
    write_text(outside() / "canary.md", "sings\n");
    REQUIRE(world.ws({"sync", "run"}).exit == 0);
    write_text(world.other / "there.md", "from the other side\n");
    REQUIRE(world.ws_there({"sync", "run"}).exit == 0);
    write_text(world.tree / ".ws" / "canary", "sings\n");
    before = snapshot();
  }

  fs::path outside() const { return world.tree.parent_path() / "outside"; }

  /// Everything that no response may change: files beside the tree, `.git/`, and the files of `.ws/` that only users
  /// and `init` write.
  Texts snapshot() const {
    return snapshot_of(world.tree.parent_path(), [](const std::string& name) {
      if (name == "saved" || name == "calls" || name == "other") return false;
      if (name.starts_with("tree/.ws/")) {
        for (const char* own : {"state.db", "stat.cache", "lock", "tmp", "conflicts", "history.git"}) {
          if (name.substr(9).starts_with(own)) return false;
        }
        return true;
      }
      return !name.starts_with("tree/") || name.starts_with("tree/.git") || name.starts_with("tree/.ws");
    });
  }
  /// Files left in the folders of `.ws/` that runs write to; a run must leave nothing in the first three.
  Words left_over() const {
    Words names;
    for (const char* folder : {"tmp", "conflicts"}) {
      for (const auto& entry : fs::recursive_directory_iterator(world.tree / ".ws" / folder))
        names.push_back(entry.path());
    }
    return names;
  }

  FaultWorld world;
  bool hostile = false;
  Texts before = {};

 private:
  std::vector<HostileName> names_;
  Relay relay_;
};

/// Maps paths to reasons.
Texts skipped_in(const json& report) {
  Texts reasons;
  for (const json& each : report.at("skipped")) reasons[each.at("path")] = each.at("reason");
  return reasons;
}

}  // namespace

TEST_CASE("hostile names: refused by name, the rest goes on, nothing else is touched", "[faults][names]") {
  const std::vector<HostileName> names = names_of("refused");
  REQUIRE(names.size() >= 80);
  HostileStage stage(names);
  stage.hostile = true;
  const Ended pulled = stage.world.ws({"sync", "pull", "--json"});
  CAPTURE(pulled.err);
  CHECK(pulled.exit == 0);
  const Texts skipped = skipped_in(json::parse(pulled.out));
  for (const HostileName& name : names) {
    CAPTURE(name.wire);
    REQUIRE(skipped.contains(name.path()));
    CHECK(skipped.at(name.path()) == "dangerous_name");  // not `hidden`, which other settings could allow
  }
  CHECK(texts_of(stage.world.tree) ==
        Texts{{".git/config", "[core]\n"}, {"plain.md", "plain\n"}, {"there.md", "from the other side\n"}});
  CHECK(stage.snapshot() == stage.before);
  CHECK(stage.left_over() == Words{});
  stage.hostile = false;  // the next response does not mention them, and they are still listed
  CHECK(skipped_in(json::parse(stage.world.ws({"sync", "status", "--json"}).out)) == skipped);
}

TEST_CASE("hostile names: one by one they come to nothing either", "[faults][names]") {
  // One bad name must not hide the others of a list.
  const std::vector<HostileName> all = names_of("refused");
  for (const long place : spread(static_cast<long>(all.size()), 3, fault_seed())) {
    HostileStage stage({all[static_cast<std::size_t>(place) - 1]});
    stage.hostile = true;
    CAPTURE(place);
    CHECK(stage.world.ws({"sync", "run"}).exit == 0);
    CHECK(texts_of(stage.world.tree).size() == 3);
    CHECK(stage.snapshot() == stage.before);
  }
}

TEST_CASE("hostile names: what is only odd is synced", "[faults][names]") {
  const std::vector<HostileName> names = names_of("synced");
  HostileStage stage(names);
  stage.hostile = true;
  const Ended pulled = stage.world.ws({"sync", "pull", "--json"});
  CAPTURE(pulled.err);
  CHECK(pulled.exit == 0);
  Texts expected = {{".git/config", "[core]\n"}, {"plain.md", "plain\n"}, {"there.md", "from the other side\n"}};
  for (std::size_t i = 0; i < names.size(); ++i) expected[names[i].path()] = text_of(i);
  const Texts there = texts_of(stage.world.tree);
  for (const auto& [path, text] : expected) {
    INFO("not there, or with another text: " << path);
    CHECK((there.contains(path) && there.at(path) == text));
  }
  CHECK(texts_of(stage.world.tree) == expected);
  CHECK(stage.snapshot() == stage.before);
}

TEST_CASE("hostile names: what is no text gets nowhere, and the rest comes", "[faults][names]") {
  for (const HostileName& name : names_of("broken")) {
    HostileStage stage({name});
    stage.hostile = true;
    const Ended pulled = stage.world.ws({"sync", "pull", "--json"});
    CAPTURE(name.wire, pulled.exit, pulled.out, pulled.err);
    CHECK(pulled.exit == 0);
    const Texts skipped = skipped_in(json::parse(pulled.out));
    REQUIRE(skipped.size() == 1);
    CHECK(skipped.begin()->second == "dangerous_name");
    CHECK(stage.snapshot() == stage.before);
    CHECK(texts_of(stage.world.tree).size() == 3);
    CHECK(texts_of(stage.world.tree).contains("there.md"));
    stage.hostile = false;
    CHECK(stage.world.ws({"sync", "run"}).exit == 0);
  }
}

TEST_CASE("hostile names: of twins one is synced and the other named", "[faults][names]") {
  const auto [one, two] = GENERATE(table<std::string, std::string>({{"Roof.md", "roof.md"},
                                                                    {"caf\\u00e9.md", "cafe\\u0301.md"},
                                                                    {"STRASSE.md", "stra\\u00dfe.md"},
                                                                    {"Deep/x.md", "deep/X.md"},
                                                                    {"PLAIN.md", "new.md"}}));
  HostileStage stage({{"", one}, {"", two}});
  stage.hostile = true;
  const Ended pulled = stage.world.ws({"sync", "pull", "--json"});
  CAPTURE(one, two, pulled.out, pulled.err);
  CHECK((pulled.exit == 0 || pulled.exit == 7));
  const bool clashes_with_ours = two == "new.md";
  const Texts now = texts_of(stage.world.tree);
  CHECK(now.at("plain.md") == "plain\n");
  CHECK(now.contains("there.md"));
  if (!clashes_with_ours) {
    CHECK(now.count(HostileName{"", one}.path()) + now.count(HostileName{"", two}.path()) == 1);
  }
  CHECK_FALSE(json::parse(pulled.out).at("skipped").empty());
  CHECK(stage.snapshot() == stage.before);
}

TEST_CASE("hostile names: the terminal stays clean", "[faults][names]") {
  HostileStage stage(names_of("refused"));
  stage.hostile = true;
  const Screen screen =
      run_on_terminal(stage.world.person.command({"sync", "pull", "--verbose"}, stage.world.tree), 120);
  CHECK(screen.exit == 0);
  CHECK(screen.text.find("evil.md") != std::string::npos);
  // Colour is off (NO_COLOR), so no escape sequence is our own.
  for (const char* const forbidden : {"\x1b[31m",
                                      "\x1b]",
                                      "\x07",
                                      "\x7f",
                                      "\xc2\x80",
                                      "\xc2\x9b",
                                      "\xc2\x85",
                                      "\xe2\x80\xae",
                                      "\xe2\x81\xa6",
                                      "\xef\xbb\xbf"}) {
    CAPTURE(forbidden);
    CHECK(screen.text.find(forbidden) == std::string::npos);
  }
}
