// Random stories: one to three folders and somebody who writes on the service change everything there is, runs bring
// all of them together, and then a run of the past is taken back in one of the folders. WS_UNDO_STORIES plays more of
// them, WS_SEED begins elsewhere.
#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>

#include "tests/support/random_cases.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::SyncedFolder;
using test::Tree;

const std::vector<std::string> names = {"a.md", "b.md", "c.md", "d.md", "deep/e.md", "deep/f.md"};

class UndoStory {
 public:
  explicit UndoStory(std::uint64_t seed) : random_(seed), folder_(remote_) {
    for (int others = between(0, 2); others > 0; --others) {
      others_.push_back(std::make_unique<SyncedFolder>(remote_, seed + static_cast<std::uint64_t>(others)));
    }
  }

  /// What is wrong; empty: nothing.
  std::string play() {
    const int rounds = between(2, 5);
    for (int i = 0; i < rounds; ++i) {
      for (int step = between(1, 5); step > 0; --step) change();
      if (auto wrong = sync(); !wrong.empty()) return wrong;
    }
    auto engine = folder_.engine();
    const auto all = engine.operations(0);
    if (!all || all->empty()) return {};
    const OperationDetails chosen = (*all)[static_cast<std::size_t>(between(0, static_cast<int>(all->size()) - 1))];
    const bool others_go_on = between(0, 2) == 0;
    if (others_go_on) {
      for (int step = between(1, 3); step > 0; --step) edit_only();
    }
    return take_back(chosen, others_go_on);
  }

  const std::string& told() const { return told_; }

