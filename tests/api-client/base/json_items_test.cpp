#include "api-client/base/json_items.hpp"

#include <random>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace ws {
namespace {

struct ReadItems {
  std::vector<std::string> items = {};
  std::string rest = {};
  std::string failure = {};
  bool operator==(const ReadItems&) const = default;
};

/// Reads `text` in pieces of at most `piece` bytes.
ReadItems read(std::string_view text, std::size_t piece, const JsonItemsBounds& bounds = {}) {
  ReadItems out;
  JsonItems items(
      "data",
      [&](const Json& item) {
        out.items.push_back(dump(item));
        return Result<void>();
      },
      bounds);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    if (const auto fed = items.feed(text.substr(0, piece)); !fed) {
      out.failure = fed.error().what;
      return out;
    }
  }
  const auto rest = items.finish();
  if (rest) {
    out.rest = dump(*rest);
  } else {
    out.failure = rest.error().what;
  }
  return out;
}

}  // namespace

TEST_CASE("json items: each is handed over, the rest is the object with an empty list, wherever it is cut", "[base]") {
  const std::string text =
      R"( {"source_id" : "data", "nested":{"data":[1,[2]]}, "data" : [ {"a":"]\"},[\\"},  [1,"x"],"te\"xt", -1.5e3 ,true,null,{} ] , "next":"c","z":[] } )";
  const ReadItems whole = read(text, text.size());
  CHECK(whole.failure.empty());
  CHECK(whole.items ==
        std::vector<std::string>{R"({"a":"]\"},[\\"})", R"([1,"x"])", R"("te\"xt")", "-1500.0", "true", "null", "{}"});
  CHECK(whole.rest == R"({"source_id":"data","nested":{"data":[1,[2]]},"data":[],"next":"c","z":[]})");
  for (std::size_t piece = 1; piece <= 20; ++piece) CHECK(read(text, piece) == whole);
}

TEST_CASE("json items: random lists read as the whole document does", "[base]") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::function<Json(int)> value = [&](int depth) -> Json {
    switch (below(depth > 3 ? 4 : 6)) {
      case 0: return Json(static_cast<std::int64_t>(below(1000)) - 500);
      case 1: return Json(below(2) == 0);
      case 2: return Json();
      case 3: {
        std::string text;
        for (unsigned i = below(12); i > 0; --i) text += R"("\[]{},: ä"x)"[below(12)];
        return Json(dump(Json(text)));
      }
      case 4: {
        Json list = Json::array();
        for (unsigned i = below(4); i > 0; --i) list.push_back(value(depth + 1));
        return list;
      }
      default: {
        Json object = Json::object();
        for (unsigned i = below(4); i > 0; --i) object["k" + std::to_string(i)] = value(depth + 1);
        return object;
      }
    }
  };
  for (int round = 0; round < 500; ++round) {
    Json document = {{"before", value(0)}, {"data", Json::array()}, {"after", value(0)}};
    ReadItems expected;
    for (unsigned i = below(6); i > 0; --i) {
      document["data"].push_back(value(0));
      expected.items.push_back(dump(document["data"].back()));
    }
    const std::string text = dump(document, below(2) == 0 ? -1 : 2);
    document["data"] = Json::array();
    expected.rest = dump(document);
    CAPTURE(text);
    REQUIRE(read(text, 1 + below(40)) == expected);
  }
}

TEST_CASE("json items: what is no JSON, is cut or stands twice is refused", "[base]") {
  const char* const text = GENERATE(R"({"data":[{"a":1})",
                                    R"({"data":[1,2)",
                                    R"({"data":[1])",
                                    R"({"data":[1,]})",
                                    R"({"data":[,1]})",
                                    R"({"data":[1 2]})",
                                    R"({"data":[1}]})",
                                    R"({"data":[{"a":1]]})",
                                    R"({"data":[{"a"}]})",
                                    R"({"data":[nul]})",
                                    R"({"data":[1],"data":[2]})",
                                    R"({"data":[1]}})",
                                    R"({"data":[1]} x)",
                                    R"({"data" [1]})",
                                    "{\"data\":[\"\xff\"]}",
                                    "");
  CAPTURE(text);
  for (const std::size_t piece : {1U, 3U, 100U}) CHECK_FALSE(read(text, piece).failure.empty());
}

TEST_CASE("json items: an object without the list, or with something else there, is the rest", "[base]") {
  CHECK(read(R"({"a":"data","b":["data",[1]]})", 2) == ReadItems{.rest = R"({"a":"data","b":["data",[1]]})"});
  CHECK(read(R"({"data":null})", 2) == ReadItems{.rest = R"({"data":null})"});
  CHECK(read(R"([{"data":[1]}])", 2) == ReadItems{.rest = R"([{"data":[1]}])"});
  CHECK(read(R"({"data":[]})", 2) == ReadItems{.rest = R"({"data":[]})"});
}

