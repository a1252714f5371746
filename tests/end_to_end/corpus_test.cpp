// A tree of Markdown that nobody here wrote goes up, comes down elsewhere byte for byte, is edited on both sides, and
// converges. The files are the documentation inside the npm packages of tests/corpus.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/build_paths.hpp"
#include "tests/support/two_people.hpp"

using namespace ws::test;
namespace fs = std::filesystem;

namespace {

/// Copies every Markdown file of the corpus that a sync takes: hidden folders are passed over.
std::size_t copy_corpus(const fs::path& target) {
  const fs::path root = source_path("/tests/corpus/node_modules");
  std::size_t count = 0;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    if (entry->path().filename().string().front() == '.') {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file() && entry->path().extension() == ".md") {
      const fs::path to = target / fs::relative(entry->path(), root);
      fs::create_directories(to.parent_path());
      fs::copy_file(entry->path(), to);
      ++count;
    }
  }
  return count;
}

nlohmann::json sync(const Person& person, const fs::path& folder) {
  const Ended ended = person.ws({"sync", "--json"}, folder);
  INFO(ended.err);
  CHECK(ended.exit == 0);
  return nlohmann::json::parse(ended.out);
}

}  // namespace

TEST_CASE("corpus: 500 files of others go up, come down byte for byte, and converge after edits on both sides",
          "[corpus]") {
  MockProcess server;
  const Person mira(server);
  const Person jonas(server);
  const TemporaryFolder work;
  const fs::path first = work / "first";
  const fs::path second = work / "second";
  REQUIRE(copy_corpus(first) >= 500);
  fs::create_directories(second);

  const Ended made = mira.ws({"sync", "init", "--name", "corpus", "--json"}, first);
  INFO(made.err);
  REQUIRE(made.exit == 0);
  const auto uploaded = sync(mira, first);
  CHECK(uploaded["conflicts"].empty());
  const std::string source = uploaded["source_id"];
  REQUIRE(jonas.ws({"sync", "init", "--source", source}, second).exit == 0);
  sync(jonas, second);
  CHECK(texts_of(first) == texts_of(second));

  // Every third file is edited here, every fifth there, so that some are edited on both sides, in different places.
  std::size_t place = 0;
  for (const auto& [path, text] : texts_of(first)) {
    if (place % 3 == 0) write_text(first / path, "A line from the first folder.\n\n" + text);
    if (place % 5 == 0) write_text(second / path, text + "\nA line from the second folder.\n");
    if (place % 50 == 7) fs::remove(first / path);
    ++place;
  }
  write_text(first / "new" / "here.md", "# Here\n");
  write_text(second / "new" / "there.md", "# There\n");
  sync(mira, first);
  sync(jonas, second);
  sync(mira, first);
  const auto texts = texts_of(first);
  CHECK(texts == texts_of(second));
  CHECK(texts.count("new/here.md") + texts.count("new/there.md") == 2);

  const auto quiet = sync(jonas, second);
  CHECK(quiet["clean"] == true);
  CHECK(quiet["actions"].empty());
}
