#include "tests/property/promises.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "api-client/base/random.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "tests/property/bound_folder.hpp"
#include "tests/property/folder.hpp"
#include "tests/property/invariants.hpp"
#include "tests/property/kill_at_step.hpp"
#include "tests/property/service.hpp"

namespace ws::property {
namespace {

namespace fs = std::filesystem;
using Tree = std::map<std::string, std::string>;

/// What happens to an entry on one side.
enum class Change : std::uint8_t { none, edited, saved, removed, moved, moved_and_edited, touched, folder, link, made };

// What an edit may change of a note; after these come the targets of its links.
enum Piece : std::size_t { stamp, tags, top, first_word, last_word, bottom, line_end, last_end, pieces };

/// A note in pieces: two edits of different pieces merge, and two of one piece do not.
struct Note {
  std::vector<std::string> parts = {};
  bool has_matter = false;
  unsigned style = 0;     ///< of its links
  std::string code = {};  ///< a path that only code names: no link
  bool operator==(const Note&) const = default;
};

/// An entry in one tree.
struct State {
  std::string path = {};
  Note note = {};
  std::string bytes = {};  ///< of a picture
  bool operator==(const State&) const = default;
};

struct Entry {
  unsigned number = 0;
  bool is_picture = false;
  bool is_index = false;
  std::optional<State> base = {};
  std::optional<State> here = {};
  std::optional<State> there = {};
  Change change_here = Change::none;
  Change change_there = Change::none;
  std::string child_here = {};  ///< the text of the only file where it became a folder
  std::string child_there = {};
  unsigned mode = 0;
  std::string document = {};  ///< once all agreed on it
};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string relative_to(const std::string& note, const std::string& target) {
  const std::string own = folder_of(note);
  if (!own.empty() && target.starts_with(own)) return target.substr(own.size());
  return (own.empty() ? "" : "../") + target;
}

std::string link_to(unsigned style, const std::string& note, const std::string& target) {
  const std::string way = relative_to(note, target);
  const std::string mark = target.ends_with(".md") ? "" : "!";
  switch (style % 8) {
    case 0: return fmt::format("{}[a](/{})\n", mark, target);
    case 1: return fmt::format("{}[a]({})\n", mark, way);
    case 2: return fmt::format("{}[a](<{}> \"a title\")\n", mark, way);
    case 3: return fmt::format("[a]({}#last)\n", way);
    case 4: return fmt::format("[[{}]]\n", target);
    case 5: return mark.empty() ? fmt::format("<a href=\"{}\">a</a>\n", way) : fmt::format("<img src=\"{}\">\n", way);
    case 6: return fmt::format("{}[[{}|300]]\n", mark, target);
    default: return fmt::format("[a](./{})\n", way);
  }
}

std::string render(const Note& note, const std::string& path) {
  const std::vector<std::string>& parts = note.parts;
  std::string text;
  if (note.has_matter) text += fmt::format("---\nupdated: {}\nowner: all\ntags: {}\n---\n", parts[stamp], parts[tags]);
  text += fmt::format("# {}\n\n", parts[top]);
  text += fmt::format("{} and these are words that stay {}\n\n", parts[first_word], parts[last_word]);
  for (std::size_t i = pieces; i < parts.size(); ++i)
    text += link_to(note.style + static_cast<unsigned>(i), path, parts[i]) + "\n";
  if (!note.code.empty()) text += fmt::format("```\n[a](/{})\n```\n\n`[a](/{})`\n\n", note.code, note.code);
  text += "last " + parts[bottom];
  text += parts[last_end];
  if (parts[line_end] == "\n") return text;
  std::string other;
  for (const char c : text) other += c == '\n' ? parts[line_end] : std::string(1, c);
  return other;
}

std::string text_of(const State& state) { return state.bytes.empty() ? render(state.note, state.path) : state.bytes; }

/// Piece by piece; empty: both changed one of them differently.
std::optional<Note> merged(const Note& base, const Note& here, const Note& there) {
  Note both = here;
  for (std::size_t i = 0; i < base.parts.size(); ++i) {
    const std::string& ours = here.parts[i];
    const std::string& theirs = there.parts[i];
    if (ours == theirs || theirs == base.parts[i]) continue;
    if (ours != base.parts[i] && i != stamp) return std::nullopt;
    both.parts[i] = ours == base.parts[i] ? theirs : std::max(ours, theirs);
  }
  return both;
}

/// What a run must lead to.
struct Ends {
  Tree disk = {};    ///< notes, pictures, and all else that is not hidden
  Tree notes = {};   ///< on the service
  Tree listed = {};  ///< hashes
  Tree files = {};   ///< by their path afterwards: the path of the file before, whose mode they have
  std::set<std::string> conflicts = {};
  std::set<std::string> untouched = {};         ///< paths here that keep every fact
  std::set<std::string> still = {};             ///< and paths there that keep their revision
  std::map<std::string, std::string> ids = {};  ///< documents that stay, by their path
  std::set<std::string> changed = {};           ///< paths of what a run changed: each has a row in its operation
  std::set<std::string> detached = {};          ///< told by each run
  bool is_clean = true;
};

std::string beside(const std::string& path, const char* side) {
  const std::size_t dot = path.rfind('.');
  return path.substr(0, dot) + " (" + side + ")" + path.substr(dot);
}

std::string hash_of(const std::string& bytes) { return Sha256::of(bytes).hex(); }

void put_there(const Entry& entry, const State& state, bool is_new, Ends& ends) {
  if (entry.is_picture) {
    ends.listed[utf8::nfc(state.path)] = hash_of(text_of(state));
    return;
  }
  const std::string path = utf8::nfc(state.path);
  ends.notes[path] = text_of(state);
  if (!is_new && !entry.document.empty()) ends.ids[path] = entry.document;
  if (!is_new && entry.there && entry.there->path == path && text_of(*entry.there) == text_of(state))
    ends.still.insert(path);
}

void put_here(const Entry& entry, const State& state, Ends& ends) {
  ends.disk[state.path] = text_of(state);
  const bool is_anew = entry.is_picture && entry.change_there == Change::moved_and_edited;
  if (entry.here && !is_anew) ends.files[utf8::nfc(state.path)] = entry.here->path;
  if (entry.here && entry.here->path == state.path && text_of(*entry.here) == text_of(state))
    ends.untouched.insert(state.path);
}

void put_conflict(const Entry& entry, const char* kind, const std::string& path, Ends& ends) {
  ends.conflicts.insert(std::string(entry.is_picture ? "attachment" : kind) + " " + utf8::nfc(path));
  ends.is_clean = false;
  if (entry.here) put_here(entry, *entry.here, ends);
  if (entry.there) put_there(entry, *entry.there, false, ends);
}

void put_both(const Entry& entry, const State& state, bool is_new, Ends& ends) {
  put_here(entry, state, ends);
  put_there(entry, state, is_new, ends);
  const bool same_here = entry.here && entry.here->path == state.path && text_of(*entry.here) == text_of(state);
  const bool same_there =
      entry.there && entry.there->path == utf8::nfc(state.path) && text_of(*entry.there) == text_of(state);
  if (!same_here || !same_there) ends.changed.insert(utf8::nfc(state.path));
}

/// The file, or the document, became a folder with one file in it.
void expect_folders(const Entry& entry, bool accepts_deletes, Ends& ends) {
  const std::string child = entry.base->path + "/x.md";
  if (entry.change_here == Change::folder) {
    ends.disk[child] = entry.child_here;
    ends.notes[utf8::nfc(child)] = entry.child_here;
    ends.changed.insert(child);
    const bool stays = entry.there && entry.there->path == utf8::nfc(entry.base->path);
    if (accepts_deletes && entry.there) {
      ends.changed.insert(child);
    } else if (stays && text_of(*entry.there) != text_of(*entry.base)) {  // TE
      ends.conflicts.insert("revision " + utf8::nfc(entry.base->path));
      ends.is_clean = false;
      put_there(entry, *entry.there, false, ends);
      ends.disk[beside(entry.base->path, "remote")] = text_of(*entry.there);
      ends.changed.insert(entry.base->path);
    } else if (entry.there && !stays) {  // TM
      put_both(entry, *entry.there, false, ends);
    } else if (entry.there) {  // TU
      ends.changed.insert(entry.base->path);
    }
    return;
  }
  ends.disk[child] = entry.child_there;
  ends.notes[utf8::nfc(child)] = entry.child_there;
  ends.still.insert(utf8::nfc(child));
  ends.changed.insert(child);
  if (entry.here && entry.here->path != entry.base->path) {  // MT
    put_conflict(entry, "path", entry.here->path, ends);
  } else if (entry.here && text_of(*entry.here) != text_of(*entry.base)) {  // ET
    State copy = *entry.here;
    const std::string text = text_of(copy);
    copy.path = beside(copy.path, "local");
    ends.disk[copy.path] = text;
    ends.notes[utf8::nfc(copy.path)] = text;
    ends.changed.insert(copy.path);
  } else if (entry.here) {
    ends.changed.insert(entry.base->path);
  }
}

/// `is_veiled`: a rule left the entry out when it changed.
void expect(const Entry& entry, bool accepts_deletes, bool is_veiled, Ends& ends) {
  if (entry.change_here == Change::folder || entry.change_there == Change::folder)
    return expect_folders(entry, accepts_deletes, ends);
  if (entry.change_here == Change::link) {  // TL
    if (entry.there) put_there(entry, *entry.there, false, ends);
    ends.disk[entry.base->path] = "nowhere";
    ends.untouched.insert(entry.base->path);
    ends.detached.insert(utf8::nfc(entry.base->path));
    return;
  }
  const std::optional<State>& base = entry.base;
  const std::optional<State>& here = entry.here;
  const std::optional<State>& there = entry.there;
  if (!here && !there) return;
  if (is_veiled && base && !here) return put_both(entry, *there, false, ends);
  if (is_veiled && base && !there) {  // kept, and told
    put_here(entry, *here, ends);
    if (!entry.is_picture) ends.detached.insert(utf8::nfc(here->path));
    return;
  }
  if (!base) {
    if (!here || !there) return put_both(entry, here ? *here : *there, !there, ends);
    if (text_of(*here) == text_of(*there)) return put_both(entry, *here, false, ends);
    put_conflict(entry, "hash", here->path, ends);
    if (entry.is_picture) ends.disk[beside(here->path, "remote")] = text_of(*there);
    return;
  }
  if (!here) {
    if ((there->path == utf8::nfc(base->path) && text_of(*there) == text_of(*base)) || accepts_deletes) {
      ends.changed.insert(entry.is_picture ? there->path : base->path);
      return;
    }
    return put_both(entry, *there, false, ends);
  }
  if (!there) {
    if (text_of(*here) != text_of(*base)) return put_conflict(entry, "edit_delete", here->path, ends);
    if (here->path == base->path || accepts_deletes) {
      ends.changed.insert(base->path);
      return;
    }
    return put_both(entry, *here, true, ends);
  }
  const bool moved_there = there->path != utf8::nfc(base->path);
  const bool clash = here->path != base->path && moved_there && utf8::nfc(here->path) != there->path;
  if (clash) {
    put_conflict(entry, "path", here->path, ends);
    if (entry.is_picture) ends.conflicts.erase("attachment " + utf8::nfc(here->path));
    ends.conflicts.insert("path " + utf8::nfc(here->path));
    return;
  }
  State both = moved_there && here->path == base->path ? *there : *here;
  if (entry.is_picture) {
    both.bytes = here->bytes == base->bytes ? there->bytes : here->bytes;
    if (here->bytes != base->bytes && there->bytes != base->bytes && here->bytes != there->bytes) {
      put_conflict(entry, "attachment", here->path, ends);
      ends.disk[beside(here->path, "remote")] = there->bytes;
      return;
    }
  } else {
    const auto note = merged(base->note, here->note, there->note);
    if (!note) return put_conflict(entry, "revision", here->path, ends);
    both.note = *note;
  }
  put_both(entry, both, false, ends);
}

/// How the story goes, by its seed.
struct Course {
  enum class First { none, look, pull, push, viewer, hold, only, killed, cut, veiled } first = First::none;
  bool keeps_links = false;
  bool takes_all = false;
  bool renames_folder = false;
  bool accepts_deletes = false;
  bool has_third = false;
  bool is_undone = false;
  unsigned after = 0;
};

Course course_of(std::uint64_t seed) {
  SeededRandom random(SeededRandom(seed ^ 0x9e3779b97f4a7c15U).next());
  Course course;
  constexpr std::array firsts = {Course::First::none,
                                 Course::First::none,
                                 Course::First::none,
                                 Course::First::none,
                                 Course::First::look,
                                 Course::First::pull,
                                 Course::First::push,
                                 Course::First::viewer,
                                 Course::First::hold,
                                 Course::First::only,
                                 Course::First::killed,
                                 Course::First::killed,
                                 Course::First::killed,
                                 Course::First::cut,
                                 Course::First::veiled,
                                 Course::First::veiled,
                                 Course::First::veiled};
  course.first = firsts[random.below(firsts.size())];
  course.keeps_links = random.below(2) == 0;
  course.takes_all = random.below(2) == 0;
  course.renames_folder = random.below(4) == 0;
  course.accepts_deletes = random.below(8) == 0;
  course.has_third = random.below(4) == 0;
  course.is_undone = random.below(2) == 0;
  course.after = static_cast<unsigned>(random.below(1000));
  return course;
}

class Promised {
 public:
  Promised(std::uint64_t seed, std::string& log) : course_(course_of(seed)), seed_(seed), log_(log) {
    const std::size_t count = course_.has_third ? 3 : 2;
    for (std::size_t i = 0; i < count; ++i) {
      places_.push_back(std::make_unique<BoundFolder>(service_, seed * 16 + i));
      places_.back()->configure("attachments: all\nlinks: report\n");
    }
    here().configure(fmt::format(
        "attachments: {}\nlinks: {}\n", course_.takes_all ? "all" : "linked", course_.keeps_links ? "keep" : "report"));
  }

