#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "server-mock/services/text_index/index.hpp"
#include "server-mock/store/query.hpp"
#include "tests/server-mock/services/service_world.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

Json search(ServiceWorld& world, const Caller& caller, std::string_view query, const Json& more = Json::object()) {
  Json body = {{"query", query}};
  for (const auto& [key, value] : more.items()) body[key] = value;
  const Outcome found = world.call("search.run", caller, std::move(body));
  REQUIRE(found.status == 200);
  return found.body;
}

/// The titles of the first page, in order.
Json titles(ServiceWorld& world, const Caller& caller, std::string_view query, const Json& more = Json::object()) {
  Json list = Json::array();
  const Json page = search(world, caller, query, more);
  for (const Json& result : page.at("data")) list.push_back(result.at("title"));
  return list;
}

bool finds(ServiceWorld& world, const Caller& caller, std::string_view query, const std::string& title) {
  const Json found = titles(world, caller, query);
  return std::ranges::find(found, Json(title)) != found.end();
}

Outcome update_found(ServiceWorld& world, const Caller& caller, const Json& document, const Json& change) {
  Json body = change;
  body["expected_content_revision"] = document.at("content_revision");
  return world.call("docs.update", caller, body, {{"document_id", document.at("id")}});
}

const Json in_pages = {{"kinds", {"page"}}};

}  // namespace

TEST_CASE("search: a new document costs the index nothing before the next search, and is in it", "[server-mock]") {
  ServiceWorld world;
  titles(world, world.mara, "anything");
  const auto waiting = [&] { return read_number(*world.world, "select count(*) from search_dirty").value(); };
  for (const char* title : {"Quagga one", "Quagga two"}) {
    REQUIRE(world.call("docs.create", world.mara, {{"title", title}, {"content", "# A quagga\n"}}).status == 201);
  }
  CHECK(waiting() == 0);
  CHECK(titles(world, world.mara, "quagga").size() == 2);
  const Outcome third = world.call("docs.create", world.mara, {{"title", "Quagga three"}, {"content", "One more\n"}});
  REQUIRE(
      update_found(world, world.mara, third.body, {{"content", "Changed before it was indexed: zyzzyva\n"}}).status ==
      200);
  CHECK(titles(world, world.mara, "zyzzyva") == Json{"Quagga three"});
  CHECK(titles(world, world.mara, "quagga").size() == 3);
}

TEST_CASE("search: finds the section that holds the words, best first, with references that resolve", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara, {{"project_id", world.built_in.project_id}});
  const Json result = search(world, world.mara, "rule of twelfths").at("data").at(0);
  CHECK(result.at("object") == "search_result");
  CHECK(result.at("kind") == "document");
  CHECK(result.at("title") == "Tides and currents");
  CHECK(result.at("heading_path") == Json({"Tides and currents", "Rule of twelfths"}));
  CHECK(result.at("score") == 1.0);
  CHECK(result.at("content_revision") == 1);

  const std::string id = result.at("document_id");
  CHECK(id == world.id_of_document("Tides and currents"));
  CHECK(result.at("links").at("document") == "/v1/documents/" + id);
  const Json document = world.call("docs.get", world.mara, nullptr, {{"document_id", id}}).body;
  CHECK(result.at("node_id") == document.at("node_id"));
  CHECK(result.at("page_id") == document.at("parent_node_id"));
  CHECK(result.at("source_id") == client.source_id());
  CHECK(world.call("sync.source_get", world.mara, nullptr, {{"source_id", result.at("source_id")}}).status == 200);

  const auto place = read_row(*world.world,
                              read_integer,
                              "select place from search_chunks where id = ?",
                              result.at("chunk_id").get<std::string>());
  REQUIRE(*place);
  const auto chunk = read_chunk(*world.world, {.caller = world.mara}, **place);
  REQUIRE((*chunk).has_value());
  CHECK((*chunk)->text.starts_with("## Rule of twelfths\n"));
  CHECK(document.at("content").get<std::string>().find((*chunk)->text) == (*chunk)->start_byte);
}

