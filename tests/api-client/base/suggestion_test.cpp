#include "api-client/base/suggestion.hpp"

#include <catch2/catch.hpp>

using namespace ws;

TEST_CASE("nearest: a slip of the finger is one step", "[base]") {
  CHECK(edit_distance("docs", "docs") == 0);
  CHECK(edit_distance("dosc", "docs") == 1);
  CHECK(edit_distance("doc", "docs") == 1);
  CHECK(edit_distance("docks", "docs") == 1);
  CHECK(edit_distance("", "docs") == 4);
}

TEST_CASE("nearest: the closest come first, and what is far off does not come", "[base]") {
  CHECK(similar_names("crate", {"list", "create", "get"}) == std::vector<std::string>{"create"});
  CHECK(similar_names("zzz", {"list", "create", "get"}).empty());
  CHECK(similar_names("arch", {"get", "archive"}) == std::vector<std::string>{"archive"});
}

TEST_CASE("nearest: the opposite is never meant", "[base]") {
  CHECK(similar_names("unarchive", {"list", "archive"}).empty());
  CHECK(similar_names("archive", {"unarchive"}).empty());
  CHECK(similar_names("sync unarchive", {"sync archive"}).empty());
  CHECK(similar_names("--no-validation", {"--validation", "--no-validate"}) ==
        std::vector<std::string>{"--no-validate"});
  CHECK(similar_names("unarhive", {"unarchive"}) == std::vector<std::string>{"unarchive"});
}

TEST_CASE("nearest: the suggestion is a question, or nothing", "[base]") {
  CHECK(suggestion("crate", {"create"}, "ws docs ") == "did you mean `ws docs create`?");
  CHECK(suggestion("zzz", {"create"}).empty());
}
