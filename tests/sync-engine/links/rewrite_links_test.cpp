// Links follow renames: the laws, on random vaults. `WS_LINKS_CASES` sets how many (CI: 300; `./dev soak`: 10,000).
#include "sync-engine/links/rewrite_links.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sync-engine/links/targets.hpp"
#include "tests/support/random_cases.hpp"
#include "tests/sync-engine/links/random_vault.hpp"

namespace ws::sync::links {
namespace {

struct MendedVault {
  Vault vault = {};
  std::size_t links = 0;
  std::size_t left = 0;
};

MendedVault mended(const Vault& vault, const Renames& renames) {
  const TreeFiles before = tree_of(vault);
  const LinkRewriter rewriter(before, renames);
  MendedVault out;
  for (const auto& [path, text] : vault) {
    std::string now = text;
    if (path.ends_with(".md")) {
      const std::vector<Reference> references = read_references(text);
      const std::vector<NewTarget> targets = rewriter.new_targets(path, references);
      out.links += targets.size();
      now = with_targets(text, references, targets, out.left);
    }
    out.vault.emplace(rewriter.renamed(path), std::move(now));
  }
  return out;
}

/// What each link of a note names, after the renames.
std::vector<std::string> named_files(const Vault& vault, const std::string& note, const Renames& renames) {
  const TreeFiles files = tree_of(vault);
  std::vector<std::string> named;
  for (const Reference& each : read_references(vault.at(note))) {
    const Resolution found = files.resolve(note, each);
    const auto to = renames.find(found.path);
    const std::string path = to == renames.end() ? found.path : to->second;
    named.push_back(found.state == Resolution::State::file ? path + "#" + each.fragment : "-");
  }
  return named;
}

/// The bytes that are no path of a link.
std::string rest_of(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  for (const Reference& each : read_references(text)) {
    if (each.target_begin < at) continue;
    out += text.substr(at, each.target_begin - at) + "\x01";
    at = each.path_end;
  }
  return out + text.substr(at);
}

}  // namespace

TEST_CASE("links: what named a file before a rename names it afterwards, and no other byte changes", "[links]") {
  const std::size_t cases = test::number_from_environment("WS_LINKS_CASES", 300);
  std::size_t edited = 0;
  for (std::size_t seed = 1; seed <= cases; ++seed) {
    CAPTURE(seed);
    VaultMaker maker(seed);
    const Vault before = maker.vault();
    const Renames renames = maker.renames(before);
    const MendedVault after = mended(before, renames);
    edited += after.links;
    CHECK(after.left == 0);
    for (const auto& [note, text] : before) {
      if (!note.ends_with(".md")) continue;
      CAPTURE(note, text);
      const auto to = renames.find(note);
      const std::string now = to == renames.end() ? note : to->second;
      CAPTURE(after.vault.at(now));
      CHECK(rest_of(after.vault.at(now)) == rest_of(text));
      const std::vector<std::string> wanted = named_files(before, note, renames);
      const std::vector<std::string> found = named_files(after.vault, now, {});
      REQUIRE(found.size() == wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i] != "-") CHECK(found[i] == wanted[i]);
      }
    }
  }
  CHECK(edited > cases / 4);
}

TEST_CASE("links: the style of each place is kept", "[links]") {
  struct Row {
    const char* text;
    const char* after;
  };
  // notes/a.md shows img/x.png and links to notes/b.md; the one becomes pics/y z.png, the other old/b.md.
  const Vault files = {{"notes/b.md", ""}, {"img/x.png", ""}, {"other/c.md", ""}};
  const Renames renames = {{"notes/b.md", "old/b.md"}, {"img/x.png", "pics/y z.png"}};
  const std::vector<Row> rows = {
      {"[b](b.md#p \"t\")", "[b](../old/b.md#p \"t\")"},
      {"[b](./b.md)", "[b](../old/b.md)"},
      {"[b](b)", "[b](../old/b)"},
      {"[b](/notes/b.md)", "[b](/old/b.md)"},
      {"![x](../img/x.png)", "![x](../pics/y%20z.png)"},
      {"![x](<../img/x.png>)", "![x](<../pics/y z.png>)"},
      {"<img src=\"/img/x.png\" alt=\"/img/x.png\">", "<img src=\"/pics/y%20z.png\" alt=\"/img/x.png\">"},
      {"[x]: ../img/x.png (t)", "[x]: ../pics/y%20z.png (t)"},
      {"![[x.png|300]]", "![[y z.png|300]]"},
      {"![[img/x.png|300]]", "![[pics/y z.png|300]]"},
      {"[[b]] [[b#p|t]]", "[[b]] [[b#p|t]]"},
      {"[[notes/b]]", "[[old/b]]"},
      {"`[b](b.md)` b.md", "`[b](b.md)` b.md"},
      {"[c](../other/c.md)", "[c](../other/c.md)"},
      {"[gone](gone.md)", "[gone](gone.md)"},
      {"---\ncover: ../img/x.png\nlike: img/x.png\n---\n", "---\ncover: ../pics/y z.png\nlike: img/x.png\n---\n"},
  };
  for (const Row& row : rows) {
    Vault vault = files;
    vault["notes/a.md"] = row.text;
    CHECK(mended(vault, renames).vault.at("notes/a.md") == row.after);
  }
}

