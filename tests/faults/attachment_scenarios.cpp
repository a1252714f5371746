// The same scenarios for attachments: their bytes, the list of them on the service, links that follow a rename.
#include <nlohmann/json.hpp>

#include "tests/faults/scenarios.hpp"

namespace ws::test {
namespace {

namespace fs = std::filesystem;

/// Binary content.
std::string picture(const std::string& name) { return std::string("\x89PNG\r\n\x1a\n\0\xff\xfe", 11) + name; }

/// Both sides hold a note with attachments and are up to date.
void fill_with_pictures(FaultWorld& world) {
  world.bind_trees();
  write_text(world.tree / "note.md",
             "# Note\n\n![e](img/edit.png) ![g](img/gone.png) ![m](img/move.png)\n\n[[clash.pdf]] [[stay.pdf]]\n");
  for (const char* name : {"img/edit.png", "img/gone.png", "img/move.png", "clash.pdf", "stay.pdf"}) {
    write_text(world.tree / name, picture(name));
  }
  must_end(world.ws(sync_command), 0);
  must_end(world.ws_there(sync_command), 0);
}

/// One change of each kind, and two new files with equal bytes.
void change(const fs::path& tree, const std::string& who) {
  write_text(tree / "img/edit.png", picture("edited " + who));
  fs::remove(tree / "img/gone.png");
  fs::rename(tree / "img/move.png", tree / "moved.png");
  write_text(tree / "new/one.png", picture("new " + who));
  write_text(tree / "new/same.png", picture("new " + who));
  write_text(tree / "new/two.jpg", picture("another " + who));
  write_text(tree / "more.md", "# More\n\n![1](new/one.png) ![2](new/same.png) ![3](new/two.jpg) ![m](moved.png)\n");
}

void prepare_first(FaultWorld& world) {
  world.bind_trees();
  write_text(world.tree / "img/move.png", picture("img/move.png"));
  change(world.tree, "here");
  write_text(world.tree / "note.md", "![e](img/edit.png)\n");
}

void prepare_up(FaultWorld& world) {
  fill_with_pictures(world);
  change(world.tree, "here");
}

void prepare_down(FaultWorld& world) {
  fill_with_pictures(world);
  change(world.other, "there");
  must_end(world.ws_there(sync_command), 0);
}

void prepare_both(FaultWorld& world) {
  fill_with_pictures(world);
  change(world.other, "there");
  write_text(world.other / "clash.pdf", picture("clash there"));
  must_end(world.ws_there(sync_command), 0);
  write_text(world.tree / "clash.pdf", picture("clash here"));
  write_text(world.tree / "stay.pdf", picture("edited here"));
  write_text(world.tree / "own.png", picture("own"));
  write_text(world.tree / "own.md", "![own](own.png)\n");
}

void prepare_linked(FaultWorld& world) {
  fill_with_pictures(world);
  write_text(world.tree / "sub/far.md", "![e](../img/edit.png) and [the note](../note.md#note)\n");
  must_end(world.ws(sync_command), 0);
}

void prepare_taken_back(FaultWorld& world) {
  prepare_up(world);
  must_end(world.ws(sync_command), 0);
}

/// A first run that sent and received.
void prepare_first_of_both(FaultWorld& world) {
  world.bind_trees();
  write_text(world.other / "img/move.png", picture("img/move.png"));
  change(world.other, "there");
  must_end(world.ws_there(sync_command), 0);
  write_text(world.tree / "own.png", picture("own"));
  write_text(world.tree / "deep/own.md", "![own](../own.png)\n");
  must_end(world.ws(sync_command), 0);
}

void prepare_decision(FaultWorld& world) {
  prepare_both(world);
  must_end(world.ws(sync_command), 7);
}

const std::string never_sent = picture("here, and nowhere else");

/// Bytes that only this tree has: of a decision that can be undone, and beside a conflict that is open.
void prepare_kept_bytes(FaultWorld& world) {
  prepare_decision(world);
  write_text(world.tree / "clash.pdf", never_sent);
  must_end(world.ws(sync_command), 7);
  must_end(world.ws({"sync", "resolve", "clash.pdf", "--keep", "remote"}), 0);
  must_end(world.ws(sync_command), 0);
  must_end(world.ws_there(sync_command), 0);
  write_text(world.other / "stay.pdf", picture("stay there"));
  must_end(world.ws_there(sync_command), 0);
  write_text(world.tree / "stay.pdf", picture("stay here"));
  must_end(world.ws(sync_command), 7);
}

}  // namespace

std::vector<Scenario> attachment_scenarios() {
  const auto moving = [](const std::string& name, const std::string& from, const std::string& to) {
    return Scenario{
        .name = name, .prepare = prepare_linked, .steps = {{.arguments = {"sync", "mv", from, to}, .again = {6}}}};
  };
  const auto deciding = [](const std::string& keep) {
    return Scenario{.name = "pictures resolve " + keep,
                    .prepare = prepare_decision,
                    .steps = {{.arguments = {"sync", "resolve", "clash.pdf", "--keep", keep}, .again = {6}}}};
  };
  std::vector<Scenario> all = {
      {.name = "pictures first", .prepare = prepare_first, .steps = {{.arguments = sync_command}}},
      {.name = "pictures up", .prepare = prepare_up, .steps = {{.arguments = sync_command}}},
      {.name = "pictures down", .prepare = prepare_down, .steps = {{.arguments = sync_command}}},
      {.name = "pictures both ways",
       .prepare = prepare_both,
       .steps = {{.arguments = sync_command, .exit = 7}},
       .last_exit = 7},
      moving("mv of a note", "note.md", "sub/deeper/renamed.md"),
      moving("mv of a picture", "img/edit.png", "art/lamp.png"),
      moving("mv of a folder", "img", "art"),
      {.name = "leave and take",
       .prepare = prepare_linked,
       .steps = {{.arguments = {"sync", "leave", "sub", "note.md", "img"}}, {.arguments = {"sync", "take", "--all"}}}},
      {.name = "undo of pictures",
       .prepare = prepare_taken_back,
       .steps = {{.arguments = {"sync", "undo", "2", "--allow-deletes"}}}},
      {.name = "undo of the first run",
       .prepare = prepare_first_of_both,
       .steps = {{.arguments = {"sync", "undo", "1", "--allow-deletes"}}},
       .parts = true},
      deciding("local"),
      deciding("remote"),
      deciding("both"),
      {.name = "pictures gc",
       .prepare = prepare_kept_bytes,
       .steps = {{.arguments = {"sync", "gc", "--keep", "0", "--yes"}}},
       .last_exit = 7,
       .forgets = true},
  };
  for (Scenario& scenario : all) {
    scenario.has_files = true;
    scenario.undoes = scenario.steps.front().arguments == sync_command;
  }
  return all;
}

}  // namespace ws::test
