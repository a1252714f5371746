#include "tests/property/compound_changes.hpp"

#include <fstream>
#include <iterator>
#include <set>
#include <utility>

namespace ws::property {
namespace {

namespace fs = std::filesystem;
using Acts = std::vector<Act>;
using Kind = Act::Kind;

constexpr const char* note = "a.md";
constexpr const char* list = "d/b.md";

/// A document and the names that it can get.
struct Compounded {
  std::string path;
  std::string other_case;
  std::string elsewhere;  ///< a path in a folder, or out of it
  std::string the_other;  ///< the path of the other document
};
const Compounded both_of_them[] = {{note, "A.md", "d/a.md", list}, {list, "d/B.md", "b.md", note}};

Acts with(Acts acts, Act act) {
  acts.push_back(std::move(act));
  return acts;
}

/// Adds the edits that can be combined with a rename.
void add_edits(std::vector<CompoundChange>& changes, const std::string& name, const Acts& acts, const std::string& at) {
  changes.push_back({name, acts});
  changes.push_back({name + ", edited alike", with(acts, {Kind::edit, at})});
  changes.push_back({name + ", edited", with(acts, {Kind::edit, at, {}, true})});
  changes.push_back({name + ", saved", with(acts, {Kind::save, at, {}, true})});
}

std::vector<CompoundChange> changes_of(const Compounded& document) {
  const std::string& path = document.path;
  std::vector<CompoundChange> changes;
  add_edits(changes, path + ":", {}, path);
  changes.erase(changes.begin());
  changes.push_back({path + ": deleted", {{Kind::remove, path}}});
  changes.push_back({path + ": deleted, a new file there", {{Kind::remove, path}, {Kind::write, path}}});
  changes.push_back(
      {path + ": deleted, a file of one's own there", {{Kind::remove, path}, {Kind::write, path, {}, true}}});
  changes.push_back({path + ": a link", {{Kind::link, path}}});
  for (const std::string& to : {std::string("n.md"), std::string("m.md"), document.other_case, document.elsewhere}) {
    add_edits(changes, path + ": to " + to, {{Kind::move, path, to}}, to);
    if (to == document.other_case) continue;
    changes.push_back({path + ": to " + to + ", a new file there", {{Kind::move, path, to}, {Kind::write, path}}});
  }
  add_edits(changes, path + ": over the other", {{Kind::move, path, document.the_other}}, document.the_other);
  add_edits(changes, path + ": a folder", {{Kind::set_off, path, "x.md"}}, path + "/x.md");
  return changes;
}

/// Changes of both documents at once, combined with an edit of neither, either, or both.
std::vector<CompoundChange> changes_of_both() {
  struct Both {
    std::string name;
    Acts acts;
    std::string of_note;
    std::string of_list;
  };
  const Act aside{Kind::move, note, "t.tmp"};
  const std::vector<Both> all = {
      {"swapped", {aside, {Kind::move, list, note}, {Kind::move, "t.tmp", list}}, list, note},
      {"rotated", {{Kind::move, list, "c.md"}, {Kind::move, note, list}, {Kind::write, note}}, list, "c.md"},
      {"moved up", {{Kind::move, list, "c.md"}, {Kind::move, note, list}}, list, "c.md"},
      {"folder renamed", {{Kind::move, "d", "e"}}, note, "e/b.md"},
      {"folder renamed, a new file inside", {{Kind::move, "d", "e"}, {Kind::write, "e/n.md"}}, note, "e/b.md"},
      {"folder moved down", {{Kind::move, "d", "f/d"}}, note, "f/d/b.md"},
      {"folder renamed, the other one into it",
       {{Kind::move, "d", "e"}, {Kind::move, note, "e/a.md"}},
       "e/a.md",
       "e/b.md"},
      {"folder deleted", {{Kind::remove, "d"}}, note, ""},
      {"folder deleted, a file of its name",
       {{Kind::remove, "d"}, {Kind::move, note, "d"}, {Kind::move, "d", "d.md"}},
       "d.md",
       ""},
      {"each into the other's folder", {{Kind::move, list, "b.md"}, {Kind::move, note, "d/a.md"}}, "d/a.md", "b.md"}};
  std::vector<CompoundChange> changes;
  for (const Both& both : all) {
    for (const bool alike : {true, false}) {
      for (unsigned edited = alike ? 0 : 1; edited < 4; ++edited) {
        Acts acts = both.acts;
        std::string name = both.name;
        if ((edited & 1U) != 0) acts.push_back({Kind::edit, both.of_note, {}, !alike});
        if ((edited & 2U) != 0 && both.of_list.empty()) continue;
        if ((edited & 2U) != 0) acts.push_back({Kind::edit, both.of_list, {}, !alike});
        name += edited == 0   ? ""
                : edited == 1 ? ", the first edited"
                : edited == 2 ? ", the second edited"
                              : ", both edited";
        changes.push_back({name + (alike && edited != 0 ? " alike" : ""), std::move(acts)});
      }
    }
  }
  return changes;
}

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void put_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// Replaces a text of one line; of ten lines, each writer edits a different one.
std::string edited_by(const std::string& text, const std::string& writer) {
  if (text.find("\nfive\n") == std::string::npos) return "written by " + writer + "\n";
  std::string changed = text;
  const std::string line = writer == "mine" ? "\ntwo\n" : writer == "theirs" ? "\neight\n" : "\nfive\n";
  changed.replace(changed.find(line), line.size(), line.substr(0, line.size() - 1) + " by " + writer + "\n");
  return changed;
}

void do_act(const Act& act, const fs::path& root, const std::string& writer) {
  const fs::path path = root / act.path;
  switch (act.kind) {
    case Kind::edit: return put_text(path, edited_by(text_of(path), writer));
    case Kind::save:
      put_text(root / "save.tmp", edited_by(text_of(path), writer));
      return fs::rename(root / "save.tmp", path);
    case Kind::write: return put_text(path, "a new text by " + writer + "\n");
    case Kind::remove: fs::remove_all(path); return;
    case Kind::move: fs::create_directories((root / act.to).parent_path()); return fs::rename(path, root / act.to);
    case Kind::link: fs::remove(path); return fs::create_symlink("nowhere.md", path);
    case Kind::set_off:
      fs::rename(path, root / "t.tmp");
      fs::create_directories(path);
      return fs::rename(root / "t.tmp", path / act.to);
  }
}

/// Whether one change can follow the other: neither uses a name that the other has taken.
bool fit(const CompoundChange& one, const CompoundChange& other) {
  std::set<std::string> taken = {note, list};
  for (const CompoundChange* change : {&one, &other}) {
    for (const Act& act : change->acts) {
      if (act.kind == Kind::move && !taken.insert(act.to).second) return false;
    }
  }
  return true;
}

}  // namespace

std::map<std::string, std::string> compound_start() {
  return {{note, "alpha\n"},
          {list, "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"},
          {"z.md", "nobody's business\n"}};
}

std::vector<CompoundChange> compound_changes() {
  std::vector<CompoundChange> all = {{"nothing", {}}};
  for (auto changes : {changes_of(both_of_them[0]), changes_of(both_of_them[1]), changes_of_both()}) {
    for (CompoundChange& change : changes) all.push_back(std::move(change));
  }
  return all;
}

std::vector<CompoundChange> compound_pairs() {
  std::vector<CompoundChange> all;
  for (const CompoundChange& one : changes_of(both_of_them[0])) {
    for (const CompoundChange& other : changes_of(both_of_them[1])) {
      if (!fit(one, other)) continue;
      CompoundChange pair{one.name + " | " + other.name, one.acts};
      pair.acts.insert(pair.acts.end(), other.acts.begin(), other.acts.end());
      all.push_back(std::move(pair));
    }
  }
  return all;
}

void carry_out(const CompoundChange& change, const fs::path& root, const std::string& writer) {
  for (const Act& act : change.acts) do_act(act, root, act.own ? writer : "both");
}

}  // namespace ws::property
