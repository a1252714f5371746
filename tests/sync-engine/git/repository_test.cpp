#include "sync-engine/git/repository.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "sync-engine/git/changed_lines.hpp"
#include "sync-engine/git/git_folder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ws::sync::git {
namespace {

/// What plain git says of the repository; empty where there is no git on this machine.
std::optional<std::string> plain_git(const std::filesystem::path& repository, const std::string& arguments) {
  if (std::system("git --version > /dev/null 2>&1") != 0) return std::nullopt;
  const std::string out = repository.string() + ".out";
  const std::string command = "git --git-dir=" + repository.string() + " " + arguments + " > " + out + " 2>&1";
  if (std::system(command.c_str()) != 0) return "failed: " + command;
  std::ifstream stream(out);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("repository: few objects and many, as loose ones or one pack, are read by plain git", "[sync-engine]") {
  const int files = GENERATE(3, 400);
  ws::test::TemporaryFolder folder;
  const auto path = folder / "history.git";
  auto repository = Repository::open(path);
  if (!repository) FAIL(repository.error().what);
  std::vector<TreeUpdate> updates;
  std::string large;
  for (int i = 0; i < 200'000; ++i) large += static_cast<char>('a' + (i * 7 + i / 13) % 26);
  for (int i = 0; i < files; ++i) {
    const auto blob = repository->write_blob(i == 0 ? large : "text " + std::to_string(i) + "\n");
    REQUIRE(blob);
    updates.push_back({"d" + std::to_string(i % 7) + "/n" + std::to_string(i) + ".md", *blob});
  }
  const auto empty = repository->write_blob("");
  REQUIRE(empty);
  updates.push_back({"empty.md", *empty});
  const auto tree = repository->write_tree(std::nullopt, updates);
  REQUIRE(tree);
  const auto commit = repository->write_commit(*tree, {}, "first", Time(std::chrono::seconds(1'700'000'000)), {});
  REQUIRE(commit);
  REQUIRE(repository->set_reference("refs/heads/main", *commit));
  CHECK(*repository->read_blob(*updates[0].blob) == large);
  CHECK(*repository->find_reference("refs/heads/main") == *commit);
  if (const auto fsck = plain_git(path, "fsck --strict --full")) CHECK(fsck->find("error") == std::string::npos);
  if (const auto listed = plain_git(path, "ls-tree -r --name-only main")) {
    CHECK(std::count(listed->begin(), listed->end(), '\n') == files + 1);
  }
  if (const auto shown = plain_git(path, "show main:d0/n0.md")) CHECK(*shown == large);
}

TEST_CASE("repository: a tree follows its updates, files become folders and the reverse", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  auto repository = Repository::open(folder / "history.git");
  REQUIRE(repository);
  const auto blob = *repository->write_blob("x");
  const auto first = repository->write_tree(std::nullopt, {{"a", blob}, {"b/c", blob}, {"a b", blob}, {"b.md", blob}});
  REQUIRE(first);
  const auto swapped = repository->write_tree(*first, {{"a", {}}, {"a/x", blob}, {"b/c", {}}, {"b", blob}});
  REQUIRE(swapped);
  const auto direct = repository->write_tree(std::nullopt, {{"a/x", blob}, {"b", blob}, {"a b", blob}, {"b.md", blob}});
  REQUIRE(direct);
  CHECK(*swapped == *direct);
  const auto back = repository->write_tree(*swapped, {{"a/x", {}}, {"a", blob}, {"b", {}}, {"b/c", blob}});
  REQUIRE(back);
  CHECK(*back == *first);
}

TEST_CASE("references: what plain git packs, links and locks is read, replaced and removed", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  const auto path = folder / "history.git";
  auto repository = Repository::open(path);
  REQUIRE(repository);
  const auto tree = repository->write_tree(std::nullopt, {{"a", *repository->write_blob("x")}});
  const auto one = *repository->write_commit(*tree, {}, "one", Time(std::chrono::seconds(1'700'000'000)), {});
  const auto two = *repository->write_commit(*tree, {}, "two", Time(std::chrono::seconds(1'700'000'000)), {});
  REQUIRE(repository->set_reference("refs/heads/main", one));
  REQUIRE(repository->set_reference("refs/heads/conflicts/x", one));
  const auto root = RootFolder::open_no_link(path);
  REQUIRE(root);
  const References references(*root);
  if (plain_git(path, "pack-refs --all")) CHECK_FALSE(std::filesystem::exists(path / "refs/heads/main"));
  CHECK(*references.find("refs/heads/main") == one);
  CHECK(*references.list() == std::vector<std::string>{"refs/heads/conflicts/x", "refs/heads/main"});

  std::ofstream(path / "refs/heads/by-name") << "ref: refs/heads/main\n";
  CHECK(*references.find("refs/heads/by-name") == one);
  std::ofstream(path / "refs/heads/round") << "ref: refs/heads/round\n";
  CHECK(references.find("refs/heads/round").error().kind == Failure::Kind::integrity);
  std::filesystem::remove(path / "refs/heads/round");

  // A killed run leaves locks.
  std::filesystem::create_directories(path / "refs/heads");
  std::ofstream(path / "refs/heads/main.lock") << "";
  CHECK(references.list()->size() == 3);
  REQUIRE(references.set("refs/heads/main", two));
  CHECK(*references.find("refs/heads/main") == two);
  CHECK(*references.find("refs/heads/by-name") == two);
  REQUIRE(references.remove("refs/heads/main"));
  CHECK(*references.find("refs/heads/main") == std::optional<ObjectId>());
  CHECK(*references.find("refs/heads/conflicts/x") == one);
  if (const auto listed = plain_git(path, "for-each-ref --format='%(refname)'")) {
    CHECK(listed->find("refs/heads/conflicts/x\n") != std::string::npos);
    CHECK(listed->find("refs/heads/main\n") == std::string::npos);
  }
}

TEST_CASE("diff_text: long texts are compared in stretches, and patch reads the answer", "[sync-engine]") {
  std::string before;
  for (int i = 0; i < 15'000; ++i) before += "line " + std::to_string(i) + "\n";
  std::string after = "in front\n" + before + "no newline";
  after.replace(after.find("line 7000\n"), 10, "another\nand one\n");
  after.erase(after.find("line 7004\n"), 10);
  REQUIRE_FALSE(is_compared_at_once(before, after));
  CHECK(*diff_text(before, after) ==
        "@@ -1,3 +1,4 @@\n+in front\n line 0\n line 1\n line 2\n"
        "@@ -6998,11 +6999,11 @@\n line 6997\n line 6998\n line 6999\n-line 7000\n+another\n+and one\n line 7001\n"
        " line 7002\n line 7003\n-line 7004\n line 7005\n line 7006\n line 7007\n"
        "@@ -14998,3 +14999,4 @@\n line 14997\n line 14998\n line 14999\n+no newline\n\\ No newline at end of file\n");
  CHECK(diff_text("", before)->starts_with("@@ -0,0 +1,15000 @@\n+line 0\n"));
}

}  // namespace ws::sync::git
