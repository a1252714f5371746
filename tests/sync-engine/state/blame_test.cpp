// Who wrote a line: the history's commits name their authors, and blame agrees with plain git.

#include <map>
#include <random>
#include <sstream>

#include <catch2/catch.hpp>

#include "api-client/base/clean.hpp"
#include "sync-engine/state/history.hpp"
#include "sync-engine/state/history_log.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/sync-engine/support/paths.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;
using test::path;
using namespace std::string_literals;

Time at(int minute) { return Time(std::chrono::seconds(1'790'000'000)) + std::chrono::minutes(minute); }

class SetClock final : public Clock {
 public:
  Time now() const override { return time; }
  Time time = at(0);
};

struct Told {
  ws::test::TemporaryFolder folder;
  fs::path git = folder / "history.git";
  SetClock clock;
  History history{git, clock, {.name = "Me Myself", .id = "Me Myself"}};

  git::ObjectId keep(const std::string& text) {
    const auto blob = history.keep(text);
    REQUIRE(blob);
    return *blob;
  }
  void after(int minute, const TextChanges& changes) {
    clock.time = at(minute);
    REQUIRE(history.record_after(changes, "Pulled from the service"));
  }
  std::vector<BlamedLine> blame(const std::string& file, const std::string& text) const {
    auto log = HistoryLog::open(git);
    REQUIRE(log);
    auto lines = log->blame(path(file), text);
    if (!lines) FAIL(lines.error().what);
    return std::move(*lines);
  }
  /// "author at" for each line, by plain git; empty: there is no git.
  std::vector<std::string> plain(const std::string& file) const {
    const auto told = ws::test::run_command(
        {.arguments = {"git", "-C", git.string(), "blame", "--line-porcelain", "main", "--", file}});
    std::vector<std::string> lines;
    std::istringstream in(told.out);
    std::string who;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("author ")) who = line.substr(7);
      if (line.starts_with("author-time ")) who += " " + line.substr(12);
      if (line.starts_with("\t")) lines.push_back(who);
    }
    return lines;
  }
};

std::string who(const BlamedLine& line) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(line.author.time.time_since_epoch()).count();
  return line.author.name + " " + std::to_string(seconds);
}

