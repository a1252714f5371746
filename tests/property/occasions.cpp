#include "tests/property/occasions.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/random.hpp"
#include "api-client/base/sha256.hpp"
#include "tests/property/bound_folder.hpp"
#include "tests/property/folder.hpp"
#include "tests/property/invariants.hpp"
#include "tests/property/kill_at_step.hpp"
#include "tests/property/service.hpp"

namespace ws::property {
namespace {

using Texts = std::map<std::string, std::string>;

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

sync::RelativePath at(const std::string& path) { return sync::RelativePath::parse(path).value(); }

/// A text that is like no other.
std::string text_like(const std::string& word) {
  std::string text;
  for (int line = 0; line < 6; ++line) text += fmt::format("{} {} {}\n", word, line, Sha256::of(word).hex());
  return text;
}

/// Two folders on one source.
class Pair {
 public:
  Pair(std::uint64_t seed, const std::string& yaml)
      : random(SeededRandom(seed).next()), here(service, seed * 2), there(service, seed * 2 + 1) {
    here.configure(yaml);
    there.configure("attachments: all\n");
  }

  bool chance() { return random.below(2) == 0; }
  static Order confirmed(Order order = {}) {
    order.options.allow_deletes = true;
    return order;
  }
  static sync::Report run(BoundFolder& place, const Order& order) {
    auto report = place.carry_out(order);
    expect(report.has_value(), "a command failed: " + (report ? std::string() : report.error().what));
    expect(!report->ended_by, "a command ended early: " + (report->ended_by ? report->ended_by->what : std::string()));
    return std::move(*report);
  }
  sync::Report run(const Order& order = {}) { return run(here, order); }
  /// Both folders and the service have the same; what was written a moment ago can be told from what comes next.
  void agree() {
    for (BoundFolder* const place : {&here, &there, &here}) run(*place, confirmed());
    run(confirmed());
  }
  void write(BoundFolder& place, const std::string& path, const std::string& text) {
    Folder(place.root(), {}).write(path, text);
  }
  void write(const std::string& path, const std::string& text) { write(here, path, text); }
  void remove(BoundFolder& place, const std::string& path) { Folder(place.root(), {}).remove(path); }
  void rename(const std::string& from, const std::string& to) { Folder(here.root(), {}).move(from, to); }
  template <class Work>
  void with_engine(const Work& work) {
    const auto ran = here.with_engine({}, work);
    expect(ran.has_value(), "a command failed");
  }
  void mv(const std::string& from, const std::string& to) {
    with_engine([&](sync::SyncEngine& engine) {
      const auto moved = engine.move(at(from), at(to), false);
      expect(moved.has_value(), "mv failed: " + (moved ? std::string() : moved.error().what));
    });
  }
  std::string id(const std::string& path) {
    const auto found = service.find(path);
    expect(found.has_value(), "not there: " + path);
    return *found;
  }
  void has(BoundFolder& place, const std::string& path, const std::string& text) {
    const Files files = place.files();
    const auto file = files.find(path);
    expect(file != files.end(), "missing here: " + path);
    expect(file->second.text == text, "another text here: " + path);
  }
  /// That the document is at that path, with the text of the file here.
  void is_at(const std::string& document, const std::string& path) {
    const auto found = service.documents().find(document);
    expect(found != service.documents().end(), "archived: what is to be at " + path);
    expect(found->second.path == path, "at " + found->second.path + " and not at " + path);
    has(here, path, found->second.text);
  }
  /// In the end both folders have the same, and nothing is left to be done.
  void ends_alike() {
    run(confirmed());
    run(there, confirmed());
    expect(run(confirmed()).rows.empty(), "a run after the last one does something");
    expect(here.tree() == there.tree(), "two folders come to differ");
    expect(here.tree() == service.tree(), "the folder differs from the service");
  }