 private:
  int between(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  const std::string& any_name() {
    return names[static_cast<std::size_t>(between(0, static_cast<int>(names.size()) - 1))];
  }
  std::string word() { return "w" + std::to_string(++words_) + "w"; }
  void tell(const std::string& line) { told_ += line + "\n"; }

  std::string new_text() {
    std::string text;
    for (int i = 0; i < 5; ++i) text += "line " + std::to_string(i) + " " + word() + "\n\n";
    return text;
  }

  /// One of its lines gets another word.
  std::string edited(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    if (lines.empty()) return new_text();
    const int place = between(0, 4) * 2;
    if (place < static_cast<int>(lines.size())) lines[static_cast<std::size_t>(place)] += " " + word();
    std::string out;
    for (const std::string& line : lines) out += line + "\n";
    return out;
  }

  /// The folder that the next change is made in.
  SyncedFolder& any_folder(std::string& shown) {
    const int which = between(0, static_cast<int>(others_.size()));
    shown = which == 0 ? "here" : "other " + std::to_string(which);
    return which == 0 ? folder_ : *others_[static_cast<std::size_t>(which) - 1];
  }

  void edit_here(const std::string& name) {
    std::string shown;
    SyncedFolder& folder = any_folder(shown);
    if (const auto text = folder.read(name)) folder.write(name, edited(*text));
    tell(shown + ": edit " + name);
  }
  void edit_there(const std::string& name) {
    if (const auto text = remote_.text_at(name)) remote_.edit(name, edited(*text));
    tell("there: edit " + name);
  }
  void edit_only() { between(0, 1) == 0 ? edit_here(any_name()) : edit_there(any_name()); }

  void move_here(const std::string& from, const std::string& to) {
    namespace fs = std::filesystem;
    std::string shown;
    const SyncedFolder& folder = any_folder(shown);
    if (!folder.read(from) || from == to) return;
    fs::create_directories((folder.path() / to).parent_path());
    if (folder.read(to)) {
      fs::rename(folder.path() / to, folder.path() / "swap");
      fs::rename(folder.path() / from, folder.path() / to);
      fs::rename(folder.path() / "swap", folder.path() / from);
    } else {
      fs::rename(folder.path() / from, folder.path() / to);
    }
    tell(shown + ": move " + from + " " + to);
  }

  void change() {
    const std::string& name = any_name();
    std::string shown;
    switch (between(0, 9)) {
      case 0:
      case 1: {
        SyncedFolder& folder = any_folder(shown);
        if (!folder.read(name)) folder.write(name, new_text());
        tell(shown + ": make " + name);
        return;
      }
      case 2: return edit_here(name);
      case 3: return edit_there(name);
      case 4: {
        SyncedFolder& folder = any_folder(shown);
        if (folder.read(name)) folder.remove(name);
        tell(shown + ": remove " + name);
        return;
      }
      case 5:
        if (remote_.text_at(name)) remote_.archive(name);
        tell("there: archive " + name);
        return;
      case 6:
        if (!remote_.text_at(name)) remote_.create(name, new_text());
        tell("there: make " + name);
        return;
      case 7: return move_here(name, any_name());
      case 8: {
        const std::string& to = any_name();
        if (remote_.text_at(name) && !remote_.text_at(to)) remote_.move(name, to);
        tell("there: move " + name + " " + to);
        return;
      }
      default: edit_here(name);
    }
  }

  /// Until all sides are the same: conflicts are decided at random.
  std::string sync() {
    for (int i = 0; i < 6; ++i) {
      bring_together(folder_);
      for (const auto& other : others_) bring_together(*other);
      if (are_alike()) return {};
    }
    std::string apart = "the sides do not come to agree";
    const auto add = [&apart](const Tree& tree, const std::string& side) {
      for (const auto& [path, text] : tree) apart += "\n" + side + " " + path + ": " + text;
    };
    add(folder_.tree(), "here");
    for (const auto& other : others_) add(other->tree(), "other");
    add(remote_.tree(), "there");
    for (const std::string& line : test::lines(folder_.status())) apart += "\n" + line;
    return apart;
  }

  void bring_together(SyncedFolder& folder) {
    const auto keep = between(0, 1) == 0 ? Keep::local : Keep::remote;
    folder.run({.on_conflict = keep, .allow_deletes = true});
    auto engine = folder.engine();
    const auto open = engine.conflicts();
    for (const Conflict& conflict : *open) static_cast<void>(engine.resolve(conflict, keep));
  }

  bool are_alike() {
    const Tree there = remote_.tree();
    return folder_.tree() == there &&
           std::ranges::all_of(others_, [&](const auto& other) { return other->tree() == there; });
  }

  static std::set<std::string> words_of(const Tree& tree) {
    std::set<std::string> words;
    for (const auto& [path, text] : tree) {
      std::istringstream in(text);
      for (std::string word; in >> word;) words.insert(word);
    }
    return words;
  }

  static bool is(const Tree& tree, const std::optional<Version>& version) {
    if (!version) return true;
    const auto file = tree.find(version->path.string());
    return file != tree.end() && Sha256::of(file->second) == version->hash;
  }

  std::string take_back(const OperationDetails& run, bool others_go_on) {
    const Tree here = folder_.tree();
    const Tree there = remote_.tree();
    tell("undo " + std::to_string(run.operation.id));
    const auto place = [](const std::optional<Version>& one) {
      return one ? one->path.string() + " " + one->hash.hex().substr(0, 6) : "nothing";
    };
    for (const OperationRow& row : run.rows) {
      if (row.changes()) tell("  " + place(row.before) + " became " + place(row.after));
    }
    const bool is_cut = between(0, 2) == 0;
    UndoReport undone;
    if (auto wrong = is_cut ? cut_and_finish(run.operation.id, undone) : undo(run.operation.id, undone); !wrong.empty())
      return wrong;
    const Tree after = folder_.tree();
    // Nobody's word that came after the run is lost, neither here nor on the service.
    std::set<std::string> owed = words_of(here);
    owed.merge(words_of(there));
    for (const auto& other : others_) owed.merge(words_of(other->tree()));
    for (const OperationRow& row : run.rows) {
      for (const auto* side : {&row.after, &row.before}) {
        if (!*side) continue;
        auto engine = folder_.engine();
        const auto text = engine.text((*side)->blob);
        if (!text) return "the text of " + (*side)->path.string() + " is not in the history";
        if (row.changes() && side == &row.after) {
          for (const std::string& word : words_of({{"", *text}})) owed.erase(word);
        }
      }
    }
    std::set<std::string> there_now = words_of(after);
    there_now.merge(words_of(remote_.tree()));
    for (const auto& other : others_) there_now.merge(words_of(other->tree()));
    for (const std::string& each : owed) {
      if (!there_now.contains(each)) return "lost: " + each;
    }
    if (others_go_on) return come_to_rest();
    for (const auto& [path, text] : after) tell("after the undo " + path + " " + Sha256::of(text).hex().substr(0, 6));
    const bool is_first = run.operation.is_first;
    // A decision that is taken back: each side has its own again, and neither the text of the other.
    const Tree there_after = remote_.tree();
    for (const Conflict& each : undone.report.conflicts) {
      const std::string path = each.path.string();
      const auto text_in = [&path](const Tree& tree) {
        const auto file = tree.find(path);
        return file == tree.end() ? std::optional<std::string>() : std::optional(file->second);
      };
      const bool was_for_theirs =
          text_in(there) == text_in(there_after) && std::ranges::any_of(run.rows, [&](const OperationRow& row) {
            return row.before && row.before->path.string() == path ? is(after, row.before) : !text_in(after);
          });
      if (text_in(here) && text_in(after) != text_in(here) && !was_for_theirs)
        return "the undo of a decision changed " + path;
    }
    if (!undone.report.conflicts.empty()) return come_to_rest();
    if (!is_first && after != remote_.tree()) return "the undo left both sides apart";
    if (auto wrong = is_first ? has_each_its_own(run, here, after, undone) : is_as_before(run, here, after, undone);
        !wrong.empty())
      return wrong;
    // A run brings together again what the undo of the first one parted.
    if (!is_first) {
      if (auto wrong = come_to_rest(); !wrong.empty()) return wrong;
    }
    if (undone.report.rows.empty()) return {};
    UndoReport again;
    tell("redo");
    auto engine = folder_.engine();
    auto redone = engine.undo({.redo = true, .allow_deletes = true});
    if (!redone) return redone.error().what;
    if (folder_.tree() != here || remote_.tree() != here) return "the redo is not as before the undo";
    return {};
  }

  /// What the first run sent is here alone, what it received there alone, where nobody changed it since.
  std::string has_each_its_own(const OperationDetails& run,
                               const Tree& before,
                               const Tree& after,
                               const UndoReport& undone) {
    std::set<std::string> left;
    for (const LeftAlone& each : undone.left) left.insert(each.path.string());
    const Tree there = remote_.tree();
    for (const OperationRow& row : run.rows) {
      if (row.before || !row.after || left.contains(row.after->path.string()) || !is(before, row.after)) continue;
      const bool was_here = row.origins.has(ChangeOrigin::sent);
      if (is(after, row.after) != was_here) return "here: " + row.after->path.string();
      if (is(there, row.after) == was_here) return "there: " + row.after->path.string();
    }
    return {};
  }

  /// Each document of the run that nobody changed since is as before it; the others are listed.
  std::string is_as_before(const OperationDetails& run,
                           const Tree& before,
                           const Tree& after,
                           const UndoReport& undone) {
    std::set<std::string> left;
    for (const LeftAlone& each : undone.left) left.insert(each.path.string());
    for (const OperationRow& row : run.rows) {
      if (!row.changes()) continue;
      const std::string path = (row.before ? row.before : row.after)->path.string();
      const bool untouched = row.after ? is(before, row.after) : !before.contains(path);
      const bool is_done = row.before ? is(after, row.before) : true;
      const bool is_gone = row.before || !is(after, row.after) || is_before_of_another(run, row);
      if (!untouched || (is_done && is_gone)) continue;
      if (!left.contains(path)) return "not taken back: " + path;
      const bool is_blocked = row.before && row.after && row.before->path != row.after->path;
      const bool is_taken = row.before && (before.contains(path) || after.contains(path)) &&
                            !(row.after && row.after->path == row.before->path);
      if (!is_blocked && !is_taken && !moved_since(row)) return "left without need: " + path;
    }
    return {};
  }

  /// Whether another document had that name and text before the run.
  static bool is_before_of_another(const OperationDetails& run, const OperationRow& row) {
    return std::ranges::any_of(run.rows, [&](const OperationRow& other) {
      return other.before && other.before->path == row.after->path && other.before->hash == row.after->hash;
    });
  }

  /// Whether the document that the run left there is another one by now.
  bool moved_since(const OperationRow& row) {
    return row.after && remote_.id_at(row.after->path.string()) != row.document;
  }

  void tell_undo(const UndoReport& undone) {
    for (const auto& line : test::lines(undone.report)) tell("did " + line);
    for (const auto& each : undone.left) tell("left " + each.path.string() + ": " + std::string(each.why));
  }

  std::string undo(std::uint64_t id, UndoReport& undone) {
    auto engine = folder_.engine();
    auto done = engine.undo({.operation = id, .allow_deletes = true});
    if (!done) return "undo: " + done.error().what;
    tell_undo(*done);
    if (done->report.ended_by) return "undo: " + done->report.ended_by->what;
    undone = std::move(*done);
    return {};
  }

  /// A request fails, before or after it took effect; the same command again finishes it.
  std::string cut_and_finish(std::uint64_t id, UndoReport& undone) {
    int left = between(1, 6);
    const bool after_effect = between(0, 1) == 0;
    remote_.fault = [&left, after_effect](const std::string&, bool after) -> std::optional<Failure> {
      if (after != after_effect || --left > 0) return std::nullopt;
      return Failure{.kind = Failure::Kind::unreachable, .what = "cut"};
    };
    {
      auto engine = folder_.engine();
      auto cut = engine.undo({.operation = id, .allow_deletes = true});
      if (cut) {
        tell_undo(*cut);
        undone = std::move(*cut);
      }
      tell("cut with " + std::to_string(left) + " left");
    }
    remote_.fault = {};
    const std::vector<LeftAlone> left_before = undone.left;
    const std::vector<Conflict> open_before = undone.report.conflicts;
    if (auto wrong = undo(id, undone); !wrong.empty()) return wrong;
    undone.left.insert(undone.left.end(), left_before.begin(), left_before.end());
    undone.report.conflicts.insert(undone.report.conflicts.end(), open_before.begin(), open_before.end());
    auto engine = folder_.engine();
    const auto all = engine.operations(0);
    const auto count = std::ranges::count_if(*all, [&](const auto& each) { return each.operation.undoes == id; });
    return count <= 1 ? "" : "one undo is recorded as " + std::to_string(count);
  }

  std::string come_to_rest() {
    if (auto wrong = sync(); !wrong.empty()) return wrong;
    const Report idle = folder_.run({.allow_deletes = true});
    return idle.operation ? "a run that does nothing records something" : "";
  }

  std::mt19937_64 random_;
  FakeRemote remote_;
  SyncedFolder folder_;  ///< whose run is taken back
  std::vector<std::unique_ptr<SyncedFolder>> others_;
  unsigned words_ = 0;
  std::string told_;
};

}  // namespace

TEST_CASE("undo: random stories, and a run of them taken back", "[sync-engine][undo][stories]") {
  const std::uint64_t first = ws::test::number_from_environment("WS_SEED", 20261123);
  const std::uint64_t stories = ws::test::number_from_environment("WS_UNDO_STORIES", 100);
  for (std::uint64_t seed = first; seed < first + stories; ++seed) {
    UndoStory story(seed);
    std::string wrong;
    try {
      wrong = story.play();
    } catch (const std::exception& error) {
      wrong = std::string("exception: ") + error.what();
    }
    INFO("WS_SEED=" << seed << " WS_UNDO_STORIES=1\n" << story.told());
    REQUIRE(wrong == "");
  }
}

}  // namespace ws::sync
