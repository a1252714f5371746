// `sync.md`, "Every pair of changes": each row with the real programs, on a real disk, over real sockets. The planner's
// own table is tests/sync-engine/reconcile/matrix.cpp.
#include <functional>
#include <map>
#include <set>
#include <string>

#include "tests/cli/workflow/rewound.hpp"
#include "tests/cli/workflow/two_folders.hpp"

namespace ws::test {
namespace {

namespace fs = std::filesystem;

using Texts = std::map<std::string, std::string>;
using Change = std::function<void(const fs::path& folder)>;

constexpr const char* base = "1\n2\n3\n4\n5\n6\n7\n";
constexpr const char* mine = "mine\n2\n3\n4\n5\n6\n7\n";
constexpr const char* theirs = "theirs\n2\n3\n4\n5\n6\n7\n";
constexpr const char* at_the_end = "1\n2\n3\n4\n5\n6\nseven\n";
constexpr const char* both = "mine\n2\n3\n4\n5\n6\nseven\n";
constexpr const char* other = "another document\n";
constexpr const char* inside = "in the folder\n";

const Change nothing = [](const fs::path&) {};

Change write(const std::string& name, const std::string& text) {
  return [=](const fs::path& folder) { write_text(folder / name, text); };
}
Change edit(const std::string& text) { return write("p.md", text); }
Change move(const std::string& name) {
  return [=](const fs::path& folder) { fs::rename(folder / "p.md", folder / name); };
}
Change move(const std::string& name, const std::string& text) {
  return [=](const fs::path& folder) {
    move(name)(folder);
    write_text(folder / name, text);
  };
}
const Change remove_it = [](const fs::path& folder) { fs::remove(folder / "p.md"); };
Change become_folder(const std::string& name = "p.md") {
  return [=](const fs::path& folder) {
    fs::remove(folder / name);
    fs::create_directory(folder / name);
    write_text(folder / name / "x.md", inside);
  };
}
const Change become_link = [](const fs::path& folder) {
  fs::remove(folder / "p.md");
  fs::create_symlink("a.md", folder / "p.md");
};

struct PairRow {
  const char* id;
  Change here;
  Change there;  ///< synced before the other side runs
  int exit;
  Texts disk;        ///< of `here` afterwards; what both hold all the time is left out
  Texts service;     ///< as `there` sees it
  Change next = {};  ///< on `there`, after a sync of its own: a new id takes the place of an old document
};

std::vector<PairRow> pair_rows() {
  const Change new_one = edit(other);
  return {
      {"UU", nothing, nothing, 0, {{"p.md", base}}, {{"p.md", base}}},
      {"UE", nothing, edit(theirs), 0, {{"p.md", theirs}}, {{"p.md", theirs}}},
      {"UD", nothing, remove_it, 0, {}, {}},
      {"UM", nothing, move("m.md"), 0, {{"m.md", base}}, {{"m.md", base}}},
      {"UC", nothing, remove_it, 0, {{"p.md", other}}, {{"p.md", other}}, new_one},
      {"UT", nothing, become_folder(), 0, {{"p.md/x.md", inside}}, {{"p.md/x.md", inside}}},
      {"EU", edit(mine), nothing, 0, {{"p.md", mine}}, {{"p.md", mine}}},
      {"EE=", edit(mine), edit(mine), 0, {{"p.md", mine}}, {{"p.md", mine}}},
      {"EE merged", edit(mine), edit(at_the_end), 0, {{"p.md", both}}, {{"p.md", both}}},
      {"EE", edit(mine), edit(theirs), 7, {{"p.md", mine}}, {{"p.md", theirs}}},
      {"ED", edit(mine), remove_it, 7, {{"p.md", mine}}, {}},
      {"EM", edit(mine), move("m.md"), 0, {{"m.md", mine}}, {{"m.md", mine}}},
      {"EC", edit(mine), remove_it, 7, {{"p.md", mine}, {"p (remote).md", other}}, {{"p.md", other}}, new_one},
      {"ET",
       edit(mine),
       become_folder(),
       0,
       {{"p (local).md", mine}, {"p.md/x.md", inside}},
       {{"p (local).md", mine}, {"p.md/x.md", inside}}},
      {"DU", remove_it, nothing, 0, {}, {}},
      {"DE", remove_it, edit(theirs), 0, {{"p.md", theirs}}, {{"p.md", theirs}}},
      {"DD", remove_it, remove_it, 0, {}, {}},
      {"DM", remove_it, move("m.md"), 0, {{"m.md", base}}, {{"m.md", base}}},
      {"DC", remove_it, remove_it, 0, {{"p.md", other}}, {{"p.md", other}}, new_one},
      {"DT", remove_it, become_folder(), 0, {{"p.md/x.md", inside}}, {{"p.md/x.md", inside}}},
      {"MU", move("h.md"), nothing, 0, {{"h.md", base}}, {{"h.md", base}}},
      {"ME", move("h.md"), edit(theirs), 0, {{"h.md", theirs}}, {{"h.md", theirs}}},
      {"MD", move("h.md"), remove_it, 0, {{"h.md", base}}, {{"h.md", base}}},
      {"MD edited", move("h.md", mine), remove_it, 7, {{"h.md", mine}}, {}},
      {"MM=", move("m.md"), move("m.md"), 0, {{"m.md", base}}, {{"m.md", base}}},
      {"MM=E here", move("m.md", mine), move("m.md"), 0, {{"m.md", mine}}, {{"m.md", mine}}},
      {"MM=E there", move("m.md"), move("m.md", theirs), 0, {{"m.md", theirs}}, {{"m.md", theirs}}},
      {"MM=E merged", move("m.md", mine), move("m.md", at_the_end), 0, {{"m.md", both}}, {{"m.md", both}}},
      {"MM=E", move("m.md", mine), move("m.md", theirs), 7, {{"m.md", mine}}, {{"m.md", theirs}}},
      {"MM", move("h.md"), move("m.md"), 7, {{"h.md", base}}, {{"m.md", base}}},
      {"MC",
       move("n.md"),
       write("n.md", other),
       7,
       {{"n.md", base}, {"n (remote).md", other}},
       {{"p.md", base}, {"n.md", other}}},
      {"MT", move("h.md"), become_folder(), 7, {{"h.md", base}, {"p.md/x.md", inside}}, {{"p.md/x.md", inside}}},
      {"CU", write("c.md", other), nothing, 0, {{"p.md", base}, {"c.md", other}}, {{"p.md", base}, {"c.md", other}}},
      {"CC=",
       write("c.md", other),
       write("c.md", other),
       0,
       {{"p.md", base}, {"c.md", other}},
       {{"p.md", base}, {"c.md", other}}},
      {"CC",
       write("c.md", mine),
       write("c.md", theirs),
       7,
       {{"p.md", base}, {"c.md", mine}},
       {{"p.md", base}, {"c.md", theirs}}},
      {"CM", write("m.md", mine), move("m.md"), 7, {{"m.md", mine}, {"m (remote).md", base}}, {{"m.md", base}}},
      {"CT",
       write("c.md", mine),
       become_folder("c.md"),
       7,
       {{"p.md", base}, {"c.md", mine}},
       {{"p.md", base}, {"c.md/x.md", inside}}},
      {"TU", become_folder(), nothing, 0, {{"p.md/x.md", inside}}, {{"p.md/x.md", inside}}},
      {"TL", become_link, edit(theirs), 0, {}, {{"p.md", theirs}}},
      {"TE",
       become_folder(),
       edit(theirs),
       7,
       {{"p.md/x.md", inside}, {"p (remote).md", theirs}},
       {{"p.md", theirs}}},  // the other folder has room for one of the two
      {"TD", become_folder(), remove_it, 0, {{"p.md/x.md", inside}}, {{"p.md/x.md", inside}}},
      {"TM",
       become_folder(),
       move("m.md"),
       0,
       {{"p.md/x.md", inside}, {"m.md", base}},
       {{"p.md/x.md", inside}, {"m.md", base}}},
      {"TT", become_folder(), become_folder(), 0, {{"p.md/x.md", inside}}, {{"p.md/x.md", inside}}},
  };
}

/// Without links, and without what no row touches.
Texts files_in(const fs::path& folder) {
  Texts found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    if (name.starts_with(".ws") || name.starts_with("keep") || name == "a.md" || name == "deep/b.md") continue;
    if (!entry.is_symlink() && entry.is_regular_file()) found[name] = read_text(entry.path());
  }
  return found;
}

/// The files of a plan or a run, as "action path".
std::set<std::string> rows_of(const Ended& ended) {
  std::set<std::string> rows;
  for (const Json& row : parse(ended.out)["actions"]) {
    rows.insert(text_at(row, "action") + " " + text_at(row, "path"));
  }
  return rows;
}

}  // namespace