TEST_CASE("search: the snippet is plain text around the words that were found", "[server-mock]") {
  ServiceWorld world;
  std::string text = "# Long\n\n";
  for (int i = 0; i < 60; ++i) text += "filler " + std::to_string(i) + " ";
  text += "the **quick** [brown fox](https://example.com/hidden) jumps ";
  for (int i = 0; i < 60; ++i) text += "after " + std::to_string(i) + " ";
  world.create_document(world.mara, "Snippet", text);
  const std::string snippet = search(world, world.mara, "quick fox").at("data").at(0).at("snippet");
  CAPTURE(snippet);
  CHECK(snippet.find("the quick brown fox jumps") != std::string::npos);
  CHECK(snippet.find_first_of("*[]\n") == std::string::npos);
  CHECK(snippet.starts_with("…"));
  CHECK(snippet.ends_with("…"));
  CHECK(snippet.size() < 260);
}

TEST_CASE("search: case, accents and word beginnings do not matter, whole words come first", "[server-mock]") {
  ServiceWorld world;
  CHECK(finds(world, world.mara, "REUNION", "Réunion du lundi"));
  CHECK(finds(world, world.mara, "bouee", "Réunion du lundi"));
  CHECK(finds(world, world.mara, "twelfth", "Tides and currents"));
  CHECK(finds(world, world.mara, "францу", "Réunion du lundi") == false);
  CHECK(finds(world, world.mara, "ольга", "Réunion du lundi"));
  world.create_document(world.mara, "Longer", "quayside quayside");
  world.create_document(world.mara, "Whole", "quay and more words around it");
  CHECK(titles(world, world.mara, "quay") == Json({"Whole", "Longer"}));
}

TEST_CASE("search: scripts without spaces are found by any part of their text", "[server-mock]") {
  ServiceWorld world;
  for (const char* query : {"日本語", "要約", "ブイ七番", "東へ四十メートル", "渡辺", "☕"}) {
    CAPTURE(query);
    CHECK(finds(world, world.mara, query, "Réunion du lundi"));
  }
  CHECK(titles(world, world.mara, "語日") == Json::array());
}

TEST_CASE("search: titles are found, of documents and of Pages", "[server-mock]") {
  ServiceWorld world;
  world.create_document(world.mara, "Zanzibar", "");
  CHECK(titles(world, world.mara, "zanzibar") == Json::array({"Zanzibar"}));
  const Json page = search(world, world.mara, "guides", in_pages).at("data").at(0);
  CHECK(page.at("kind") == "page");
  CHECK(page.at("title") == "guides");
  CHECK(page.at("snippet") == "guides");
  CHECK(page.at("page_id") == page.at("node_id"));
  CHECK(page.at("document_id").is_null());
  CHECK(page.at("chunk_id").is_null());
}

TEST_CASE("search: all words in one place, or else any of them", "[server-mock]") {
  ServiceWorld world;
  world.create_document(world.mara, "Both", "kestrel and heron");
  world.create_document(world.mara, "One", "kestrel alone");
  CHECK(titles(world, world.mara, "kestrel heron") == Json::array({"Both"}));
  CHECK(titles(world, world.mara, "kestrel zebra").size() == 2);
}

TEST_CASE("search: kinds and Project filter it, an invisible Project is 404", "[server-mock]") {
  ServiceWorld world;
  world.create_document(world.mara, "tides at home", "tides");
  CHECK(finds(world, world.mara, "tides", "tides at home"));
  const Json in_project = titles(world, world.mara, "tides", {{"project_id", world.built_in.project_id}});
  CHECK_FALSE(in_project.empty());
  CHECK(std::ranges::find(in_project, Json("tides at home")) == in_project.end());
  CHECK(titles(world, world.mara, "tides", in_pages) == Json::array());
  CHECK(titles(world, world.mara, "tides", {{"kinds", {"asset"}}}) == Json::array());
  const Caller stranger = {.owner_user_id = world.built_in.user_id,
                           .audience = Audience::workspace,
                           .workspace_id = world.built_in.other_workspace_id,
                           .role = contract::Role::viewer};
  CHECK(world.call("search.run", stranger, {{"query", "tides"}, {"project_id", world.built_in.project_id}}).status ==
        404);
}