  std::string play(const Script& script) {
    for (const Step& step : script) add(step);
    add_index();
    if (std::string wrong = agree(); !wrong.empty()) return "agreeing: " + wrong;
    if (course_.first == Course::First::veiled) Folder(here().root(), {}).write(".wsignore", "h/\n");
    for (std::size_t i = 0; i < script.size(); ++i) change(entries_[i], script[i]);
    rename_folder();
    carry_links();
    if (std::string wrong = act_there(); !wrong.empty()) return wrong;
    act_here();
    for (const Entry& entry : entries_) expect(entry, course_.accepts_deletes, is_veiled(entry), ends_);
    if (has_strangers()) expect_strangers();
    if (!carried_.empty()) {
      ends_.untouched.erase("index.md");
      ends_.changed.insert("index.md");
    }
    tell(fmt::format("  links {}, attachments {}, folder {}, first {}, accepts deletes {}, undone {}",
                     course_.keeps_links ? "keep" : "report",
                     course_.takes_all ? "all" : "linked",
                     course_.renames_folder ? "k renamed" : "-",
                     static_cast<int>(course_.first),
                     course_.accepts_deletes,
                     course_.is_undone));
    before_ = look(here(), service_);
    if (std::string wrong = first_command(); !wrong.empty()) return wrong;
    if (std::string wrong = final_run(); !wrong.empty()) return wrong;
    if (std::string wrong = rests(); !wrong.empty()) return wrong;
    if (std::string wrong = history_remembers(); !wrong.empty()) return wrong;
    if (course_.is_undone && can_undo()) {
      if (std::string wrong = undo_and_redo(); !wrong.empty()) return wrong;
    } else if (std::string wrong = decide_all(); !wrong.empty()) {
      return wrong;
    }
    if (std::string wrong = nothing_left_unwished(); !wrong.empty()) return wrong;
    return others_follow();
  }

 private:
  BoundFolder& here() { return *places_[0]; }
  BoundFolder& there() { return *places_[1]; }
  void tell(const std::string& line) { log_ += line + "\n"; }
  std::string word() { return fmt::format("u{}", ++words_); }
  std::string long_word(const char* kind) {
    ++words_;
    return fmt::format("{} {}{} {}", kind, kind, words_, words_ * 7919 % 1000);
  }