std::vector<std::string> names(const std::vector<BlamedLine>& lines) {
  std::vector<std::string> out;
  for (const BlamedLine& line : lines) out.push_back(line.commit ? line.author.name : "-");
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("history: the name of an author acts on no terminal and ends no line of a commit", "[sync-engine]") {
  Told told;
  const std::string bad =
      "Eve\xc2\x9b"
      "31m \xe2\x80\xae\x1b]0;x\x07"
      "<e@x>\n\x00"
      "committer M\x7f\xe2\x80\xa8 end"s;
  told.after(1, {{.path = "a.md", .blob = told.keep("one\n"), .author = {.name = bad, .id = bad}}});
  const auto log =
      ws::test::run_command({.arguments = {"git", "-C", told.git.string(), "log", "--format=%an|%ae", "main"}});
  const auto lines = told.blame("a.md", "one\n");
  REQUIRE(lines.size() == 1);
  for (const std::string& shown : {log.out.substr(0, log.out.find('\n')), lines.at(0).author.name}) {
    CAPTURE(shown);
    CHECK(shown == clean(shown, Breaks::space));
    CHECK(shown.find('\0') == std::string::npos);
    CHECK(shown.find_first_of("<>") == std::string::npos);
  }
  CHECK(lines.at(0).author.name.starts_with("Eve e@x"));
  CHECK(std::count(log.out.begin(), log.out.end(), '\n') == 1);
}

TEST_CASE("blame: people on the service by name and time, local edits by whoever works here", "[sync-engine][blame]") {
  Told told;
  const Author ada{.name = "Ada <ada>\n", .id = "u-1", .time = at(-90)};
  const Author bob{.name = "Bob", .id = "u-2", .time = at(-30)};
  told.after(0,
             {{.path = "a.md", .blob = told.keep("one\ntwo\n"), .author = ada},
              {.path = "b.md", .blob = told.keep("bee\n"), .author = bob}});
  told.after(1, {{.path = "a.md", .blob = told.keep("one\nzwei\n"), .author = {.name = "Bob", .time = at(1)}}});
  told.after(2, {{.path = "a.md", .blob = told.keep("zero\none\nzwei\n")}});
  const auto lines = told.blame("a.md", "zero\none\nzwei\nnew\n");
  CHECK(names(lines) == Names{"Me Myself", "Ada ada", "Bob", "-"});
  CHECK(lines[1].author.time == at(-90));
  CHECK(lines[1].author.email == "u-1@localhost");
  CHECK(lines[1].text == "one");
  CHECK(names(told.blame("b.md", "bee\n")) == Names{"Bob"});
  CHECK(names(told.blame("c.md", "sea\n")) == Names{"-"});
  CHECK(told.blame("a.md", "").empty());
}

TEST_CASE("blame: a merge gives each line to its side, renames are followed", "[sync-engine][blame]") {
  Told told;
  const Author ada{.name = "Ada", .time = at(5)};
  told.after(0, {{.path = "a.md", .blob = told.keep("1\n2\n3\n4\n5\n")}});
  told.clock.time = at(10);
  const auto theirs = told.keep("1\n2\n3\n4\nfive\n");
  REQUIRE(told.history.record_before({{.path = "a.md", .blob = told.keep("one\n2\n3\n4\n5\n")}},
                                     {{.path = "a.md", .blob = theirs, .author = ada}}));
  told.after(10, {{.path = "a.md", .blob = theirs, .author = ada}});
  told.after(11, {{.path = "a.md", .blob = told.keep("one\n2\n3\n4\nfive\n")}});
  const Names merged = {"Me Myself", "Me Myself", "Me Myself", "Me Myself", "Ada"};
  CHECK(names(told.blame("a.md", "one\n2\n3\n4\nfive\n")) == merged);
  told.after(12,
             {{.path = "a.md", .author = ada},
              {.path = "d/z.md", .blob = told.keep("one\n2\n3\n4\nfive\n6\n"), .author = ada}});
  Names moved = merged;
  moved.push_back("Ada");
  CHECK(names(told.blame("d/z.md", "one\n2\n3\n4\nfive\n6\n")) == moved);
}

TEST_CASE("blame: many people and times in one sync, and the state that they lead to", "[sync-engine][blame]") {
  const int people = GENERATE(3, 40);
  Told told;
  TextChanges changes;
  told.after(0, {{.path = "x", .blob = told.keep("a file\n")}});
  for (int i = 0; i < people; ++i) {
    const std::string file = "n" + std::to_string(i) + ".md";
    changes.push_back({.path = file,
                       .blob = told.keep(file + "\n"),
                       .author = {.name = "P" + std::to_string(i % 5), .time = at(-i)}});
  }
  // A file goes and a folder comes in its place, by two people, the later first.
  changes.push_back({.path = "x", .author = {.name = "P1", .time = at(3)}});
  changes.push_back({.path = "x/y.md", .blob = told.keep("y\n"), .author = {.name = "P2", .time = at(2)}});
  told.after(4, changes);
  for (int i = 0; i < people; ++i) {
    const std::string file = "n" + std::to_string(i) + ".md";
    CHECK(names(told.blame(file, file + "\n")) == Names{"P" + std::to_string(i % 5)});
  }
  CHECK(told.blame("x/y.md", "y\n").front().commit);
  const auto fsck = ws::test::run_command({.arguments = {"git", "-C", told.git.string(), "fsck", "--strict"}});
  CHECK(fsck.exit == 0);
}

TEST_CASE("blame: random edits of two people, as plain git tells them", "[sync-engine][blame]") {
  std::mt19937 random(GENERATE(range(0U, 12U)));
  Told told;
  std::vector<std::string> lines;
  int next_line = 0;
  const auto pick = [&](std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random); };
  for (int step = 0; step < 25; ++step) {
    for (std::size_t edits = 1 + pick(3); edits > 0; --edits) {
      const std::size_t place = lines.empty() ? 0 : pick(lines.size());
      if (pick(3) == 0 && !lines.empty()) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(place));
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(lines.empty() ? 0 : std::min(place, lines.size())),
                   "line " + std::to_string(next_line++));
    }
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    const std::string name = pick(2) == 0 ? "Ada" : "Bob";
    told.after(step, {{.path = "a.md", .blob = told.keep(text), .author = {.name = name, .time = at(step)}}});
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  std::vector<std::string> ours;
  for (const BlamedLine& line : told.blame("a.md", text)) ours.push_back(who(line));
  CHECK(ours == told.plain("a.md"));
}

}  // namespace ws::sync