TEST_CASE("search: no input is FTS5 syntax", "[server-mock]") {
  ServiceWorld world;
  const std::string many(1000, 'x');
  std::string words;
  while (words.size() < 990) words += "w" + std::to_string(words.size()) + " ";
  for (const std::string& query : std::vector<std::string>{"\"",
                                                           "\"\"",
                                                           "'",
                                                           "tides\"",
                                                           "\"tides",
                                                           "NEAR(tides currents, 2)",
                                                           "title: tides",
                                                           "tides AND",
                                                           "OR",
                                                           "NOT",
                                                           "AND OR NOT",
                                                           "tides*",
                                                           "*",
                                                           "^tides",
                                                           "-tides",
                                                           "+",
                                                           "{title body}: x",
                                                           "(",
                                                           ")",
                                                           "((((",
                                                           "tides)",
                                                           "a:b:c",
                                                           "\\",
                                                           "; drop table documents; --",
                                                           "' or 1=1",
                                                           "%",
                                                           "_",
                                                           "👩‍🔬",
                                                           "🏴‍☠️",
                                                           "—…¿",
                                                           "\t\n",
                                                           "\x01",
                                                           "a\xCC\x81",
                                                           "tides \xE2\x80\xAE currents",
                                                           "rowid:1",
                                                           "search_words",
                                                           "\xEF\xBF\xBD",
                                                           many,
                                                           words}) {
    CAPTURE(query);
    const Json found = search(world, world.mara, query);
    CHECK(found.at("object") == "search_results");
  }
  for (const char* query : {"NEAR(tides currents, 2)", "tides*", "^tides", "-tides", "\"tides", "tides)"}) {
    CAPTURE(query);
    CHECK(finds(world, world.mara, query, "Tides and currents"));
  }
  for (const char* query : {"\"", "*", "—…", " ", "(", "'"}) {
    CAPTURE(query);
    CHECK(search(world, world.mara, query).at("data") == Json::array());
  }
}

TEST_CASE("search: results contain only what the caller may read", "[server-mock]") {
  ServiceWorld world;
  const Json secret = world.create_document(world.tomas, "Xylophone", "xylophone in the attic").body;
  const Caller viewer = world.add_person("Vera", "viewer");
  CHECK(titles(world, world.tomas, "xylophone") == Json::array({"Xylophone"}));
  CHECK(titles(world, world.mara, "xylophone") == Json::array({"Xylophone"}));  // the owner of the Workspace
  for (const Caller& caller : {viewer, world.agent}) {
    const Json found = search(world, caller, "xylophone");
    CHECK(found.at("data") == Json::array());
    CHECK(found.at("next_cursor").is_null());
    CHECK(dump(search(world, caller, "attic tides")).find("ttic") == std::string::npos);
  }
  Caller capped = world.mara;
  capped.role = contract::Role::viewer;
  CHECK(titles(world, capped, "xylophone") == Json::array());

  const Json share = {{"email", "Vera@example.com"}, {"permission", "read"}};
  REQUIRE(world.call("docs.share", world.tomas, share, {{"document_id", secret.at("id")}}).status == 200);
  CHECK(titles(world, viewer, "xylophone") == Json::array({"Xylophone"}));
  CHECK(titles(world, world.agent, "xylophone") == Json::array());
}