  void add(const Step& step) {
    Entry entry;
    entry.number = static_cast<unsigned>(entries_.size());
    entry.is_picture = step.who % 3 == 0;
    constexpr std::array folders = {"", "g/", "k/", "k/", "h/"};
    constexpr std::array kinds = {".png", ".png", ".pdf", ".txt", ".CSV"};
    const std::size_t folder =
        course_.first == Course::First::veiled && step.who % 2 == 0 ? 4 : step.how % folders.size();
    State state;
    // Not of pictures: what a decision about one with such a name does is not mended yet.
    const std::string accent = step.who % 7 == 1 && !entry.is_picture ? "e\u0301" : "";
    state.path = fmt::format("{}{}{}{}{}",
                             folders[folder],
                             "abcdefghijklmnopqrstuvwxyz"[entry.number % 26],
                             accent,
                             entry.number,
                             entry.is_picture ? kinds[step.how / 5 % kinds.size()] : ".md");
    if (entry.is_picture) {
      // Some have equal bytes.
      state.bytes = step.who % 4 == 0 && step.what % 4 == 0 ? "the same bytes\n" : "bytes " + word() + "\n";
    } else {
      state.note = new_note(step);
    }
    constexpr std::array modes = {0644U, 0644U, 0600U, 0755U};
    entry.mode = modes[step.who / 16 % modes.size()];
    if (entry.is_picture && !state.path.ends_with(".png") && !state.path.ends_with(".pdf")) entry.mode = 0644;
    entry.base = state;
    entries_.push_back(entry);
  }

  Note new_note(const Step& step) {
    Note note;
    note.has_matter = step.who % 2 == 0;
    note.style = step.who / 8U;
    note.parts = {fmt::format("2026-01-{:02}", 1 + step.how % 9),
                  word(),
                  long_word("title"),
                  word() + word(),
                  word() + word(),
                  long_word("line"),
                  step.who % 5 == 0 ? "\r\n" : "\n",
                  step.who % 11 == 0 ? "" : "\n"};
    return note;
  }

  /// A note that links to everything, so that every picture is shown.
  void add_index() {
    Entry entry;
    entry.number = static_cast<unsigned>(entries_.size());
    entry.is_index = true;
    State state;
    state.path = "index.md";
    state.note = new_note({.who = static_cast<std::uint8_t>(course_.after), .how = 1});
    for (const Entry& each : entries_) {
      if (each.is_picture || each.number % 3 == 0) {
        // Some of them twice, in two styles.
        for (unsigned links = each.number % 4 == 0 ? 2 : 1; links > 0; --links) {
          state.note.parts.push_back(each.base->path);
          linked_.push_back(each.number);
        }
      }
    }
    if (course_.after % 2 == 0 && !linked_.empty()) state.note.code = state.note.parts[pieces];
    entry.mode = 0644;
    entry.base = state;
    entries_.push_back(entry);
  }

  static bool is_made(const Step& step) { return static_cast<Change>(step.what % 10) == Change::made; }
  bool is_linked(const Entry& entry) const {
    return std::find(linked_.begin(), linked_.end(), entry.number) != linked_.end();
  }

  std::string agree() {
    const Folder folder(here().root(), {});
    for (const Entry& entry : entries_) {
      folder.write(entry.base->path, text_of(*entry.base));
      fs::permissions(here().root() / entry.base->path, fs::perms(entry.mode));
    }
    for (const auto& place : places_) {
      if (std::string wrong = run_other(*place); !wrong.empty()) return wrong;
    }
    for (Entry& entry : entries_) {
      entry.here = entry.there = entry.base;
      entry.there->path = utf8::nfc(entry.base->path);
      if (entry.is_picture) continue;
      const auto id = service_.find(utf8::nfc(entry.base->path));
      if (!id) return "a note was not sent: " + entry.base->path;
      entry.document = *id;
    }
    return {};
  }

  std::string run_other(BoundFolder& place) {
    Order order;
    order.options.allow_deletes = true;
    const auto report = place.carry_out(order);
    if (!report) return "another folder's run failed: " + report.error().what;
    if (!report->clean) return "another folder's run is not clean";
    return {};
  }

  /// The two changes of one entry.
  void change(Entry& entry, const Step& step) {
    if (entry.is_index) return;
    entry.change_here = static_cast<Change>(step.what % 10);
    entry.change_there = static_cast<Change>(step.where % 10);
    const auto plain = [&](Change& change, Change other) {
      if (entry.is_picture && (change == Change::folder || change == Change::link)) change = other;
      if (is_linked(entry) && change == Change::made) change = other;
    };
    plain(entry.change_here, Change::edited);
    plain(entry.change_there, Change::edited);
    if (entry.change_there == Change::link) entry.change_there = Change::edited;
    if (entry.change_here == Change::link && entry.change_there == Change::folder) entry.change_there = Change::none;
    // Where the conflict is known before the child is sent, the child is refused.
    if (entry.change_here == Change::folder && !recorded()) entry.change_there = Change::none;
    // Killed between the copy and its commit, the copy is a conflict.
    if (entry.change_there == Change::folder && course_.first == Course::First::killed)
      entry.change_here = Change::none;
    if (is_veiled(entry)) {
      // Half of what is out of sight is removed on one side.
      const bool here_goes = step.who / 4U % 2 == 0;
      if (step.who / 8U % 2 == 0) entry.change_here = here_goes ? Change::removed : Change::none;
      if (step.who / 8U % 2 == 0 && !here_goes) entry.change_there = Change::removed;
      if (entry.change_here != Change::none && entry.change_here != Change::removed &&
          entry.change_here != Change::saved)
        entry.change_here = Change::edited;
      if (entry.change_there != Change::none && entry.change_there != Change::removed)
        entry.change_there = Change::edited;
      // What a person decides about it, the table does not say.
      if (entry.change_here != Change::none && entry.change_here != Change::removed &&
          entry.change_there == Change::removed)
        entry.change_there = Change::none;
    }
    // Whether links follow what is in conflict, or was archived meanwhile, is not said.
    const auto moves = [](Change change) { return change == Change::moved || change == Change::moved_and_edited; };
    if (course_.keeps_links && is_linked(entry) && moves(entry.change_here)) entry.change_there = Change::none;
    // A run that was killed does not mend the links again, and its undo forgets what made place for a folder.
    if (course_.first == Course::First::killed && course_.keeps_links && is_linked(entry) && moves(entry.change_here))
      entry.change_here = Change::edited;
    if (course_.first == Course::First::killed && entry.change_there == Change::folder)
      entry.change_there = Change::none;
    if (entry.change_there == Change::made) entry.change_there = Change::none;
    if (entry.change_here == Change::made) entry.change_here = Change::none;
    // A file and a folder of one name meet nothing else that is not in the table.
    if (entry.change_here == Change::folder && entry.change_there == Change::folder) entry.change_there = Change::none;
    const bool recases = step.who / 64U == 1;  // a disk that folds case has no room for both
    if (entry.change_there == Change::folder && moves(entry.change_here) && (recases || !recorded()))
      entry.change_here = Change::edited;
    // A picture that nothing shows any more is not sent under its new name.
    const bool follows = course_.keeps_links || course_.takes_all;
    if (entry.is_picture && !follows && entry.change_here == Change::moved) entry.change_here = Change::edited;
    if (entry.is_picture && !follows && entry.change_here == Change::moved_and_edited)
      entry.change_here = Change::saved;
    // After a run that could not send it, the rename of a picture is forgotten.
    if (entry.is_picture && course_.first == Course::First::viewer && entry.change_here == Change::moved)
      entry.change_here = Change::edited;
    if (entry.is_picture && course_.first == Course::First::viewer && entry.change_here == Change::moved_and_edited)
      entry.change_here = Change::saved;
    // Nor is it sure to be known after a run that was cut, or a part.
    if (entry.is_picture && !recorded() && entry.change_here == Change::moved) entry.change_there = Change::none;
    if (entry.is_picture && !recorded() && entry.change_here == Change::moved_and_edited)
      entry.change_here = Change::edited;
    // No record names a file that was deleted here and renamed there, and it comes back after a part.
    if (entry.is_picture && course_.accepts_deletes && entry.change_here == Change::removed)
      entry.change_there = Change::none;
    // Killed, the other side's copy of a conflict is sent, and an edit of what was renamed there is not.
    if (entry.is_picture && course_.first == Course::First::killed && entry.change_here != Change::none)
      entry.change_there = Change::none;
    // In a run with a merge, one that is shown, recased and edited is not sent.
    if (entry.is_picture && !course_.takes_all && entry.change_here == Change::moved_and_edited)
      entry.change_here = Change::saved;
    // Equal bytes in two files: which of them went where cannot be told.
    const bool is_twin = entry.is_picture && entry.base->bytes == "the same bytes\n";
    const auto no_move = [&](Change& change) {
      if (change == Change::moved || change == Change::moved_and_edited) change = Change::edited;
    };
    if (is_twin) no_move(entry.change_here);
    if (is_twin) no_move(entry.change_there);
    // The list cannot tell that a file was renamed where its bytes changed too.
    if (entry.is_picture && entry.change_here != Change::none && entry.change_there == Change::moved_and_edited)
      entry.change_there = Change::moved;
    if (entry.is_picture && entry.change_there != Change::none && entry.change_here == Change::moved_and_edited)
      entry.change_here = Change::edited;
    const bool alike = step.how % 5 == 0;
    alter(entry, entry.here, entry.change_here, step, true, alike);
    alter(entry, entry.there, entry.change_there, step, false, alike);
    constexpr std::array words = {
        "-", "edited", "saved", "removed", "moved", "moved and edited", "touched", "folder", "link", "made"};
    const auto path_of = [](const std::optional<State>& state) { return state ? state->path : std::string("gone"); };
    tell(fmt::format("  {}: here {}, {}; there {}, {}",
                     entry.base->path,
                     words[static_cast<std::size_t>(entry.change_here)],
                     path_of(entry.here),
                     words[static_cast<std::size_t>(entry.change_there)],
                     path_of(entry.there)));
    if (entry.change_here == Change::folder) entry.child_here = "child " + long_word("here") + "\n";
    if (entry.change_there == Change::folder) entry.child_there = "child " + long_word("there") + "\n";
  }