TEST_CASE("sync rows: each pair of changes ends as the table says", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "p.md", base);
  for (const char* name : {"keep1.md", "keep2.md"}) write_text(two.here / name, std::string(name) + "\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const Rewound start(two.server, two.stage.path());
  for (const PairRow& row : pair_rows()) {
    CAPTURE(row.id);
    start.rewind();
    REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
    REQUIRE(two.ws(two.there, {"sync"}).exit == 0);

    row.there(two.there);
    REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
    if (row.next) {
      row.next(two.there);
      REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
    }
    row.here(two.here);
    const Ended foreseen = two.ws(two.here, {"sync", "-n", "--json"});
    CHECK(foreseen.exit == 0);
    const Ended ended = two.ws(two.here, {"sync", "--json"});
    CHECK(ended.exit == row.exit);
    CHECK(rows_of(ended) == rows_of(foreseen));
    CHECK(files_in(two.here) == row.disk);
    CHECK(two.ws(two.there, {"sync"}).exit == 0);
    CHECK(files_in(two.there) == row.service);
    // What is done is done, and what is open stays as it is.
    const Ended again = two.ws(two.here, {"sync"});
    CHECK(again.exit == row.exit);
    CHECK(files_in(two.here) == row.disk);
    if (row.exit == 0) CHECK(again.out.empty());
  }
}

}  // namespace ws::test
