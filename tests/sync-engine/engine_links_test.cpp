// Renames that edit links, through the engine: there and back again gives the same bytes. `WS_LINKS_CASES` sets how
// many vaults (CI: 40; `./dev soak`: 10,000).
#include <ctime>

#include <catch2/catch.hpp>

#include "sync-engine/engine.hpp"
#include "tests/support/random_cases.hpp"
#include "tests/sync-engine/links/random_vault.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using links::Renames;
using test::FakeRemote;
using test::SyncedFolder;

using Move = std::pair<RelativePath, RelativePath>;

/// One file, or a folder; empty: files that change places are no single rename.
std::optional<Move> move_of(const Renames& renames) {
  if (renames.empty()) return std::nullopt;
  std::string from = renames.begin()->first;
  std::string to = renames.begin()->second;
  constexpr std::string_view new_folder = "moved here";
  if (to.starts_with(new_folder)) {
    from.resize(from.size() - (to.size() - new_folder.size()));
    to = new_folder;
  } else if (renames.size() != 1 || from == to) {
    return std::nullopt;
  }
  return Move(*RelativePath::parse(from), *RelativePath::parse(to));
}

struct Tally {
  std::size_t edited = 0;   ///< links
  std::size_t skipped = 0;  ///< vaults
};

/// The files that have other bytes afterwards.
std::string differing(const std::map<std::string, std::string>& before,
                      const std::map<std::string, std::string>& after) {
  std::string files;
  for (const auto& [path, text] : before) {
    const auto found = after.find(path);
    if (found == after.end() || found->second != text) files += path + "\n";
  }
  return files.empty() && before.size() != after.size() ? "more files" : files;
}

/// How many links lead to no file, by the reason.
std::map<BrokenLink::Why, std::size_t> leading_nowhere(SyncedFolder& here) {
  std::map<BrokenLink::Why, std::size_t> counts;
  const auto broken = here.engine().broken_links("");
  REQUIRE(broken);
  for (const BrokenLink& link : broken->broken) {
    if (link.why != BrokenLink::Why::no_heading) ++counts[link.why];
  }
  return counts;
}

/// Empty: the same tree came of it.
std::string there_and_back(std::uint64_t seed, Tally& tally) {
  links::VaultMaker maker(seed);
  const links::Vault vault = maker.vault();
  const std::optional<Move> move = move_of(maker.renames(vault));
  if (!move) return "";
  FakeRemote remote;
  SyncedFolder here(remote, seed);
  for (const auto& [path, text] : vault) here.write(path, text.empty() ? "bytes of " + path : text);
  const bool syncs = seed % 3 == 0;
  if (syncs) here.run();
  const auto before = here.tree();
  const auto nowhere_before = leading_nowhere(here);
  const auto there = here.engine().move(move->first, move->second, false);
  // Its name is taken, by another case or as a folder.
  if (!there) return there.error().kind == Failure::Kind::usage ? "" : there.error().what;
  tally.edited += there->links;
  // A name that two files had names one of them now, and is edited on the way back to go on doing so.
  if (leading_nowhere(here) != nowhere_before) return ++tally.skipped, "";
  if (syncs) here.run();
  const auto back = here.engine().move(move->second, move->first, false);
  return back ? differing(before, here.tree()) : back.error().what;
}

/// To find so many broken links of one note: to files, and to headings of a note with as many.
double seconds_to_check(std::size_t links) {
  FakeRemote remote;
  SyncedFolder here(remote);
  std::string note;
  std::string headings;
  for (std::size_t i = 0; i < links; i += 2) {
    const std::string number = std::to_string(i);
    note += "[a](missing-" + number + ".md)\n\n[b](headings.md#unlike-" + number + ")\n\n";
    headings += "# Heading " + number + "\n\n";
  }
  here.write("n.md", note);
  here.write("headings.md", headings);
  const std::clock_t before = std::clock();
  const auto checked = here.engine().broken_links("");
  const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  REQUIRE(checked);
  REQUIRE(checked->broken.size() == links);
  CHECK(checked->broken.back().line == 2 * links - 1);
  CHECK(checked->broken.back().column == 5);
  return seconds;
}

}  // namespace

TEST_CASE("links: broken links are found in time that grows with their number", "[sync-engine][links]") {
  const double few = seconds_to_check(5'000);
  const double many = seconds_to_check(20'000);
  CAPTURE(few, many);
  // 4 where it is linear, 16 where the square counts; what is compared for similar names costs a second at most.
  CHECK(many < 9 * few + 1);
}

TEST_CASE("links: a rename there and back gives the same bytes, in random vaults", "[sync-engine][links]") {
  const std::size_t cases = ws::test::number_from_environment("WS_LINKS_CASES", 40);
  const std::size_t first = ws::test::number_from_environment("WS_SEED", 1);
  Tally tally;
  for (std::size_t seed = first; seed < first + cases; ++seed) {
    CAPTURE(seed);
    REQUIRE(there_and_back(seed, tally) == "");
  }
  CHECK(tally.edited > cases / 4);
  CHECK(tally.skipped < cases / 10);
}

}  // namespace ws::sync