  void alter(Entry& entry, std::optional<State>& state, Change change, const Step& step, bool is_here, bool alike) {
    const std::string mark = alike ? "alike" : is_here ? "here" : "there";
    const auto edit = [&] {
      const std::string text = fmt::format("{} {}", mark, entry.number);
      if (entry.is_picture) {
        state->bytes = "other bytes " + text + "\n";
        return;
      }
      constexpr std::array edits = {top, first_word, last_word, bottom, tags, stamp, line_end, last_end};
      std::size_t which = step.how / 8U % edits.size();
      if (!is_here && !alike) which = (which + step.who / 32U) % edits.size();
      Piece piece = edits[which];
      if (!state->note.has_matter && (piece == tags || piece == stamp)) piece = bottom;
      std::string& part = state->note.parts[piece];
      if (piece == stamp) {
        part = fmt::format("2026-02-{:02}", 10 + (alike ? 0 : is_here ? step.how % 9 : step.who % 9));
      } else if (piece == line_end) {
        part = part == "\n" ? "\r\n" : "\n";
      } else if (piece == last_end) {
        part = part.empty() ? "\n" : "";
      } else {
        part = piece == first_word || piece == last_word ? mark + std::to_string(entry.number) : text + " " + part;
      }
    };
    const auto move = [&] {
      const std::string folder = step.who / 64U == 0 ? "m/" : folder_of(state->path);
      const std::string name = state->path.substr(folder_of(state->path).size());
      std::string to = folder + mark + "-" + name;
      // In a run that also merges, links do not follow a picture that is renamed in case alone.
      if (step.who / 64U == 1 && is_here && !(entry.is_picture && course_.keeps_links)) {  // in case alone
        to = state->path;
        to[folder.size()] = static_cast<char>(to[folder.size()] ^ 0x20);
      }
      state->path = to;
    };
    switch (change) {
      case Change::edited:
      case Change::saved: return edit();
      case Change::moved: return move();
      case Change::moved_and_edited: edit(); return move();
      case Change::removed:
      case Change::folder: state.reset(); return;
      case Change::none:
      case Change::touched:
      case Change::link:
      case Change::made: return;
    }
  }

  /// Everything below `k/` here comes to `kk/`.
  void rename_folder() {
    if (!course_.renames_folder) return;
    for (Entry& entry : entries_) {
      if (!entry.here || !entry.here->path.starts_with("k/")) continue;
      if (entry.change_here == Change::link || entry.change_here == Change::saved ||
          entry.change_there == Change::folder) {
        course_.renames_folder = false;
      }
      if (entry.is_picture && !course_.keeps_links && !course_.takes_all) course_.renames_folder = false;
      // The list cannot tell that a file was renamed where its bytes changed too.
      if (entry.is_picture && entry.change_there == Change::moved_and_edited) course_.renames_folder = false;
      if (entry.is_picture && differs(entry.here, entry.base) && differs(entry.there, entry.base))
        course_.renames_folder = false;
      if (course_.keeps_links && is_linked(entry) && differs(entry.there, entry.base)) course_.renames_folder = false;
      if (entry.is_picture && entry.base->bytes == "the same bytes\n") course_.renames_folder = false;
      if (entry.is_picture && course_.first == Course::First::viewer) course_.renames_folder = false;
      if (course_.first == Course::First::killed && course_.keeps_links) course_.renames_folder = false;
      if (entry.is_picture && course_.first == Course::First::cut) course_.renames_folder = false;
      if (!recorded() && course_.keeps_links && differs(entry.there, entry.base)) course_.renames_folder = false;
    }
    for (Entry& entry : entries_) {
      if (entry.change_here == Change::folder && entry.base->path.starts_with("k/")) course_.renames_folder = false;
    }
    if (!course_.renames_folder) return;
    for (Entry& entry : entries_) {
      if (entry.here && entry.here->path.starts_with("k/")) entry.here->path = "k" + entry.here->path;
    }
  }

  static bool is_recased(const std::string& one, const std::string& other) {
    return one.size() == other.size() && (one.front() ^ other.front()) == 0x20 && one.substr(1) == other.substr(1);
  }

  /// With `links: keep` the links to what was renamed here follow it.
  void carry_links() {
    if (!course_.keeps_links) return;
    const Entry& index = entries_.back();
    for (std::size_t i = 0; i < linked_.size(); ++i) {
      const Entry& target = entries_[linked_[i]];
      if (!target.here || target.here->path == target.base->path) continue;
      const unsigned style = (index.base->note.style + static_cast<unsigned>(pieces + i)) % 8;
      const bool by_name = (style == 4 || style == 6) && folder_of(target.base->path).empty();
      const std::string& path = target.here->path;
      // A name that differs in case alone still leads there.
      if (by_name && !target.is_picture && folder_of(path).empty() && is_recased(target.base->path, path)) continue;
      carried_.emplace_back(i, by_name ? path.substr(folder_of(path).size()) : path);
    }
  }

  std::string act_there() {
    const Folder folder(there().root(), {});
    std::vector<Item> items;
    for (Entry& entry : entries_) {
      if (entry.change_there == Change::none) continue;
      const bool by_disk = entry.is_picture || entry.change_there == Change::saved || entry.number % 2 == 0 ||
                           entry.change_there == Change::touched;
      if (!by_disk) {
        publish(entry, items);
        continue;
      }
      State from = *entry.base;
      from.path = utf8::nfc(from.path);
      change_disk(there(), entry, from, entry.there, entry.change_there, entry.child_there);
      if (entry.there && entry.there->path != from.path) folder.move(from.path, entry.there->path);
    }
    if (!items.empty()) service_.publish(items);
    if (has_strangers()) add_strangers();
    return run_other(there());
  }