TEST_CASE("search: a key of one Workspace finds nothing of another", "[server-mock]") {
  ServiceWorld world;
  CHECK(finds(world, world.mara, "garlic", "Garden notes") == false);  // of Tomás, outside every Project
  const Caller owner = {.owner_user_id = world.built_in.other_user_id,
                        .audience = Audience::user,
                        .workspace_id = world.built_in.workspace_id,
                        .role = contract::Role::editor};
  CHECK(finds(world, owner, "garlic", "Garden notes"));
  CHECK_FALSE(finds(world, world.tomas, "garlic", "Garden notes"));
}

TEST_CASE("search: what others write does not change the scores that are shown", "[server-mock]") {
  ServiceWorld world;
  const Caller viewer = world.add_person("Vera", "viewer");
  const Json before = search(world, viewer, "ebb").at("data");
  for (int i = 0; i < 20; ++i) world.create_document(world.tomas, "private", "ebb");
  const Json after = search(world, viewer, "ebb").at("data");
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(before[i].at("chunk_id") == after[i].at("chunk_id"));
  CHECK(before.at(0).at("score") == after.at(0).at("score"));
}

TEST_CASE("search: edits, titles and archiving are seen at once", "[server-mock]") {
  ServiceWorld world;
  Json document = world.create_document(world.mara, "Oldname", "# A\n\nwalnut\n").body;
  CHECK(titles(world, world.mara, "walnut") == Json::array({"Oldname"}));
  document = update_found(world, world.mara, document, {{"content", "# A\n\nhazel\n"}}).body;
  CHECK(titles(world, world.mara, "walnut") == Json::array());
  document = update_found(world, world.mara, document, {{"title", "Newname"}}).body;
  const Json found = search(world, world.mara, "hazel").at("data").at(0);
  CHECK(found.at("title") == "Newname");
  CHECK(found.at("content_revision") == 3);
  REQUIRE(world.call("docs.archive", world.mara, nullptr, {{"document_id", document.at("id")}}).status == 200);
  CHECK(titles(world, world.mara, "hazel") == Json::array());
  CHECK(titles(world, world.mara, "newname") == Json::array());
}

TEST_CASE("search: a chunk keeps its id as long as its heading exists", "[server-mock]") {
  ServiceWorld world;
  const auto chunk_of = [&](std::string_view word) -> std::string {
    return search(world, world.mara, word).at("data").at(0).at("chunk_id");
  };
  Json document = world.create_document(world.mara, "Three", "# One\n\nalder\n\n# Two\n\nbirch\n").body;
  const std::string one = chunk_of("alder");
  const std::string two = chunk_of("birch");
  CHECK(one != two);
  document =
      update_found(world, world.mara, document, {{"content", "# Zero\n\ncedar\n\n# One\n\nelder\n\n# Two\n\nbirch\n"}})
          .body;
  CHECK(chunk_of("elder") == one);
  CHECK(chunk_of("birch") == two);
  CHECK(chunk_of("cedar") != one);
  update_found(world, world.mara, document, {{"content", "# Two\n\nbirch\n"}});
  CHECK(chunk_of("birch") == two);
  CHECK(titles(world, world.mara, "elder") == Json::array());
}

TEST_CASE("search: a long section is found by its parts", "[server-mock]") {
  ServiceWorld world;
  std::string text = "# Log\n\n";
  for (int i = 0; i < 300; ++i) text += "Paragraph number " + std::to_string(i) + " of the long log entry.\n\n";
  text += "narwhal\n";
  world.create_document(world.mara, "Long log", text);
  const Json found = search(world, world.mara, "narwhal").at("data");
  REQUIRE(found.size() == 1);
  CHECK(found.at(0).at("heading_path") == Json::array({"Log"}));
  CHECK(found.at(0).at("snippet").get<std::string>().find("narwhal") != std::string::npos);
}

