// Texts that freeze a careless reader, through the real `ws` against the real `ws-mock`.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/bounds/freezing_texts.hpp"
#include "tests/cli/workflow/stage.hpp"

namespace ws::test {

TEST_CASE("bounds: texts that freeze are synced, merged, rendered and searched", "[bounds]") {
  constexpr std::size_t bytes = 50'000;
  const MockProcess server;
  const Person person(server);
  REQUIRE(person.ws({"sync", "init", "tree", "--yes"}, person.home()).exit == 0);
  const auto tree = person.home() / "tree";
  const std::vector<std::string> texts = {"# rope\n\n" + repeated("a <? ", bytes),
                                          "# rope\n\n" + repeated("![[]()", bytes),
                                          "# rope\n\n" + repeated("rope*[a](b)", bytes),
                                          "# rope\n" + repeated("a|", bytes) + "\n" + repeated("-|", bytes) + "\n"};
  for (std::size_t i = 0; i < texts.size(); ++i) write_text(tree / (std::to_string(i) + ".md"), texts[i] + "\nend\n");
  // Of patterns too: git's own matcher takes hours for it.
  write_text(tree / ".wsignore", repeated("a*", 80) + "b\n");
  write_text(tree / (std::string(200, 'a') + ".md"), "x\n");
  const auto within = [&](std::vector<std::string> command, int exit) {
    const Ended ended = person.ws(std::move(command), tree);
    CAPTURE(ended.err);
    CHECK(ended.exit == exit);
    CHECK(ended.processor_s < 10);
    return ended.out;
  };
  within({"sync"}, 0);
  within({"search", "rope"}, 0);
  const Json list = parse(within({"docs", "list", "--json"}, 0));
  for (const Json& document : list["data"]) {
    within({"docs", "get", document["id"].get<std::string>(), "--render"}, 0);
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    write_text(tree / (std::to_string(i) + ".md"), "ours\n\n" + texts[i] + "\nend\n");
  }
  within({"sync", "diff"}, 0);
  within({"sync"}, 0);
  CHECK(server.ask({.target = "/_mock/health"}).status < 500);
}

}  // namespace ws::test