  void publish(const Entry& entry, std::vector<Item>& items) {
    const std::string old = utf8::nfc(entry.base->path);
    if (!entry.there) {
      items.push_back({.action = "push_delete", .path = old, .document = entry.document});
      if (entry.change_there == Change::folder)
        items.push_back({.action = "push_create", .path = old + "/x.md", .text = entry.child_there});
      return;
    }
    const std::string path = utf8::nfc(entry.there->path);
    if (path != old)
      items.push_back({.action = "push_move", .path = path, .document = entry.document, .previous_path = old});
    if (text_of(*entry.there) != text_of(*entry.base))
      items.push_back(
          {.action = "push_update", .path = path, .document = entry.document, .text = text_of(*entry.there)});
  }

  static void change_disk(BoundFolder& place,
                          const Entry& entry,
                          const State& from,
                          const std::optional<State>& to,
                          Change change,
                          const std::string& child) {
    const Folder folder(place.root(), {});
    const std::string& old = from.path;
    if (change == Change::link) {
      folder.remove(old);
      fs::create_symlink("nowhere", place.root() / old);
      return;
    }
    if (change == Change::touched) {
      fs::permissions(place.root() / old, fs::perms(entry.number % 2 == 0 ? 0600 : 0640));
      return;
    }
    if (!to) {
      folder.remove(old);
      if (change == Change::folder) folder.write(old + "/x.md", child);
      return;
    }
    if (text_of(*to) != text_of(from))
      change == Change::saved ? folder.replace(old, text_of(*to)) : folder.write(old, text_of(*to));
  }

  void act_here() {
    const Folder folder(here().root(), {});
    for (Entry& entry : entries_) {
      if (entry.is_index) continue;
      change_disk(here(), entry, *entry.base, entry.here, entry.change_here, entry.child_here);
    }
    if (course_.renames_folder) folder.move("k", "kk");
    for (Entry& entry : entries_) {
      if (!entry.here || entry.change_here == Change::link) continue;
      const std::string now =
          course_.renames_folder && entry.base->path.starts_with("k/") ? "k" + entry.base->path : entry.base->path;
      if (now != entry.here->path) folder.move(now, entry.here->path);
    }
    // The links are edited by the run itself.
    Entry& index = entries_.back();
    kept_ = index.here->note;
    for (const auto& [link, path] : carried_) kept_.parts[pieces + link] = path;
    if (!carried_.empty()) index.here->note = kept_;
  }

  Order order_of_run() const {
    Order order;
    order.options.allow_deletes = true;
    order.options.accept_deletes = course_.accepts_deletes;
    return order;
  }

  /// Whatever came before it, a run ends alike.
  std::string first_command() {
    using First = Course::First;
    if (course_.first == First::none) return {};
    const Observation before = look(here(), service_);
    if (course_.first == First::veiled) return run_veiled(before);
    Order order = order_of_run();
    if (course_.first == First::look) order.kind = Order::Kind::status;
    if (course_.first == First::pull) order.kind = Order::Kind::pull;
    if (course_.first == First::push) order.kind = Order::Kind::push_and_commit;
    if (course_.first == First::viewer) order.only_reads = true;
    if (course_.first == First::hold) {
      order.options.allow_deletes = false;
      order.options.hold_deletes = true;
    }
    if (course_.first == First::only)
      order.options.only = [](const sync::RelativePath& path) { return path.string().starts_with("g/"); };
    if (course_.first == First::cut) order.fault_rate = {.seed = seed_, .one_in = 4};
    if (course_.first == First::killed) return kill_one(order);
    tell(fmt::format("  first command {}", static_cast<int>(course_.first)));
    const auto report = here().carry_out(order);
    if (course_.first == First::cut) return {};
    if (!report) return "the first command failed: " + report.error().what;
    tell_rows(*report);
    const Observation after = look(here(), service_);
    if (course_.first == First::look) return prefixed("a look: ", nothing_is_written(before, after));
    if (course_.first == First::hold) return deletes_are_bounded(before, after);
    const bool writes_there = course_.first == First::push || course_.first == First::only;
    if (!writes_there && (before.documents != after.documents || before.listed != after.listed))
      return "a command that only receives changed the service";
    return first_went(before, after);
  }

  static std::string prefixed(const std::string& prefix, const std::string& wrong) {
    return wrong.empty() ? wrong : prefix + wrong;
  }

  /// What changed on one side alone, after a command that does a part.
  std::string first_went(const Observation& before, const Observation& after) {
    using First = Course::First;
    const Tree there = service_.tree();
    for (const Entry& entry : entries_) {
      if (entry.is_index || entry.change_here == Change::link) continue;
      if (entry.change_here == Change::folder || entry.change_there == Change::folder) continue;
      const bool is_here = differs(entry.here, entry.base);
      const bool is_there = differs(entry.there, entry.base);
      const bool is_in = entry.base->path.starts_with("g/");
      bool crosses = false;
      for (const auto* const each : {&entry.here, &entry.there})
        crosses |= *each && (*each)->path.starts_with("g/") != is_in;
      if (crosses || (is_here && is_there)) continue;
      const bool wanted = course_.first != First::only || is_in;
      const bool comes = wanted && course_.first != First::push;
      const bool goes = wanted && (course_.first == First::push || course_.first == First::only);
      const std::optional<State>& disk = is_here || !comes ? entry.here : entry.there;
      if (std::string wrong = place_differs(entry, disk, after.files); !wrong.empty()) return "after a part, " + wrong;
      if (is_here && !wanted && entry.here && before.files.at(entry.here->path) != after.files.at(entry.here->path))
        return "after a part, touched: " + entry.here->path;
      if (entry.is_picture) continue;
      const std::optional<State>& sent = is_here && goes ? entry.here : entry.there;
      const auto found = after.documents.find(entry.document);
      if (!sent && found != after.documents.end()) return "after a part, still there: " + entry.base->path;
      if (!sent) continue;
      if (found == after.documents.end()) return "after a part, not there: " + sent->path;
      if (found->second.path != utf8::nfc(sent->path) || found->second.text != text_of(*sent))
        return "after a part, another document: " + sent->path;
    }
    return {};
  }

  static bool differs(const std::optional<State>& one, const std::optional<State>& other) {
    if (!one || !other) return one.has_value() != other.has_value();
    return utf8::nfc(one->path) != utf8::nfc(other->path) || text_of(*one) != text_of(*other);
  }

  std::string place_differs(const Entry& entry, const std::optional<State>& wanted, const Files& files) {
    Tree found;
    for (const auto& [path, file] : files) found[utf8::nfc(path)] = file.text;
    for (const auto* const each : {&entry.base, &entry.here, &entry.there}) {
      if (!*each) continue;
      const std::string path = utf8::nfc((*each)->path);
      if (wanted && utf8::nfc(wanted->path) == path) continue;
      if (found.contains(path)) return "too much here: " + path;
    }
    if (!wanted) return {};
    const auto file = found.find(utf8::nfc(wanted->path));
    if (file == found.end()) return "missing here: " + wanted->path;
    return file->second == text_of(*wanted) ? std::string() : "another text here: " + wanted->path;
  }

  /// What a rule leaves out: nothing that happens to it meanwhile counts, on either side.
  bool is_veiled(const Entry& entry) const {
    return course_.first == Course::First::veiled && entry.base->path.starts_with("h/");
  }
  std::string run_veiled(const Observation& before) {
    const auto report = here().carry_out(order_of_run());
    if (!report || report->ended_by) return "a run under a rule failed";
    tell_rows(*report);
    const Observation after = look(here(), service_);
    fs::remove(here().root() / ".wsignore");
    for (const Entry& entry : entries_) {
      if (!is_veiled(entry)) continue;
      if (std::string wrong = place_differs(entry, entry.here, after.files); !wrong.empty())
        return "under a rule, " + wrong;
      const std::string path = utf8::nfc(entry.base->path);
      if (entry.is_picture && before.listed.contains(path) != after.listed.contains(path))
        return "under a rule, the list: " + path;
      if (entry.is_picture) continue;
      const auto old = before.documents.find(entry.document);
      const auto now = after.documents.find(entry.document);
      const bool is_same = old == before.documents.end() ? now == after.documents.end()
                                                         : now != after.documents.end() && now->second == old->second;
      if (!is_same) return "under a rule, the service: " + path;
    }
    return {};
  }

