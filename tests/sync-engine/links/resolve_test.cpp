#include "sync-engine/links/resolve.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace ws::sync::links {
namespace {

const TreeFiles& sample_tree() {
  static const TreeFiles tree({"index.md",
                               "notes/a.md",
                               "notes/deep/b.md",
                               "notes/img/x.png",
                               "other/a.md",
                               "other/Only.md",
                               "other/img/x.png",
                               "other/img/y.png",
                               "über.md"});
  return tree;
}

std::string resolved(const std::string& note, const std::string& text) {
  const std::vector<Reference> references = read_references(text);
  REQUIRE(references.size() == 1);
  const Resolution found = sample_tree().resolve(note, references[0]);
  switch (found.state) {
    case Resolution::State::file: return found.path;
    case Resolution::State::folder: return found.path + "/";
    case Resolution::State::none: return "none";
    case Resolution::State::ambiguous: return "ambiguous";
    case Resolution::State::outside: return "outside";
  }
  return "";
}

}  // namespace

TEST_CASE("links: which file a reference names", "[links]") {
  struct Row {
    const char* note;
    const char* text;
    const char* file;
  };
  const std::vector<Row> rows = {
      {"notes/a.md", "[x](deep/b.md)", "notes/deep/b.md"},
      {"notes/a.md", "[x](./deep/../a.md)", "notes/a.md"},
      {"notes/deep/b.md", "![x](../img/x.png)", "notes/img/x.png"},
      {"notes/deep/b.md", "![x](/other/img/y.png)", "other/img/y.png"},
      {"notes/a.md", "[x](#part)", "notes/a.md"},
      {"notes/a.md", "[x](deep)", "notes/deep/"},
      {"notes/a.md", "[x](../)", "/"},
      {"index.md", "[x](%C3%BCber.md)", "über.md"},
      {"index.md", "[x](notes/a)", "notes/a.md"},
      {"index.md", "[x](only.md)", "none"},
      {"index.md", "[x](other/only.md)", "none"},
      {"index.md", "[x](../secret.md)", "outside"},
      {"index.md", "[x](.git/config)", "outside"},
      {"notes/a.md", "[x](../../notes/a.md)", "outside"},
      {"index.md", "[[Only]]", "other/Only.md"},
      {"index.md", "[[only]]", "other/Only.md"},
      {"index.md", "[[Only.md]]", "other/Only.md"},
      {"notes/deep/b.md", "[[a]]", "notes/a.md"},
      {"index.md", "[[a]]", "ambiguous"},
      {"index.md", "[[missing]]", "none"},
      {"notes/a.md", "![[x.png]]", "notes/img/x.png"},
      {"notes/a.md", "![[img/x.png]]", "notes/img/x.png"},
      {"index.md", "![[img/y.png]]", "other/img/y.png"},
      {"notes/a.md", "[[other/a]]", "other/a.md"},
      {"index.md", "![[../x.png]]", "outside"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.note, row.text);
    CHECK(resolved(row.note, row.text) == row.file);
  }
}

TEST_CASE("links: a name is found in whichever Unicode form it is written, the same bytes first", "[links]") {
  const std::string composed = "caf\u00e9";
  const std::string apart = "cafe\u0301";
  for (const auto& [on_disk, written] : {std::pair(composed, apart), std::pair(apart, composed)}) {
    CAPTURE(on_disk);
    const TreeFiles tree({"index.md", on_disk + ".md", on_disk + "/deep/" + on_disk + ".png", "z.md"});
    const auto path_of = [&](const std::string& text) {
      const std::vector<Reference> references = read_references(text);
      REQUIRE(references.size() == 1);
      const Resolution found = tree.resolve("index.md", references[0]);
      return found.state == Resolution::State::folder ? found.path + "/" : found.path;
    };
    CHECK(path_of("[x](" + written + ".md)") == on_disk + ".md");
    CHECK(path_of("[x](" + written + ")") == on_disk + ".md");
    CHECK(path_of("![[" + written + ".png]]") == on_disk + "/deep/" + on_disk + ".png");
    CHECK(path_of("[[" + written + "]]") == on_disk + ".md");
    CHECK(path_of("![[deep/" + written + ".png]]") == on_disk + "/deep/" + on_disk + ".png");
    CHECK(path_of("![x](" + written + "/deep/" + written + ".png)") == on_disk + "/deep/" + on_disk + ".png");
    CHECK(tree.has_folder(written + "/deep"));
    CHECK_FALSE(tree.has_file("caf.md"));
  }
  const TreeFiles both({composed + ".md", apart + ".md"});
  for (const std::string& name : {composed, apart}) {
    const Resolution found = both.resolve("index.md", read_references("[x](" + name + ".md)").front());
    CHECK(found.path == name + ".md");
  }
}

TEST_CASE("links: the nearest name that exists", "[links]") {
  const auto nearest = [](const std::string& note, const std::string& text) {
    Effort effort;
    return sample_tree().nearest(note, read_references(text).at(0), effort).value_or("-");
  };
  CHECK(nearest("index.md", "[x](b.md)") == "notes/deep/b.md");
  CHECK(nearest("index.md", "![x](img/y.png)") == "other/img/y.png");
  CHECK(nearest("index.md", "[[Onyl]]") == "other/Only.md");
  CHECK(nearest("index.md", "[x](indx.md)") == "index.md");
  CHECK(nearest("index.md", "[x](completely-else.md)") == "-");
}

TEST_CASE("links: letters between two names are counted up to a bound", "[links]") {
  CHECK(edits_between("tides", "tides", 3) == 0);
  CHECK(edits_between("tides", "tdes", 3) == 1);
  CHECK(edits_between("tides", "ties", 0) == 1);
  CHECK(edits_between("abcdef", "xbcdyfz", 3) == 3);
  CHECK(edits_between("abcdef", "xbcdyfz", 2) == 3);
  CHECK(edits_between("", "abc", 3) == 3);
  CHECK(edits_between("kitten", "sitting", 6) == 3);
}

TEST_CASE("links: names that are like a missing one are looked for up to a bound", "[links]") {
  std::vector<std::string> paths;
  for (int i = 0; i < 20'000; ++i) paths.push_back("n/note-" + std::to_string(100'000 + i) + ".md");
  const TreeFiles files(std::move(paths));
  Effort effort;
  std::size_t found = 0;
  for (int i = 0; i < 5'000; ++i) {
    const auto reference = read_references("[x](note-" + std::to_string(500'000 + i) + ".md)").at(0);
    found += files.nearest("a.md", reference, effort) ? 1U : 0U;
  }
  CHECK(found > 100);
  CHECK(found < 5'000);
  CHECK(effort.was_refused());
}

TEST_CASE("links: paths between folders", "[links]") {
  CHECK(relative_from("a/b.md", "a/c.md") == "c.md");
  CHECK(relative_from("a/b.md", "c.md") == "../c.md");
  CHECK(relative_from("b.md", "a/c.md") == "a/c.md");
  CHECK(relative_from("a/x/b.md", "a/y/c.md") == "../y/c.md");
  CHECK(relative_from("a/b.md", "a") == "../a");
  CHECK(joined("a/b", "../c/./d.md") == "a/c/d.md");
  CHECK(joined("a", "../../x") == std::nullopt);
  CHECK(joined("a", "/x") == "x");
}

}  // namespace ws::sync::links