  SeededRandom random;
  Service service;
  BoundFolder here;
  BoundFolder there;
};

// --- Promise 6 of `safety.md`: more than half of a small tree is lost on neither side without a question.

bool served_as(Pair& pair, const std::string& path, const std::string& text) {
  const bool is_note = path.ends_with(".md");
  const Texts served = is_note ? pair.service.tree() : pair.service.listed();
  const auto found = served.find(path);
  return found != served.end() && found->second == (is_note ? text : Sha256::of(text).hex());
}

bool is_served(Pair& pair, const std::string& path) {
  return pair.service.find(path) || pair.service.listed().contains(path);
}

enum class Way : std::uint8_t { removed, emptied };

void lose(Pair& pair, BoundFolder& place, Way way, const std::string& path) {
  way == Way::removed ? pair.remove(place, path) : pair.write(place, path, "");
}

/// How much is lost of how many notes or files; `others`: notes that stay.
struct Loss {
  const char* kind = ".md";
  std::uint64_t count = 0;
  std::uint64_t lost = 0;
  std::uint64_t others = 0;
};
constexpr std::array too_much = {Loss{".md", 4, 3},
                                 Loss{".md", 7, 4},
                                 Loss{".md", 8, 5},
                                 Loss{".md", 2, 2},
                                 Loss{".md", 3, 3},
                                 Loss{".md", 40, 11},
                                 Loss{".png", 4, 3, 5},
                                 Loss{".png", 6, 4, 5},
                                 Loss{".png", 40, 11, 10}};
constexpr std::array as_usual = {Loss{".md", 4, 2},
                                 Loss{".md", 8, 4},
                                 Loss{".md", 3, 2},
                                 Loss{".md", 40, 10},
                                 Loss{".md", 44, 11},
                                 Loss{".png", 3, 3, 5},
                                 Loss{".png", 6, 3, 5}};

constexpr const char* edit_with_link = "edited here ![new](n.png)\n";

void weigh(std::uint64_t seed, bool is_here, Way way, const Loss& loss, const Order& order, bool is_much) {
  const auto& [kind, count, lost, others] = loss;
  Pair pair(seed, "attachments: all\n");
  for (std::uint64_t i = 0; i < others; ++i) pair.write(fmt::format("o{}.md", i), text_like(fmt::format("o{}", i)));
  std::vector<std::string> paths;
  for (std::uint64_t i = 0; i < count; ++i) {
    paths.push_back(fmt::format("{}{}{}", i % 2 == 0 ? "d/" : "", i, kind));
    pair.write(paths.back(), text_like(paths.back()));
  }
  pair.agree();
  BoundFolder& side = is_here ? pair.here : pair.there;
  for (std::uint64_t i = 0; i < lost; ++i) lose(pair, side, way, paths[i]);
  const bool is_edited = lost < count;
  if (is_edited) pair.write(paths.back(), edit_with_link);
  if (!is_here) Pair::run(pair.there, Pair::confirmed());
  const Observation before = look(pair.here, pair.service);
  const std::string what = fmt::format("{} of {} {} {} {}, {}: ",
                                       lost,
                                       count,
                                       kind,
                                       way == Way::removed ? "removed" : "emptied",
                                       is_here ? "here" : "there",
                                       static_cast<int>(order.kind));
  const sync::Report report = pair.run(order);
  const bool concerns = is_here ? order.kind != Order::Kind::pull : true;
  if (order.options.hold_deletes && is_much) {
    expect(report.held_back.has_value(), what + "does not say what it held back");
    const Files after = pair.here.files();
    for (const std::string& path : paths) {
      if (is_edited && path == paths.back()) continue;
      expect(is_here || after.at(path).text == before.files.at(path).text, what + "lost here: " + path);
      expect(!is_here || served_as(pair, path, text_like(path)), what + "lost there: " + path);
    }
    expect(!is_edited || served_as(pair, paths.back(), edit_with_link), what + "held back an edit too");
  } else if (is_much && concerns) {
    expect(report.guard.has_value(), what + "nobody was asked");
    expect(pair.run(order).guard.has_value(), what + "the second time nobody was asked");
    Observation now = look(pair.here, pair.service);
    if (order.kind == Order::Kind::push_and_commit) now.own = before.own;  // it pulls, and leaves the files alone
    const std::string written = nothing_is_written(before, now);
    expect(written.empty() && now.listed == before.listed, what + written);
  } else {
    expect(!report.guard && !report.held_back, what + "stopped for nothing");
  }
  pair.ends_alike();
  for (std::uint64_t i = 0; i < lost; ++i) {
    const bool is_done = way == Way::removed ? !is_served(pair, paths[i]) : served_as(pair, paths[i], "");
    expect(is_done, what + "confirmed, and not done: " + paths[i]);
  }
}

void losses_are_asked_about(std::uint64_t seed) {
  Order watch;
  watch.options.hold_deletes = true;
  const std::array<Order, 4> orders = {
      Order{}, Order{.kind = Order::Kind::pull}, Order{.kind = Order::Kind::push_and_commit}, watch};
  SeededRandom random(SeededRandom(seed).next());
  const auto way_of = [&](const Loss& loss) {
    const bool is_emptied = std::string(loss.kind) == ".md" && random.below(2) == 0;  // an empty file is not synced
    return is_emptied ? Way::emptied : Way::removed;
  };
  for (const bool is_here : {true, false}) {
    for (const Order& order : orders) {
      const Loss& loss = too_much[random.below(too_much.size())];
      // Files are no part of what `push` stages.
      if (order.kind == Order::Kind::push_and_commit && loss.others > 0) continue;
      weigh(seed, is_here, way_of(loss), loss, order, true);
    }
    const Loss& loss = as_usual[random.below(as_usual.size())];
    weigh(seed, is_here, way_of(loss), loss, random.below(2) == 0 ? Order{} : watch, false);
  }
}

// --- I21 of `sync.md`: a document lives as long as its note.

constexpr const char* mover = "a.md";    // links to others by their way from its folder
constexpr const char* pointer = "i.md";  // links to it
constexpr const char* other = "d/b.md";

void fill(Pair& pair) {
  pair.write(mover, text_like("mover") + "[b](d/b.md)\n");
  pair.write(pointer, text_like("pointer") + "[a](a.md)\n");
  pair.write(other, text_like("other"));
  for (int i = 0; i < 5; ++i) pair.write(fmt::format("n{}.md", i), text_like(fmt::format("n{}", i)));
  pair.agree();
}

/// `mv` rewrites links in the note that it moves and in those that link to it; then a person renames and rewrites both.
void documents_follow_what_ws_wrote(std::uint64_t seed) {
  Pair pair(seed, "links: keep\n");
  fill(pair);
  const std::string moved = pair.id(mover);
  const std::string edited = pair.id(pointer);
  const std::size_t count = pair.service.documents().size();
  pair.mv(mover, "e/a.md");
  pair.has(pair.here, "e/a.md", text_like("mover") + "[b](../d/b.md)\n");
  pair.has(pair.here, pointer, text_like("pointer") + "[a](e/a.md)\n");
  const bool first = pair.chance();
  const bool second = pair.chance();
  const std::string to = first ? "f.md" : "e/a.md";
  const std::string point = second || !first ? "j.md" : pointer;
  pair.rename("e/a.md", to);
  pair.rename(pointer, point);
  pair.write(to, text_like("all new"));
  pair.write(point, text_like("new as well"));
  pair.run(Pair::confirmed());
  pair.is_at(moved, to);
  pair.is_at(edited, point);
  expect(pair.service.documents().size() == count, "a document was made of a note that had one");
  pair.ends_alike();
}

/// A copy from a backup in the place that a note was moved from.
void an_old_copy_is_a_new_note(std::uint64_t seed) {
  Pair pair(seed, seed % 2 == 0 ? "links: keep\n" : "links: report\n");
  fill(pair);
  const std::string old = pair.here.tree().at(mover);
  const std::string moved = pair.id(mover);
  const std::string single = pair.id("n0.md");
  pair.mv(mover, "e/a.md");
  pair.mv("n0.md", "e/n0.md");
  if (pair.chance()) pair.run({.kind = Order::Kind::status});
  pair.write(mover, old);
  pair.write("n0.md", text_like("n0"));
  pair.run(Pair::confirmed());
  pair.is_at(moved, "e/a.md");
  pair.is_at(single, "e/n0.md");
  pair.has(pair.here, mover, old);
  pair.ends_alike();
}

/// Two or three notes change names, and nothing else happens. Each is alone in its folder: whatever order a disk lists
/// names in, no folder looks different.
void names_are_swapped(std::uint64_t seed) {
  Pair pair(seed, "links: report\n");
  const std::uint64_t count = 2 + pair.random.below(2);
  const auto name = [](std::uint64_t i) { return fmt::format("s{}/n.md", i); };
  for (std::uint64_t i = 0; i < count; ++i) pair.write(name(i), text_like(name(i)));
  fill(pair);
  std::vector<std::string> ids;
  for (std::uint64_t i = 0; i < count; ++i) ids.push_back(pair.id(name(i)));
  pair.rename(name(0), "aside");
  for (std::uint64_t i = 1; i < count; ++i) pair.rename(name(i), name(i - 1));
  pair.rename("aside", name(count - 1));
  if (pair.random.below(4) == 0) pair.write("n0.md", text_like("edited too"));
  pair.run();
  for (std::uint64_t i = 0; i < count; ++i) pair.is_at(ids[i], name((i + count - 1) % count));
  pair.ends_alike();
}

// --- A commit, and what happened since its changes were staged.

/// Somebody else publishes while a run talks to the service: it is here after the next run at the latest.
void others_publish_meanwhile(std::uint64_t seed) {
  Pair pair(seed, "links: report\n");
  fill(pair);
  const std::string changed = pair.id("n1.md");
  constexpr std::array moments = {"/v1/sync/commit", "/v1/sync/commit", "/v1/sync/plan", "/v1/sync/push"};
  const std::string moment = moments[pair.random.below(moments.size())];
  pair.write("n0.md", text_like("mine"));
  if (pair.chance()) pair.remove(pair.here, "n2.md");
  bool is_done = false;
  pair.here.network().meanwhile = [&](const http::Request& request) {
    if (is_done || request.url.find(moment) == std::string::npos) return;
    is_done = true;
    pair.service.publish({{.action = "push_update", .path = "n1.md", .document = changed, .text = text_like("theirs")},
                          {.action = "push_create", .path = "new.md", .text = text_like("new")}});
  };
  static_cast<void>(pair.here.carry_out(Order{}));
  pair.here.network().meanwhile = {};
  expect(is_done, "the service was not asked: " + moment);
  pair.run();
  for (const auto& [path, text] :
       Texts{{"n0.md", text_like("mine")}, {"n1.md", text_like("theirs")}, {"new.md", text_like("new")}}) {
    pair.has(pair.here, path, text);
    expect(pair.service.tree().at(path) == text, "another text there: " + path);
  }
  pair.ends_alike();
}

/// What changes between `push` and `commit`.
void files_change_once_staged(std::uint64_t seed) {
  Pair pair(seed, "links: report\n");
  fill(pair);
  const std::string came_back = pair.id("n0.md");
  const std::string gone = pair.id("n1.md");
  const std::string text = pair.chance() ? text_like("n0") : text_like("written anew");
  pair.remove(pair.here, "n0.md");
  if (pair.chance()) pair.remove(pair.here, "n1.md");
  const bool is_gone = !pair.here.files().contains("n1.md");
  pair.write("n2.md", text_like("first"));
  pair.run({.kind = Order::Kind::push});
  pair.write("n0.md", text);
  pair.write("n2.md", text_like("second"));
  pair.run({.kind = Order::Kind::commit});
  expect(pair.service.documents().contains(came_back), "archived, though its file is here again");
  expect(pair.service.documents().contains(gone) != is_gone, "a staged delete was not committed");
  expect(pair.service.tree().at("n2.md") != text_like("n2"), "a staged edit was not committed");
  pair.run();
  pair.is_at(came_back, "n0.md");
  pair.has(pair.here, "n0.md", text);
  expect(pair.service.tree().at("n2.md") == text_like("second"), "an edit was not sent");
  pair.ends_alike();
}

// --- `vault.md`, whose wish it is: a rename carries the mark of its target.

void a_wish_follows_its_picture(std::uint64_t seed) {
  Pair pair(seed, "attachments: linked\n");
  fill(pair);
  pair.write("p.png", "bytes of p\n");
  pair.write("n0.md", text_like("n0") + "![p](p.png)\n");
  const bool is_viewer = pair.chance();
  pair.run(is_viewer ? Order{.only_reads = true} : Order{.kind = Order::Kind::pull});
  pair.mv("p.png", "q/p.png");
  const bool is_undone = pair.random.below(4) == 0;
  if (is_undone) pair.with_engine([](sync::SyncEngine& engine) { expect(engine.undo({}).has_value(), "undo failed"); });
  pair.run();
  const std::string path = is_undone ? "p.png" : "q/p.png";
  const auto listed = pair.service.listed();
  expect(listed.contains(path), "a picture that a person here showed is not sent: " + path);
  pair.ends_alike();
  pair.has(pair.there, path, "bytes of p\n");
}

// --- A picture becomes a folder of pictures, and the folder a picture: on the way there, back by an undo, and when
// both come from elsewhere in one run.

void a_picture_and_a_folder_change_places(std::uint64_t seed) {
  Pair pair(seed, "attachments: linked\n");
  fill(pair);
  const std::string bytes = "bytes of p\n";
  const std::string others = pair.chance() ? bytes : "bytes of q\n";
  pair.write("p.png", bytes);
  pair.write("n0.md", text_like("n0") + "![p](p.png)\n");
  pair.agree();
  BoundFolder& place = pair.chance() ? pair.here : pair.there;
  pair.remove(place, "p.png");
  pair.write(place, "p.png/q.png", others);
  pair.write(place, "n0.md", text_like("n0") + "![q](p.png/q.png)\n");
  Pair::run(place, Pair::confirmed());
  pair.run(Pair::confirmed());
  pair.has(pair.here, "p.png/q.png", others);
  Pair::run(pair.there, Pair::confirmed());
  pair.has(pair.there, "p.png/q.png", others);
  pair.with_engine([](sync::SyncEngine& engine) {
    const auto undone = engine.undo({.allow_deletes = true});
    expect(undone.has_value(), "undo failed");
    expect(undone->left.empty(), "the undo leaves something");
  });
  pair.has(pair.here, "p.png", bytes);
  // What has to make room is not asked for: the picture waits.
  Order only_picture = Pair::confirmed();
  only_picture.options.only = [](const sync::RelativePath& path) { return path.text() == "p.png"; };
  for (const sync::Row& row : Pair::run(pair.there, only_picture).rows)
    expect(row.state != sync::Row::State::failed, "cannot be done, and was tried: " + row.action.path.string());
  if (others != bytes) pair.has(pair.there, "p.png/q.png", others);
  Pair::run(pair.there, Pair::confirmed());
  pair.has(pair.there, "p.png", bytes);
  expect(Pair::run(pair.there, Pair::confirmed()).rows.empty(), "what comes takes a second run");
  pair.ends_alike();
}

// --- I16: the stat cache is an accelerator, also where a setting changed and no file did.

void settings_change_alone(std::uint64_t seed) {
  struct Setting {
    const char* yaml;
    const char* path;  ///< of the file that it is about
    bool takes_in;     ///< or else leaves it out
  };
  constexpr std::array settings = {Setting{"include: ['*.txt']\n", "t.txt", true},
                                   Setting{"max_file_bytes: 1000\n", "large.md", false},
                                   Setting{"names: portable\n", "odd?.md", false}};
  const Setting setting = settings[seed % settings.size()];
  Pair pair(seed, "");
  fill(pair);
  const std::string text = text_like("one") + text_like("two") + text_like("three");
  pair.write(setting.path, text);
  pair.agree();
  for (const bool is_set : {true, false}) {
    const std::string what = std::string(is_set ? "with " : "without ") + setting.yaml;
    const Texts before = pair.service.tree();
    pair.here.configure(is_set ? setting.yaml : "");
    Order offline{.kind = Order::Kind::status};
    offline.options.offline = true;
    const std::string with_cache = dump(to_json(pair.run(offline)));
    std::filesystem::remove(pair.here.own("stat.cache"));
    expect(with_cache == dump(to_json(pair.run(offline))), what + "another status without the cache");
    pair.run(Pair::confirmed());
    const bool is_in = is_set == setting.takes_in;
    expect(!before.contains(setting.path) || pair.service.tree().contains(setting.path), what + "archived");
    const std::string edited = text + what;
    pair.write(setting.path, edited);
    pair.run(Pair::confirmed());
    const Texts after = pair.service.tree();
    const auto there = after.find(setting.path);
    expect((there != after.end() && there->second == edited) == is_in, what + (is_in ? "not sent" : "sent"));
    pair.has(pair.here, setting.path, edited);
  }
}

// --- "Ignored now, tracked before" in `sync.md`: while a setting leaves something out, an absence means nothing.

void what_was_out_of_sight_comes_back(std::uint64_t seed) {
  struct Setting {
    const char* yaml;
    const char* rules;
    bool hides_notes;
    bool hides_files;
  };
  constexpr std::array settings = {Setting{"", "v/\n", true, true},
                                   Setting{"names: portable\n", "", true, true},
                                   Setting{"max_file_bytes: 100\n", "", true, false},
                                   Setting{"attachments: off\n", "", false, true},
                                   Setting{"attachments_exclude: ['*.png']\n", "", false, true},
                                   Setting{"attachments_max_bytes: 4\n", "", false, true},
                                   Setting{"attachments_kinds: [pdf]\n", "", false, true}};
  const Setting& setting = settings[seed % settings.size()];
  const std::string usual = "attachments: all\n";
  Pair pair(seed, usual);
  const auto text = [](const std::string& path) { return path.ends_with(".md") ? text_like(path) : path + " bytes\n"; };
  const std::array<std::string, 3> names = {"v/gone here?", "v/gone there?", "v/edited there?"};
  for (const char* const kind : {".md", ".png"}) {
    for (const std::string& name : names) pair.write(name + kind, text(name + kind));
  }
  for (int i = 0; i < 8; ++i) pair.write(fmt::format("n{}.md", i), text_like(fmt::format("n{}", i)));
  pair.agree();
  if (setting.rules[0] != '\0') pair.write(".wsignore", setting.rules);
  pair.here.configure(setting.yaml[0] == 'a' && setting.yaml[11] == ':' ? setting.yaml : usual + setting.yaml);
  pair.run(Pair::confirmed());
  for (const std::string kind : {".md", ".png"}) {
    pair.remove(pair.here, names[0] + kind);
    pair.remove(pair.there, names[1] + kind);
    pair.write(pair.there, names[2] + kind, text(names[2] + kind) + "edited\n");
  }
  Pair::run(pair.there, Pair::confirmed());
  if (pair.chance()) pair.run(Pair::confirmed());
  pair.remove(pair.here, ".wsignore");
  pair.here.configure(usual);
  pair.run(Pair::confirmed());
  for (const std::string kind : {".md", ".png"}) {
    const bool was_hidden = kind == ".md" ? setting.hides_notes : setting.hides_files;
    const Files files = pair.here.files();
    const Texts there = kind == ".md" ? pair.service.tree() : pair.service.listed();
    const std::string what = fmt::format("{}{}, {}: ", setting.yaml, setting.rules, kind);
    expect(files.contains(names[0] + kind) == was_hidden, what + "removed here, and not in sight then");
    expect(there.contains(names[0] + kind) == was_hidden, what + "removed here, and then there");
    expect(files.contains(names[1] + kind) == was_hidden, what + "removed there, and not in sight then");
    expect(!there.contains(names[1] + kind), what + "removed there, and sent again");
    pair.has(pair.here, names[2] + kind, text(names[2] + kind) + "edited\n");
  }
}

void what_is_renamed_out_of_sight_stays(std::uint64_t seed) {
  struct Hidden {
    const char* yaml;
    const char* rules;
    const char* name;
  };
  constexpr std::array settings = {Hidden{"", "v/\n", "v/p.png"},
                                   Hidden{"names: portable\n", "", "p?.png"},
                                   Hidden{"attachments_exclude: ['*.old']\n", "", "p.old"}};
  const Hidden& hidden = settings[seed % settings.size()];
  const std::string usual = "attachments: all\n";
  Pair pair(seed, usual);
  for (int i = 0; i < 8; ++i) pair.write(fmt::format("n{}.md", i), text_like(fmt::format("n{}", i)));
  pair.write("p.png", "bytes\n");
  pair.agree();
  const bool is_moved_there = pair.chance();
  if (is_moved_there) {
    Folder(pair.there.root(), {}).move("p.png", "there.png");
    Pair::run(pair.there, Pair::confirmed());
  }
  const std::string what = std::string(hidden.yaml) + hidden.rules + ": ";
  const Texts before = pair.service.listed();
  pair.write(".wsignore", hidden.rules);
  pair.here.configure(usual + hidden.yaml);
  pair.rename("p.png", hidden.name);
  pair.run(Pair::confirmed());
  expect(pair.service.listed() == before, what + "the list changed");
  expect(pair.here.pictures().size() <= 1, what + "it came under the other name too");
  pair.has(pair.here, hidden.name, "bytes\n");
  pair.remove(pair.here, ".wsignore");
  pair.here.configure(usual);
  const sync::Report report = pair.run(Pair::confirmed());
  const bool is_asked = std::any_of(report.conflicts.begin(), report.conflicts.end(), [&](const sync::Conflict& each) {
    return each.path.text() == hidden.name;
  });
  expect(is_asked == is_moved_there, what + "seen again, which name counts");
  expect(is_moved_there || pair.service.listed().contains(hidden.name), what + "seen again, the rename is not sent");
}

// --- I22: a run that was killed and given again is one operation with all its rows.

void a_killed_run_is_recorded(std::uint64_t seed) {
  Pair pair(seed, "attachments: all\n");
  for (int i = 0; i < 6; ++i) {
    pair.write(fmt::format("n{}.md", i), text_like(fmt::format("n{}", i)));
    pair.write(fmt::format("p{}.png", i), fmt::format("bytes of {}\n", i));
  }
  pair.agree();
  const auto lies_here = [&] {
    Texts texts;
    for (const auto& [path, file] : pair.here.files()) texts[path] = file.text;
    return texts;
  };
  const Texts before = lies_here();
  const Folder theirs(pair.there.root(), {});
  std::set<std::string> changed;
  for (const auto& [name, kind] : {std::pair("n", ".md"), std::pair("p", ".png")}) {
    const auto path = [name = name, kind = kind](const std::string& which) { return name + which + kind; };
    theirs.write(path("0"), text_like("edited") + kind);
    theirs.remove(path("1"));
    theirs.move(path("2"), path("moved"));
    theirs.write(path("new"), text_like("new") + kind);
    for (const char* const which : {"0", "1", "moved", "new"}) changed.insert(path(which));
  }
  Pair::run(pair.there, Pair::confirmed());
  const std::uint64_t files = changed.size() - 1;  // all but the removed ones, some of them twice
  const ChildEnd end = run_and_kill(
      {.count = 1 + seed % files, .after_places = true},
      [&](const http::Request& request) { return pair.service.answer(request); },
      [&](Network::Exchange ask) {
        pair.here.network().replace(std::move(ask));
        static_cast<void>(pair.here.carry_out(Pair::confirmed()));
      });
  pair.run(Pair::confirmed());
  const Texts after = lies_here();
  std::set<std::string> named;
  pair.with_engine([&](sync::SyncEngine& engine) {
    const auto runs = engine.operations(1);
    expect(runs && !runs->empty(), "no record of the run");
    for (const sync::OperationRow& row : runs->front().rows) {
      if (row.before) named.insert(row.before->path.string());
      if (row.after) named.insert(row.after->path.string());
    }
    for (const std::string& path : changed) expect(named.contains(path), "not in the record of the run: " + path);
    const auto undone = engine.undo({.allow_deletes = true});
    expect(undone && undone->left.empty(), "the undo leaves something");
  });
  expect(lies_here() == before,
         std::string("the undo does not give back what was, ") + (end == ChildEnd::killed ? "killed" : "whole"));
  pair.with_engine([](sync::SyncEngine& engine) {
    expect(engine.undo({.redo = true, .allow_deletes = true}).has_value(), "redo failed");
  });
  expect(lies_here() == after, "the redo does not give back what was");
}

// --- "Left out here on purpose": what is left is untouched there, and comes back as it is there by then.

void what_was_left_is_taken_again(std::uint64_t seed) {
  Pair pair(seed, "attachments: linked\n");
  pair.write("p.png", "bytes of p\n");
  pair.write("q.md", text_like("q") + "![p](p.png)\n");
  pair.write("d/stays.md", text_like("stays"));
  fill(pair);
  const std::string moved = pair.id(other);
  const Texts before = pair.service.tree();
  const auto listed = pair.service.listed();
  pair.with_engine([](sync::SyncEngine& engine) {
    expect(engine.leave({.places = {at("n0.md"), at("d"), at("p.png")}}).has_value(), "leave failed");
  });
  if (pair.chance()) pair.run(Pair::confirmed());
  expect(pair.service.tree() == before && pair.service.listed() == listed, "leave changed the service");
  pair.write(pair.there, "n0.md", text_like("edited"));
  pair.write(pair.there, "d/new.md", text_like("new"));
  Folder(pair.there.root(), {}).move(other, "out.md");
  Pair::run(pair.there, Pair::confirmed());
  pair.run(Pair::confirmed());
  for (const char* const path : {"n0.md", "d/stays.md", "d/new.md", "p.png"})
    expect(!pair.here.files().contains(path), std::string("came, though it is left out: ") + path);
  pair.is_at(moved, "out.md");
  expect(pair.service.tree().size() == before.size() + 1, "what is left out here was archived there");
  pair.with_engine([](sync::SyncEngine& engine) { expect(engine.take({.all = true}).has_value(), "take failed"); });
  pair.has(pair.here, "n0.md", text_like("edited"));
  pair.has(pair.here, "d/new.md", text_like("new"));
  pair.run(Pair::confirmed());
  pair.has(pair.here, "p.png", "bytes of p\n");
  pair.ends_alike();
}

// --- "Lost state file": what is alike is taken for agreed, nothing is deleted, and two texts are a conflict.

void a_lost_state_deletes_nothing(std::uint64_t seed) {
  Pair pair(seed, "links: report\n");
  fill(pair);
  const Documents before = pair.service.documents();
  pair.write("n0.md", text_like("edited here"));
  pair.remove(pair.here, "n1.md");
  pair.write("new.md", text_like("new"));
  for (const char* const name : {"state.db", "state.db-wal", "state.db-shm"})
    std::filesystem::remove(pair.here.own(name));
  pair.run();
  pair.run();
  pair.has(pair.here, "n1.md", text_like("n1"));
  pair.has(pair.here, "n0.md", text_like("edited here"));
  expect(pair.here.conflicts() == std::vector<std::string>{"hash n0.md"}, "another conflict than of the two texts");
  expect(served_as(pair, "n0.md", text_like("n0")) && served_as(pair, "new.md", text_like("new")),
         "another text there");
  for (const auto& [id, document] : before)
    expect(pair.service.documents().contains(id), "a document was given up: " + document.path);
  expect(pair.service.documents().size() == before.size() + 1, "a document was made of a note that has one");
}

// --- A conflict that somebody else decided: the result comes, and what was edited since is merged with it.

void a_conflict_is_decided_elsewhere(std::uint64_t seed) {
  Pair pair(seed, "links: report\n");
  fill(pair);
  const std::string document = pair.id("n0.md");
  const std::string base = text_like("n0");
  const std::string ours = "ours\n\n" + base;
  const std::string decided = "decided\n\n" + base;
  pair.write("n0.md", ours);
  pair.write(pair.there, "n0.md", "theirs\n\n" + base);
  Pair::run(pair.there, Pair::confirmed());
  pair.run();
  expect(pair.here.conflicts() == std::vector<std::string>{"revision n0.md"}, "no conflict of two edits of one line");
  pair.has(pair.here, "n0.md", ours);
  const bool is_edited = pair.chance();
  if (is_edited) pair.write("n0.md", ours + "\nwritten since\n");
  pair.service.decide_conflicts(decided);
  pair.run();
  pair.run();
  pair.has(pair.here, "n0.md", is_edited ? decided + "\nwritten since\n" : decided);
  expect(pair.here.conflicts().empty(), "still open");
  expect(pair.here.remembers(ours), "the text that lost is in no history");
  pair.is_at(document, "n0.md");
  pair.ends_alike();
}

// --- "Server restored from backup": nothing is deleted or replaced until a person decides, and then as decided.

void a_backup_is_restored(std::uint64_t seed) {
  Pair pair(seed, "links: report\n");
  fill(pair);
  pair.service.save();
  const Texts old = pair.service.tree();
  pair.write(pair.there, "n0.md", text_like("edited since"));
  pair.write(pair.there, "new.md", text_like("made since"));
  pair.remove(pair.there, "n1.md");
  Pair::run(pair.there, Pair::confirmed());
  pair.run(Pair::confirmed());
  const Texts since = pair.here.tree();
  pair.service.restore();
  const Observation before = look(pair.here, pair.service);
  pair.run(Pair::confirmed());
  const Observation after = look(pair.here, pair.service);
  expect(before.files == after.files && before.documents == after.documents, "not asked, and something was done");
  const sync::Keep keep = pair.chance() ? sync::Keep::local : sync::Keep::remote;
  pair.with_engine([&](sync::SyncEngine& engine) {
    const auto open = engine.conflicts();
    expect(open && open->size() == 1, "no conflict with the service that went back");
    expect(engine.resolve(open->front(), keep).has_value(), "resolve failed");
  });
  pair.run(Pair::confirmed());
  pair.run(Pair::confirmed());
  // That a note was archived since is known to nobody any more: it comes.
  Texts wanted = keep == sync::Keep::local ? since : old;
  wanted.insert_or_assign("n1.md", old.at("n1.md"));
  expect(pair.here.tree() == wanted, "decided, and another tree here");
  expect(pair.service.tree() == wanted, "decided, and another tree there");
  for (const auto& [path, text] : since) expect(wanted.contains(path) || pair.here.remembers(text), "lost: " + path);
}

constexpr Occasion all[] = {{"what was out of sight comes back", what_was_out_of_sight_comes_back},
                            {"what is renamed out of sight stays", what_is_renamed_out_of_sight_stays},
                            {"a killed run is recorded", a_killed_run_is_recorded},
                            {"what was left is taken again", what_was_left_is_taken_again},
                            {"a lost state deletes nothing", a_lost_state_deletes_nothing},
                            {"a conflict is decided elsewhere", a_conflict_is_decided_elsewhere},
                            {"a backup is restored", a_backup_is_restored},
                            {"losses are asked about", losses_are_asked_about},
                            {"documents follow what ws wrote", documents_follow_what_ws_wrote},
                            {"an old copy is a new note", an_old_copy_is_a_new_note},
                            {"names are swapped", names_are_swapped},
                            {"others publish meanwhile", others_publish_meanwhile},
                            {"files change once staged", files_change_once_staged},
                            {"a wish follows its picture", a_wish_follows_its_picture},
                            {"a picture and a folder change places", a_picture_and_a_folder_change_places},
                            {"settings change alone", settings_change_alone}};

}  // namespace

std::span<const Occasion> occasions() { return all; }

}  // namespace ws::property