  // Files that nobody here wished to sync, and what comes unasked.
  static constexpr const char* loose = "loose.json";
  static constexpr const char* taken = "taken.png";
  static constexpr const char* tool = "tool.sh";
  static constexpr const char* twin_here = "twin.png";  // a disk that folds case has room for one of them
  static constexpr const char* twin_there = "Twin.PNG";
  bool has_strangers() const { return !course_.takes_all && course_.after % 3 == 0; }
  void add_strangers() {
    const Folder ours(here().root(), {});
    ours.write(loose, "a secret of this folder\n");
    ours.write(taken, "bytes of this folder alone\n");
    ours.write(twin_here, "more bytes of this folder alone\n");
    const Folder theirs(there().root(), {});
    theirs.write(taken, "bytes of the other folder\n");
    theirs.write(twin_there, "more bytes of the other folder\n");
    theirs.write(tool, "#!/bin/sh\n");
    theirs.write("arrives.md", fmt::format("![a](/{}) [b]({}) [c](/{}) ![d]({})\n", taken, loose, tool, twin_there));
  }
  void expect_strangers() {
    ends_.disk[loose] = "a secret of this folder\n";
    ends_.disk[taken] = "bytes of this folder alone\n";
    ends_.disk[twin_here] = "more bytes of this folder alone\n";
    ends_.disk["arrives.md"] = ends_.notes["arrives.md"] = service_.tree().at("arrives.md");
    ends_.listed[taken] = hash_of("bytes of the other folder\n");
    ends_.listed[twin_there] = hash_of("more bytes of the other folder\n");
    ends_.listed[tool] = hash_of("#!/bin/sh\n");
    ends_.untouched.insert(loose);
    ends_.untouched.insert(taken);
    ends_.untouched.insert(twin_here);
  }
  /// What was never wished never leaves, whatever came and was taken back.
  std::string nothing_left_unwished() {
    if (!has_strangers()) return {};
    const std::set<std::string> sent = service_.asset_hashes();
    for (const char* const path : {loose, taken, twin_here}) {
      const Files files = here().files();
      const auto file = files.find(path);
      if (file == files.end()) return std::string("a file of no concern is gone: ") + path;
      if (sent.contains(hash_of(file->second.text))) return std::string("sent, though nobody here wished it: ") + path;
    }
    return here().files().contains(tool) ? "a script came unasked" : std::string();
  }

  std::string kill_one(const Order& order) {
    const bool after_places = course_.after % 3 != 0;
    const Moment moment{.count = 1 + (seed_ * 7919 + course_.after) % (after_places ? 7 : 420),
                        .after_places = after_places};
    const ChildEnd end = run_and_kill(
        moment,
        [this](const http::Request& request) { return service_.answer(request); },
        [&](Network::Exchange ask) {
          here().network().replace(std::move(ask));
          try {
            static_cast<void>(here().carry_out(order));
          } catch (const std::exception&) {
            return;
          }
        });
    tell(fmt::format("  {} at {} {}",
                     end == ChildEnd::killed ? "killed" : "lived on",
                     after_places ? "placed file" : "step",
                     moment.count));
    return {};
  }

  std::string tree_differs(const Tree& wanted, const Tree& found, const std::string& where) {
    for (const auto& [path, text] : wanted) {
      const auto now = found.find(path);
      if (now == found.end()) return fmt::format("{}: {} is missing", where, path);
      if (now->second != text)
        return fmt::format("{}: {} is\n{}\nand not\n{}", where, path, now->second.substr(0, 900), text.substr(0, 900));
    }
    for (const auto& [path, text] : found) {
      if (!wanted.contains(path)) return fmt::format("{}: {} is too much:\n{}", where, path, text.substr(0, 400));
    }
    return {};
  }

  Tree disk_of(BoundFolder& place) {
    Tree tree;
    for (const auto& [path, file] : place.files()) tree[path] = file.text;
    return tree;
  }

  static Tree composed(const Tree& tree) {
    Tree formed;
    for (const auto& [path, text] : tree) formed[utf8::nfc(path)] = text;
    return formed;
  }

  std::string sides_differ(const Ends& ends) {
    if (std::string wrong = tree_differs(composed(ends.disk), composed(disk_of(here())), "here"); !wrong.empty())
      return wrong;
    if (std::string wrong = tree_differs(ends.notes, service_.tree(), "there"); !wrong.empty()) return wrong;
    return tree_differs(ends.listed, service_.listed(), "the list");
  }

  std::string final_run() {
    const auto report = here().carry_out(order_of_run());
    if (!report) return "a run failed: " + report.error().what;
    if (report->ended_by) return "a run ended early: " + report->ended_by->what;
    tell_rows(*report);
    if (std::string wrong = sides_differ(ends_); !wrong.empty()) return "after the run, " + wrong;
    const Observation after = look(here(), service_);
    if (std::string wrong = facts_differ(before_, after); !wrong.empty()) return wrong;
    if (std::string wrong = base_is_true(after, here(), service_); !wrong.empty()) return wrong;
    std::set<std::string> open;
    for (const sync::Conflict& each : report->conflicts)
      open.insert(std::string(name(each.kind())) + " " + utf8::nfc(each.path.string()));
    if (open != ends_.conflicts)
      return fmt::format("open conflicts: {}\nnot: {}", joined(open), joined(ends_.conflicts));
    std::set<std::string> told;
    for (const sync::Detached& each : report->detached) told.insert(utf8::nfc(each.path.string()));
    if (told != ends_.detached) return fmt::format("detached: {}\nnot: {}", joined(told), joined(ends_.detached));
    if (has_strangers() && report->not_synced == 0) return "shown files that are not synced are not told";
    if (!has_strangers() && report->clean != ends_.is_clean)
      return report->clean ? "a run says it is clean" : "a run says it is not clean";
    if (recorded() || course_.first == Course::First::killed)
      return report->operation ? rows_name_all(*report->operation) : std::string();
    return {};
  }

  /// Whether all that was done since both sides agreed is one operation.
  bool recorded() const { return course_.first == Course::First::none || course_.first == Course::First::look; }
  bool can_undo() const {
    // A redo lets links follow what had come renamed.
    const bool relinks = course_.keeps_links && std::any_of(linked_.begin(), linked_.end(), [&](unsigned number) {
                           const Entry& entry = entries_[number];
                           return !entry.there || entry.there->path != utf8::nfc(entry.base->path);
                         });
    return (recorded() || course_.first == Course::First::killed) && !has_folder_beside() && !relinks;
  }
  bool has_folder_beside() const {
    return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
      return entry.change_here == Change::folder && entry.there && differs(entry.there, entry.base);
    });
  }

  /// The operation has a row of each change, and of nothing else.
  std::string rows_name_all(std::uint64_t id) {
    std::set<std::string> named;
    const auto ran = here().with_engine({}, [&](sync::SyncEngine& engine) {
      const auto details = engine.operation(id);
      if (!details) return;
      for (const sync::OperationRow& row : details->rows) {
        if (row.before) named.insert(utf8::nfc(row.before->path.string()));
        if (row.after) named.insert(utf8::nfc(row.after->path.string()));
      }
    });
    if (!ran) return "no operation";
    for (const std::string& path : ends_.changed) {
      if (!named.contains(utf8::nfc(path))) return "the record of the run does not name " + path;
    }
    for (const Entry& entry : entries_) {
      const bool is_same = !differs(entry.here, entry.base) && !differs(entry.there, entry.base);
      if (is_same && named.contains(utf8::nfc(entry.base->path)))
        return "the record of the run names what it did not change: " + entry.base->path;
    }
    return {};
  }