TEST_CASE("links: the links of a note that moves, of a folder, of a swap and of another case", "[links]") {
  const Vault vault = {
      {"a.md", "[b](b.md) [c](d/c.md) [[c]]"}, {"b.md", "[a](a.md) [d](d/)"}, {"d/c.md", "[a](../a.md)"}};
  CHECK(mended(vault, {{"a.md", "x/y/a.md"}}).vault == Vault{{"x/y/a.md", "[b](../../b.md) [c](../../d/c.md) [[c]]"},
                                                             {"b.md", "[a](x/y/a.md) [d](d/)"},
                                                             {"d/c.md", "[a](../x/y/a.md)"}});
  CHECK(mended(vault, {{"d/c.md", "e/f/c.md"}}).vault == Vault{{"a.md", "[b](b.md) [c](e/f/c.md) [[c]]"},
                                                               {"b.md", "[a](a.md) [d](e/f/)"},
                                                               {"e/f/c.md", "[a](../../a.md)"}});
  // A folder whose parts get new names on the way, one whose files go apart, and one of which something stays.
  const Vault parts = {{"b.md", "[d](d/)"}, {"d/c.md", ""}, {"d/e/f.md", ""}, {"d/g.md", ""}};
  CHECK(mended(parts, {{"d/c.md", "x/c.md"}, {"d/e/f.md", "x/h/f.md"}, {"d/g.md", "x/i.md"}}).vault.at("b.md") ==
        "[d](x/)");
  CHECK(mended(parts, {{"d/c.md", "x/c.md"}, {"d/e/f.md", "x/e/f.md"}, {"d/g.md", "y/i.md"}}).vault.at("b.md") ==
        "[d](d/)");
  CHECK(mended(parts, {{"d/c.md", "x/c.md"}, {"d/e/f.md", "d/e/h.md"}, {"d/g.md", "x/g.md"}}).vault.at("b.md") ==
        "[d](d/)");
  CHECK(mended(vault, {{"a.md", "b.md"}, {"b.md", "a.md"}}).vault ==
        Vault{{"b.md", "[b](a.md) [c](d/c.md) [[c]]"}, {"a.md", "[a](b.md) [d](d/)"}, {"d/c.md", "[a](../b.md)"}});
  CHECK(mended(vault, {{"a.md", "A.md"}}).vault.at("b.md") == "[a](A.md) [d](d/)");
  // `[[c ]]` would name `c`.
  CHECK(mended(vault, {{"d/c.md", "d/c .md"}}).vault.at("a.md") == "[b](b.md) [c](d/c%20.md) [[c .md]]");
}

TEST_CASE("links: a broken link is explained by what was renamed", "[links]") {
  const TreeFiles tree({"n/note.md", "new/file.md", "img/p.png"});
  const Renames renames = {{"file.md", "mid/file.md"}, {"mid/file.md", "new/file.md"}, {"note.md", "n/note.md"}};
  const auto target = [&](const std::string& text) {
    const Reference reference = read_references(text).at(0);
    const auto found = find_renamed_target(tree, renames, "n/note.md", {"note.md"}, reference);
    return found ? found->path : std::string("-");
  };
  CHECK(target("[x](../file.md)") == "../new/file.md");
  CHECK(target("[x](file.md)") == "../new/file.md");  // written before the note moved
  CHECK(target("![x](img/p.png)") == "../img/p.png");
  CHECK(target("[x](../mid/file.md)") == "../new/file.md");
  CHECK(target("[x](unknown.md)") == "-");
  // A folder went where its files went, if they went together.
  CHECK(target("[x](../mid/)") == "../new/");
  CHECK(target("[x](/mid)") == "/new");
  CHECK(target("[x](img/)") == "../img/");
  CHECK(target("[x](../gone/)") == "-");
}

}  // namespace ws::sync::links