TEST_CASE("search: pages continue in the same order, whatever is written meanwhile", "[server-mock]") {
  ServiceWorld world;
  for (int i = 0; i < 25; ++i) world.create_document(world.mara, "Osprey " + std::to_string(i), "osprey nest");
  std::set<std::string> seen;
  Json page = search(world, world.mara, "osprey", {{"limit", 10}});
  while (true) {
    for (const Json& result : page.at("data")) CHECK(seen.insert(result.at("title")).second);
    world.create_document(world.mara, "Late", "osprey osprey osprey");
    if (page.at("next_cursor").is_null()) break;
    CHECK(page.at("data").size() == 10);
    page = search(world, world.mara, "osprey", {{"limit", 10}, {"cursor", page.at("next_cursor")}});
  }
  CHECK(seen.size() == 25);
  CHECK(seen.count("Late") == 0);
}

TEST_CASE("search: says when it stopped counting", "[server-mock]") {
  ServiceWorld world;
  const auto warning = [&] {
    return world.call("search.run", world.mara, {{"query", "osprey"}}).header("X-Mock-Warning");
  };
  for (int i = 0; i < 500; ++i) world.create_document(world.mara, "Osprey", "# Osprey\n\nnest\n\n# Nest\n\nosprey\n");
  CHECK(warning().empty());
  world.create_document(world.mara, "Osprey", "osprey nest");
  CHECK(warning() == "there are more results than the 1000 shown");
}

TEST_CASE("search: what becomes invisible between two pages is not on the second", "[server-mock]") {
  ServiceWorld world;
  for (int i = 0; i < 4; ++i) world.create_document(world.mara, "Puffin " + std::to_string(i), "puffin");
  const Json first = search(world, world.mara, "puffin", {{"limit", 2}});
  for (int i = 0; i < 4; ++i) {
    const std::string id = world.id_of_document("Puffin " + std::to_string(i));
    world.call("docs.archive", world.mara, nullptr, {{"document_id", id}});
  }
  const Json second = search(world, world.mara, "puffin", {{"limit", 2}, {"cursor", first.at("next_cursor")}});
  CHECK(second.at("data") == Json::array());
  CHECK(second.at("next_cursor").is_null());
}

TEST_CASE("search: a cursor that is malformed or of another search is refused", "[server-mock]") {
  ServiceWorld world;
  for (int i = 0; i < 4; ++i) world.create_document(world.mara, "Gannet", "gannet skua");
  const Json cursor = search(world, world.mara, "gannet", {{"limit", 1}}).at("next_cursor");
  for (const Json& body : {Json{{"query", "gannet"}, {"cursor", "nonsense"}},
                           Json{{"query", "gannet"}, {"cursor", ""}},
                           Json{{"query", "skua"}, {"cursor", cursor}},
                           Json{{"query", "gannet"}, {"cursor", cursor}, {"kinds", {"page"}}}}) {
    CAPTURE(dump(body));
    CHECK(world.call("search.run", world.mara, body).status == 422);
  }
  CHECK(world.call("search.run", world.tomas, {{"query", "gannet"}, {"cursor", cursor}}).status == 422);
  CHECK(world.call("search.run", world.mara, {{"query", "gannet"}, {"cursor", cursor}}).status == 200);
}

TEST_CASE("search: a text made of nothing but headings is indexed in bounded time", "[server-mock]") {
  ServiceWorld world;
  std::string text;
  while (text.size() < 1'000'000) text += "# a\n";
  text += "\nmarmot\n";
  world.create_document(world.mara, "Headings", text);
  CHECK(titles(world, world.mara, "marmot") == Json::array({"Headings"}));
}

TEST_CASE("search: the index survives a reset of the world", "[server-mock]") {
  ServiceWorld world;
  CHECK(finds(world, world.mara, "tides", "Tides and currents"));
  REQUIRE(reset(*world.world, StartWith::seed));
  CHECK(finds(world, world.mara, "tides", "Tides and currents"));
  REQUIRE(reset(*world.world, StartWith::empty));
  CHECK(titles(world, world.mara, "tides") == Json::array());
  REQUIRE(world.world->database.execute("insert into search_words (search_words) values ('integrity-check')"));
}