  /// A second run has nothing to do, and asks once.
  std::string rests() {
    Observation before = look(here(), service_);
    const std::vector<std::string> open = here().conflicts();
    const auto report = here().carry_out(order_of_run());
    if (!report) return "a second run failed: " + report.error().what;
    if (here().conflicts() != open) return "a second run has other conflicts";
    for (const sync::Row& row : report->rows) {
      if (row.action.kind != sync::ActionKind::conflict)
        return fmt::format("a second run did something: {} {}", name(row.action.kind), row.action.path.string());
    }
    if (here().network().writes() > 0) return "a second run wrote to the service";
    if (report->clean && here().network().sent().size() != 1)
      return fmt::format("a second run asked {} times", here().network().sent().size());
    Observation after = look(here(), service_);
    // After a part, or a kill, the second run may write its state once more.
    if (!report->clean || !recorded()) after.own = before.own;
    return prefixed("a second run: ", nothing_is_written(before, after));
  }

  /// Each text that was replaced or removed here, and the one that was agreed, can be brought back by its path.
  std::string history_remembers() {
    std::string wrong;
    const auto ran = here().with_engine({}, [&](sync::SyncEngine& engine) {
      for (const Entry& entry : entries_) {
        if (entry.is_picture || entry.is_index || !wrong.empty()) continue;
        for (const auto* const each : {&entry.base, &entry.here}) {
          if (!*each || (each == &entry.here && entry.change_here == Change::link)) continue;
          const std::string text = text_of(**each);
          const auto now = ends_.disk.find((*each)->path);
          if (now != ends_.disk.end() && now->second == text) continue;
          const bool lies_elsewhere =
              std::any_of(ends_.disk.begin(), ends_.disk.end(), [&](const auto& file) { return file.second == text; });
          if (lies_elsewhere) continue;
          bool is_kept = false;
          for (const auto* const one : {&entry.base, &entry.here, &entry.there}) {
            if (*one && !is_kept) is_kept = holds(engine, (*one)->path, text);
          }
          if (!is_kept && (each == &entry.base || differs(entry.here, entry.base)))
            wrong = fmt::format("the log of {} lacks its text:\n{}", entry.base->path, text);
        }
      }
    });
    return ran ? wrong : "the log failed: " + ran.error().what;
  }

  static bool holds(sync::SyncEngine& engine, const std::string& at, const std::string& text) {
    const auto path = sync::RelativePath::parse(at).value();
    const auto states = engine.log({.path = path});
    return states && std::any_of(states->begin(), states->end(), [&](const sync::HistoryState& state) {
             const auto then = engine.text_in(state.id, path);
             return then && *then == text;
           });
  }

  std::string undo_and_redo() {
    std::vector<std::string> left;
    std::string failed;
    const auto take_back = [&](bool redo) {
      const auto ran = here().with_engine({}, [&](sync::SyncEngine& engine) {
        const auto undone = engine.undo({.redo = redo, .allow_deletes = true});
        if (!undone) {
          failed = undone.error().what;
          return;
        }
        tell(fmt::format("  {} {}", redo ? "redo" : "undo", undone->undone.id));
        tell_rows(undone->report);
        for (const sync::LeftAlone& each : undone->left) {
          tell("    left " + each.path.string() + ": " + each.why);
          left.push_back(utf8::nfc(each.path.string()));
        }
      });
      if (!ran) failed = ran.error().what;
    };
    const bool does_nothing = ends_.changed.empty() && carried_.empty();
    if (does_nothing) return {};
    take_back(false);
    if (!failed.empty()) return "undo: " + failed;
    if (std::string wrong = undone_differs(left); !wrong.empty()) return "after the undo, " + wrong;
    left.clear();
    take_back(true);
    if (!failed.empty()) return "redo: " + failed;
    return prefixed("after the redo, ", sides_differ(ends_));
  }

  std::string undone_differs(const std::vector<std::string>& left) {
    const Files files = here().files();
    const Tree notes = service_.tree();
    const Tree listed = service_.listed();
    for (const Entry& entry : entries_) {
      if (entry.change_here == Change::link) continue;
      const bool is_here = differs(entry.here, entry.base);
      const bool is_there = differs(entry.there, entry.base);
      if (is_here && is_there) continue;
      if (std::string wrong = place_differs(entry, entry.base, files); !wrong.empty()) return wrong;
      const std::string path = utf8::nfc(entry.base->path);
      if (std::find(left.begin(), left.end(), path) != left.end()) return "left, though nobody changed it: " + path;
      const Tree& side = entry.is_picture ? listed : notes;
      const auto found = side.find(path);
      if (found == side.end()) return "not there: " + path;
      const std::string wanted = entry.is_picture ? hash_of(text_of(*entry.base)) : text_of(*entry.base);
      if (found->second != wanted) return "another text there: " + path;
      for (const auto* const each : {&entry.here, &entry.there}) {
        if (*each && utf8::nfc((*each)->path) != path && side.contains(utf8::nfc((*each)->path)))
          return "still there: " + (*each)->path;
      }
      if (files.contains(path + "/x.md") || notes.contains(path + "/x.md")) return "still there: " + path + "/x.md";
    }
    return {};
  }

  const Entry* entry_at(const std::string& path) const {
    for (const Entry& entry : entries_) {
      const std::optional<State>& at = entry.here ? entry.here : entry.base;
      if (at && utf8::nfc(at->path) == utf8::nfc(path) && !entry.is_index) return &entry;
    }
    return nullptr;
  }

  /// Every conflict holds its three texts, and each decision gives what it says.
  /// A rule that leaves out what is in conflict is no decision: the conflicts are open as before, here and there.
  std::string hide_conflicts() {
    std::string rules;
    for (const std::string& conflict : ends_.conflicts) {
      const std::string path = conflict.substr(conflict.find(' ') + 1);
      const Entry* const entry = entry_at(path);
      // Row MT: what was archived while it was left out is kept and told, and no conflict any more.
      if (entry != nullptr && entry->change_there == Change::folder) continue;
      const bool has_two_names = entry != nullptr && entry->is_picture && conflict.starts_with("path");
      rules += "/" + (has_two_names && entry->number % 2 == 0 ? entry->there->path : path) + "\n";
    }
    const auto ledger = [this] {
      std::set<std::string> open;
      const auto read = [&open](sync::SyncEngine& engine) {
        const auto all = engine.conflicts().value();
        for (const sync::Conflict& each : all) open.insert(std::string(name(each.kind())) + " " + each.path.string());
      };
      return here().with_engine({}, read) ? joined(open) + service_.ledger() : "no conflicts can be read";
    };
    const std::string before = ledger();
    for (const bool is_hidden : {true, false}) {
      const Folder folder(here().root(), {});
      is_hidden ? folder.write(".wsignore", rules) : folder.remove(".wsignore");
      const auto report = here().carry_out(order_of_run());
      if (!report || report->ended_by) return "a run under a rule failed";
      tell(is_hidden ? "  what is in conflict is ignored" : "  and is not any more");
      tell_rows(*report);
      const std::string after = ledger();
      if (after != before)
        return fmt::format("{}, the conflicts are {}\nnot {}", is_hidden ? "ignored" : "seen again", after, before);
    }
    return {};
  }

  std::string decide_all() {
    if (ends_.conflicts.empty()) return {};
    if (course_.after % 2 == 0) {
      if (std::string wrong = hide_conflicts(); !wrong.empty()) return wrong;
    }
    std::string wrong;
    const auto ran = here().with_engine({}, [&](sync::SyncEngine& engine) {
      const auto open = engine.conflicts();
      if (!open) {
        wrong = "no conflicts: " + open.error().what;
        return;
      }
      for (const sync::Conflict& conflict : *open) {
        if (wrong.empty()) wrong = decide(engine, conflict);
      }
    });
    if (!ran) return "deciding failed: " + ran.error().what;
    if (!wrong.empty()) return wrong;
    const auto report = here().carry_out(order_of_run());
    if (!report || report->ended_by) return "the run after the decisions failed";
    tell_rows(*report);
    if (std::string differs = sides_differ(ends_); !differs.empty()) return "after the decisions, " + differs;
    return rests();
  }