TEST_CASE("json items: an item, and what stands around the list, may have so many bytes and levels", "[base]") {
  const JsonItemsBounds bounds{.item = {.max_bytes = 10, .max_depth = 2}, .rest = {.max_bytes = 30}};
  CHECK(read(R"({"data":["12345678"]})", 4, bounds).failure.empty());
  CHECK_THAT(read(R"({"data":[1,"123456789"]})", 4, bounds).failure,
             Catch::Matchers::Contains("item 2 of the list has more than 10 bytes"));
  CHECK(read(R"({"data":[[[[]]]]})", 4, bounds).failure == "item 1 of the list: JSON with more than 2 levels deep");
  CHECK_THAT(read(R"({"long":"0123456789012345678","data":[]})", 4, bounds).failure,
             Catch::Matchers::Contains("more than 30 bytes outside of the list"));
  std::string many = R"({"data":[0)";
  for (int i = 0; i < 10'000; ++i) many += ",1";
  CHECK(read(many + "]}", 64, bounds).items.size() == 10'001);
}

TEST_CASE("json items: a failure of the visitor ends it as it is", "[base]") {
  JsonItems items("data", [](const Json&) -> Result<void> { return fail(Failure::Kind::disk, "full"); });
  const auto fed = items.feed(R"({"data":[1]})");
  REQUIRE_FALSE(fed);
  CHECK(fed.error().kind == Failure::Kind::disk);
}

TEST_CASE("json items: one that is damaged comes as far as it can be read, wherever it is cut", "[base]") {
  const JsonItemsBounds bounds{.item = {.max_bytes = 40}};
  const std::string text = R"({"data":[{"a":1},{"a":")" + std::string(100, 'x') + R"(\"","b":"short"},)" +
                           R"({"s":"\ud800\ud83d\ude00\udc00"},{"u":")" + "\xff\"},{\"a\":2}]}";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    CAPTURE(piece);
    std::vector<std::string> whole;
    std::vector<std::string> damaged;
    JsonItems items(
        "data",
        [&](const Json& item) {
          whole.push_back(dump(item));
          return Result<void>();
        },
        bounds);
    items.on_damaged([&](const Json& item, const Failure&) {
      const auto text_a = find_text(item, "a");
      damaged.push_back(text_a ? find_text(item, "b").value() : dump(item));
      CHECK(text_a.value_or("").size() <= 40);
      return Result<void>();
    });
    for (std::size_t at = 0; at < text.size(); at += piece) REQUIRE(items.feed(text.substr(at, piece)));
    REQUIRE(items.finish());
    CHECK(whole == std::vector<std::string>{R"({"a":1})", R"({"a":2})"});
    CHECK(damaged == std::vector<std::string>{
                         "short", "{\"s\":\"\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd\"}", "{\"u\":\"\xef\xbf\xbd\"}"});
  }
}

TEST_CASE("json items: removing one long text leaves the texts after it intact", "[base]") {
  const JsonItemsBounds bounds{.item = {.max_bytes = 60}};
  const std::vector<std::pair<std::string, std::size_t>> sizes = {{"a", 30}, {"b", 12}, {"c", 14}, {"d", 40}};
  std::string item_text;
  for (const auto& [name, size] : sizes) {
    item_text += (item_text.empty() ? "{\"" : ",\"") + name + "\":\"" + std::string(size, name[0]) + "\"";
  }
  const std::string text = "{\"data\":[" + item_text + "},7]}";
  for (std::size_t piece = 1; piece <= 20; ++piece) {  // one piece may not exceed the bound by more than one text
    CAPTURE(piece);
    Json damaged;
    std::vector<std::string> whole;
    const auto keep_whole = [&](const Json& item) {
      whole.push_back(dump(item));
      return Result<void>();
    };
    JsonItems items("data", keep_whole, bounds);
    items.on_damaged([&](const Json& item, const Failure&) {
      damaged = item;
      return Result<void>();
    });
    for (std::size_t at = 0; at < text.size(); at += piece) REQUIRE(items.feed(text.substr(at, piece)));
    REQUIRE(items.finish());
    CHECK(whole == std::vector<std::string>{"7"});
    REQUIRE(damaged.is_object());
    CHECK(damaged.size() == sizes.size());
    for (const auto& [name, size] : sizes) {
      const std::string kept = find_text(damaged, name).value_or("missing");
      CHECK(kept.size() <= size);
      CHECK(kept.find_first_not_of(name[0]) == std::string::npos);
    }
  }
}

TEST_CASE("json items: what is over its bound without a long text is refused all the same", "[base]") {
  JsonItems items("data", [](const Json&) { return Result<void>(); }, {.item = {.max_bytes = 10}});
  items.on_damaged([](const Json&, const Failure&) { return Result<void>(); });
  CHECK_FALSE(items.feed(R"({"data":[[1,2,3,4,5,6,7,8,9]]})"));
}

TEST_CASE("json items: an item whose text is left out, and the blanks before one, end at a bound too", "[base]") {
  for (const char c : {'x', ' '}) {
    JsonItems items(
        "data", [](const Json&) { return Result<void>(); }, {.item = {.max_bytes = 10}, .max_passed_bytes = 1000});
    items.on_damaged([](const Json&, const Failure&) { return Result<void>(); });
    REQUIRE(items.feed(c == 'x' ? R"({"data":[{"s":")" : R"({"data":[1)"));
    REQUIRE(items.feed(std::string(900, c)));
    const auto fed = items.feed(std::string(200, c));
    REQUIRE_FALSE(fed);
    CHECK_THAT(fed.error().what, Catch::Matchers::Contains("does not end within 1000 bytes"));
  }
}

}  // namespace ws
