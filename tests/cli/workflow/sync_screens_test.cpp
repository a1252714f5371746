// What a person sees of a sync, whole screens of it, beside golden files.
#include "tests/cli/workflow/screens.hpp"

using namespace ws;
using namespace ws::test;

namespace {

namespace fs = std::filesystem;

struct Shelf {
  MockProcess server{{"--seed", "1"}};
  Person ada{server};
  ScreensFolder folder;
  fs::path here = folder.path / "here";
  fs::path there = folder.path / "there";

  Shelf() {
    folder.make_home_of(ada, "ada");
    ada.environment["GIT_AUTHOR_NAME"] = "Ada Byron";
    fs::create_directories(there);
    write_text(here / "soup.md",
               "# Soup\n\nFor four, 35 minutes.\n\nFreezes well.\n\n![bowl](bowl.png) [x](nowhere.md)\n");
    write_text(here / "bowl.png", "not really a picture");
    write_text(here / "log.md", std::string("a\0b", 3));
    write_text(here / "sheet.xls", "1;2");
    for (const char* const name :
         {"bread.md", "garden/wall.md", "garden/a-rather-long-name-of-a-note-about-roses.md"}) {
      write_text(here / name, std::string("# ") + name + "\n\nSee [soup](/soup.md).\n");
    }
  }

  void edit(const fs::path& root, const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read_text(root / name);
    write_text(root / name, text.replace(text.find(from), from.size(), to));
  }
};

void begin_syncing(const Shelf& shelf, const std::function<void(const fs::path&, const char*)>& show) {
  show(shelf.folder.path, "sync status");
  show(shelf.here, "sync init --name notes");
  show(shelf.here, "sync log --runs");
  show(shelf.here, "sync conflicts");
  show(shelf.here, "sync plan");
  show(shelf.here, "sync push");
  show(shelf.here, "sync status");
  show(shelf.here, "sync commit");
  show(shelf.here, "sync");
  show(shelf.there, "sync init --source SOURCE");
  show(shelf.there, "sync pull");
  show(shelf.there, "sync roots");
}

void collide(const Shelf& shelf, const std::function<void(const fs::path&, const char*)>& show) {
  shelf.edit(shelf.there, "soup.md", "well", "badly");
  shelf.edit(shelf.there, "bread.md", "See", "See also");
  show(shelf.there, "sync");
  shelf.edit(shelf.here, "soup.md", "well", "for two months");
  fs::remove(shelf.here / "garden/wall.md");
  fs::create_symlink("soup.md", shelf.here / "link.md");
  show(shelf.here, "sync status");
  show(shelf.here, "sync diff soup.md");
  show(shelf.here, "sync");
  show(shelf.here, "sync conflicts");
  show(shelf.here, "sync resolve soup.md --keep local");
  show(shelf.here, "sync run");
}

void look_back(const Shelf& shelf, const std::function<void(const fs::path&, const char*)>& show) {
  show(shelf.here, "sync log");
  show(shelf.here, "sync log bread.md");
  show(shelf.here, "sync log --runs");
  show(shelf.here, "sync show 2");
  show(shelf.here, "sync blame soup.md");
  show(shelf.here, "sync attachments");
  show(shelf.here, "links check");
  show(shelf.here, "sync mv soup.md dinner/soup.md");
  fs::rename(shelf.here / "bread.md", shelf.here / "loaf.md");
  show(shelf.here, "sync status");
  show(shelf.here, "links fix -n");
  show(shelf.here, "sync undo 2 -n");
  show(shelf.here, "sync undo 2 --yes");
  show(shelf.here, "sync redo");
  show(shelf.here, "sync restore loaf.md");
  show(shelf.here, "sync gc --keep 0d -n");
}

void lose_files(const Shelf& shelf, const std::function<void(const fs::path&, const char*)>& show) {
  show(shelf.there, "sync");
  for (const auto& [name, text] : texts_of(shelf.there)) {
    if (name.ends_with(".md")) fs::remove(shelf.there / name);
  }
  show(shelf.there, "sync --no-input");
  show(shelf.there, "sync restore --deleted");
  write_text(shelf.there / "loaf.md", "mine\n");
  show(shelf.there, "sync reset --all --yes");
  show(shelf.there, "sync untie --yes");
}

void check_sync_screens(const std::string& file, int columns, std::vector<std::string> flags) {
  const Shelf shelf;
  Screens screens(shelf.server, columns, std::move(flags));
  screens.names["SOURCE"] = [&shelf] {
    return text_at(parse(shelf.ada.ws({"sync", "status", "--json"}, shelf.here).out), "source_id");
  };
  const auto show = [&](const fs::path& folder, const char* line) { screens.show(shelf.ada, line, folder); };
  begin_syncing(shelf, show);
  collide(shelf, show);
  look_back(shelf, show);
  lose_files(shelf, show);
  screens.check(file);
}

}  // namespace

TEST_CASE("screens of a sync: at 80 columns", "[cli]") {
  check_sync_screens("sync_screens_80.txt", 80, {"--color", "never"});
}

TEST_CASE("screens of a sync: at 80 columns, in colour", "[cli]") {
  check_sync_screens("sync_screens_80_color.txt", 80, {"--color", "always"});
}

TEST_CASE("screens of a sync: at 120 columns", "[cli]") {
  check_sync_screens("sync_screens_120.txt", 120, {"--color", "never"});
}

TEST_CASE("screens of a sync: at 200 columns", "[cli]") {
  check_sync_screens("sync_screens_200.txt", 200, {"--color", "never"});
}

TEST_CASE("screens of a sync: plain", "[cli]") { check_sync_screens("sync_screens_plain.txt", 80, {"--plain"}); }