  std::string decide(sync::SyncEngine& engine, const sync::Conflict& conflict) {
    const Entry* const entry = entry_at(conflict.path.string());
    if (entry == nullptr) return {};
    if (conflict.which == sync::ConflictCase::became_folder || !entry->here) return {};
    if (conflict.which == sync::ConflictCase::folder_at_old_name) return {};  // the table says nothing of its end
    const std::string at = conflict.path.string();
    const bool is_text =
        !entry->is_picture && entry->base && entry->there && conflict.kind() == sync::ConflictKind::path;
    if (is_text && !merged(entry->base->note, entry->here->note, entry->there->note))
      return {};  // two conflicts in one
    if (std::string wrong = texts_differ(engine, conflict, *entry); !wrong.empty()) return wrong;
    std::vector<sync::Keep> ways;
    for (const auto& each : conflict.row().resolutions) {
      if (each && each->keep != sync::Keep::merged) ways.push_back(each->keep);
    }
    const sync::Keep keep = ways[(course_.after + entry->number) % ways.size()];
    constexpr std::array names = {"local", "remote", "both", "merged"};
    tell(fmt::format("  resolve {} {}", at, names[static_cast<std::size_t>(keep)]));
    if (const auto done = engine.resolve(conflict, keep); !done) return "resolve " + at + ": " + done.error().what;
    settle_decided(*entry, keep);
    return {};
  }

  std::string texts_differ(sync::SyncEngine& engine, const sync::Conflict& conflict, const Entry& entry) {
    if (entry.is_picture || conflict.kind() == sync::ConflictKind::path) return {};
    const auto texts = engine.texts(conflict);
    if (!texts) return "no texts of " + conflict.path.string() + ": " + texts.error().what;
    const auto is = [](const std::optional<std::string>& text, const std::optional<State>& state) {
      return state ? text == text_of(*state) : !text;
    };
    if (is(texts->base, entry.base) && is(texts->local, entry.here) && is(texts->remote, entry.there)) return {};
    return "the record of a conflict has another text: " + conflict.path.string();
  }

  /// What the decision leads to, in the place of what the conflict left.
  void settle_decided(const Entry& entry, sync::Keep keep) {
    const bool local = keep == sync::Keep::local;
    const std::string old = entry.here->path;
    std::erase_if(ends_.disk, [&](const auto& file) { return utf8::nfc(file.first) == utf8::nfc(old); });
    if (entry.is_picture && entry.there && !(local || keep == sync::Keep::remote))
      ends_.listed[utf8::nfc(beside(old, "remote"))] = hash_of(text_of(*entry.there));
    if (entry.is_picture && (local || keep == sync::Keep::remote)) ends_.disk.erase(beside(old, "remote"));
    if (entry.there) (entry.is_picture ? ends_.listed : ends_.notes).erase(entry.there->path);
    const bool moved_there = entry.there && entry.there->path != utf8::nfc(entry.base->path);
    if (!entry.there) {
      if (keep == sync::Keep::remote) return;
      State state = *entry.here;
      const std::string text = text_of(state);
      if (keep == sync::Keep::both && !entry.is_picture) state.path = beside(state.path, "local");
      ends_.disk[state.path] = text;
      if (entry.is_picture) ends_.listed[utf8::nfc(state.path)] = hash_of(text);
      if (!entry.is_picture) ends_.notes[utf8::nfc(state.path)] = text;
      return;
    }
    State state = *entry.here;
    const bool clash = old != entry.base->path && moved_there && utf8::nfc(old) != entry.there->path;
    if (clash) {  // the name alone
      if (!local) state.path = entry.there->path;
      if (entry.is_picture)
        state.bytes = entry.here->bytes == entry.base->bytes ? entry.there->bytes : entry.here->bytes;
      if (!entry.is_picture)
        state.note = merged(entry.base->note, entry.here->note, entry.there->note).value_or(entry.here->note);
    } else {
      if (old == entry.base->path && moved_there) state.path = entry.there->path;
      const bool takes_theirs = keep == sync::Keep::remote || (keep == sync::Keep::both && !entry.is_picture);
      if (keep == sync::Keep::both && !entry.is_picture) {
        ends_.disk[beside(old, "local")] = text_of(*entry.here);
        ends_.notes[utf8::nfc(beside(old, "local"))] = text_of(*entry.here);
      }
      if (takes_theirs) state.note = entry.there->note;
      if (takes_theirs) state.bytes = entry.there->bytes;
    }
    ends_.disk[state.path] = text_of(state);
    if (entry.is_picture) ends_.listed[utf8::nfc(state.path)] = hash_of(text_of(state));
    if (!entry.is_picture) ends_.notes[utf8::nfc(state.path)] = text_of(state);
  }

  static std::string joined(const std::set<std::string>& all) {
    std::string out;
    for (const std::string& each : all) out += each + "; ";
    return out;
  }

  void tell_rows(const sync::Report& report) {
    for (const std::string& row : rows_of(report)) tell("    " + row);
    for (const sync::Detached& each : report.detached) tell("    detached " + each.path.string() + " " + each.reason);
  }

  std::string facts_differ(const Observation& before, const Observation& after) {
    for (const std::string& path : ends_.untouched) {
      const auto old = before.files.find(path);
      const auto now = after.files.find(path);
      if (old != before.files.end() && (now == after.files.end() || now->second != old->second))
        return "a file was touched: " + path;
    }
    for (const auto& [id, document] : after.documents) {
      const auto wanted = ends_.ids.find(document.path);
      if (wanted != ends_.ids.end() && wanted->second != id) return "another document: " + document.path;
      if (!ends_.still.contains(document.path) || !before.documents.contains(id)) continue;
      if (before.documents.at(id) != document) return "a document was written: " + document.path;
    }
    std::set<std::uint64_t> known;
    for (const auto& [path, file] : before.files) known.insert(file.inode);
    for (const auto& [path, file] : after.files) {
      const auto owner = ends_.files.find(utf8::nfc(path));
      const auto old = owner == ends_.files.end() ? before.files.end() : before.files.find(owner->second);
      if (old != before.files.end() && old->second.mode != file.mode) return "the mode changed of " + path;
      if (old == before.files.end() && !known.contains(file.inode) && S_ISREG(file.mode) && (file.mode & 0111U) != 0)
        return "a new file can be run: " + path;
    }
    return {};
  }

  std::string others_follow() {
    if (has_folder_beside()) return {};  // a document and a folder of its name: a disk holds one of them
    for (std::size_t i = 1; i < places_.size(); ++i) {
      if (std::string wrong = run_other(*places_[i]); !wrong.empty()) return wrong;
      Tree wanted = service_.tree();
      Tree found = composed(disk_of(*places_[i]));
      found.erase(tool);
      for (const auto& [path, hash] : service_.listed()) {
        if (path == tool) continue;
        const auto file = found.find(path);
        if (file != found.end()) wanted[path] = hash == hash_of(file->second) ? file->second : hash;
        if (file == found.end()) wanted[path] = hash;
      }
      if (std::string wrong = tree_differs(wanted, found, fmt::format("folder {}", i)); !wrong.empty()) return wrong;
    }
    return {};
  }

  Course course_;
  std::uint64_t seed_;
  std::string& log_;
  Service service_;
  std::vector<std::unique_ptr<BoundFolder>> places_;
  std::vector<Entry> entries_;
  std::vector<unsigned> linked_;  ///< the entries that the index links to
  std::vector<std::pair<std::size_t, std::string>> carried_;
  Note kept_;
  Ends ends_;
  Observation before_;  ///< before the first command
  unsigned words_ = 0;
};

}  // namespace

Script make_promised(std::uint64_t seed) {
  SeededRandom random(SeededRandom(seed).next());
  Script script;
  for (std::uint64_t i = 0, count = 6 + random.below(10); i < count; ++i) {
    const std::uint64_t bytes = random.next();
    script.push_back({.kind = StepKind::meet,
                      .who = static_cast<std::uint8_t>(bytes),
                      .what = static_cast<std::uint8_t>(bytes >> 8U),
                      .where = static_cast<std::uint8_t>(bytes >> 16U),
                      .how = static_cast<std::uint8_t>(bytes >> 24U)});
  }
  return script;
}

std::string play_promised(std::uint64_t seed, const Script& script, std::string& log) {
  return Promised(seed, log).play(script);
}

}  // namespace ws::property
