#include <catch2/catch.hpp>

#include "server-mock/services/text_index/index.hpp"
#include "server-mock/store/query.hpp"
#include "tests/server-mock/services/service_world.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

Outcome ask(ServiceWorld& world,
            const Caller& caller,
            std::string_view prompt,
            const Json& sources = Json::array({"workspace"}),
            const Json& conversation = nullptr) {
  Json body = {{"prompt", prompt}, {"sources", sources}};
  if (!conversation.is_null()) body["conversation_id"] = conversation;
  return world.call("questions.create", caller, std::move(body));
}

Outcome get_question(ServiceWorld& world, const Caller& caller, const Json& id) {
  return world.call("questions.get", caller, nullptr, {{"question_id", id}});
}

Outcome list(ServiceWorld& world, const Caller& caller, const Json& parameters = Json::object()) {
  return world.call("questions.list", caller, nullptr, parameters);
}

Json prompts(const Json& page) {
  Json all = Json::array();
  for (const Json& question : page.at("data")) all.push_back(question.at("prompt"));
  return all;
}

/// The text of the chunk that a citation names, as the caller may read it.
std::string cited_text(ServiceWorld& world, const Caller& caller, const Json& citation) {
  const auto place = read_row(*world.world,
                              read_integer,
                              "select place from search_chunks where id = ?",
                              citation.at("chunk_id").get<std::string>());
  REQUIRE(*place);
  const auto chunk = read_chunk(*world.world, {.caller = caller}, **place);
  REQUIRE((*chunk).has_value());
  CHECK((*chunk)->document_id == citation.at("document_id"));
  CHECK(Json((*chunk)->heading_path) == citation.at("heading_path"));
  return (*chunk)->text;
}

const Json memory = Json::array({"memory"});
const Json both = Json::array({"workspace", "memory"});
constexpr const char* high_water = "How many minutes after the port table is high water at the pier?";

}  // namespace

TEST_CASE("questions: the answer quotes the cited chunks", "[server-mock]") {
  ServiceWorld world;
  const Json question = ask(world, world.tomas, high_water).body;
  CHECK(question.at("status") == "completed");
  CHECK(question.at("completed_at") == "2026-11-20T10:00:00.000Z");
  REQUIRE_FALSE(question.at("citations").empty());
  const Json& first = question.at("citations").at(0);
  CHECK(first.at("quote") == "High water at the pier is **38 minutes** after the port table.");
  CHECK(first.at("document_id") == world.id_of_document("Tides and currents"));
  CHECK(question.at("source_document_ids").at(0) == first.at("document_id"));
  const std::string answer = question.at("answer");
  for (const Json& citation : question.at("citations")) {
    const std::string quote = citation.at("quote");
    CAPTURE(quote);
    CHECK(cited_text(world, world.tomas, citation).find(quote) != std::string::npos);
    CHECK(answer.find("/v1/documents/" + citation.at("document_id").get<std::string>()) != std::string::npos);
  }
  CHECK(answer.find("> High water at the pier is **38 minutes**") != std::string::npos);
}

TEST_CASE("questions: the answer is kept as a document that the asker reads", "[server-mock]") {
  ServiceWorld world;
  const Caller viewer = world.add_person("Vera", "viewer");
  for (const Caller& asker : {world.tomas, viewer, world.agent}) {
    const Json question = ask(world, asker, high_water).body;
    REQUIRE(question.at("artifacts").size() == 1);
    const Json& artifact = question.at("artifacts").at(0);
    CHECK(artifact.at("kind") == "document");
    const Outcome document = world.call("docs.get", asker, nullptr, {{"document_id", artifact.at("document_id")}});
    REQUIRE(document.status == 200);
    CHECK(document.body.at("title") == question.at("title"));
    CHECK(document.body.at("content_revision") == artifact.at("content_revision"));
    if (question.at("citations").empty()) continue;
    CHECK(document.body.at("content").get<std::string>().find(question.at("answer").get<std::string>()) !=
          std::string::npos);
  }
}

TEST_CASE("questions: what is stored is what was answered", "[server-mock]") {
  ServiceWorld world;
  const Json question = ask(world, world.tomas, high_water, both).body;
  CHECK(question.at("links").at("self") == "/v1/questions/" + question.at("id").get<std::string>());
  CHECK(get_question(world, world.tomas, question.at("id")).body == question);
  CHECK(list(world, world.tomas).body.at("data") == Json::array({question}));
}

TEST_CASE("questions: without a match the answer says so and cites nothing", "[server-mock]") {
  ServiceWorld world;
  for (const char* prompt : {"submarine volcano aubergine", "???", " ", "\"*:^", "👩‍🔬"}) {
    CAPTURE(prompt);
    const Json question = ask(world, world.tomas, prompt, both).body;
    CHECK(question.at("status") == "completed");
    CHECK(question.at("citations") == Json::array());
    CHECK(question.at("source_document_ids") == Json::array());
    CHECK(question.at("answer") ==
          "Nothing was found about this in the documents and the earlier questions that you may read.\n");
    CHECK(question.at("artifacts").size() == 1);
  }
  CHECK(ask(world, world.tomas, high_water, Json::array()).body.at("citations") == Json::array());
}

TEST_CASE("questions: memory answers from earlier questions, workspace from documents alone", "[server-mock]") {
  ServiceWorld world;
  CHECK(ask(world, world.tomas, high_water, memory).body.at("citations") == Json::array());
  const Json first = ask(world, world.tomas, high_water).body;
  const Json artifact = first.at("artifacts").at(0).at("document_id");

  const Json again = ask(world, world.tomas, "high water at the pier", memory).body;
  REQUIRE(again.at("citations").size() == 1);
  const Json& citation = again.at("citations").at(0);
  CHECK(citation.at("document_id") == artifact);
  CHECK(citation.at("quote").get<std::string>().find("38 minutes") != std::string::npos);
  CHECK(cited_text(world, world.tomas, citation).find(citation.at("quote").get<std::string>()) != std::string::npos);

  const Json documents = ask(world, world.tomas, "high water at the pier").body;
  for (const Json& source : documents.at("source_document_ids")) CHECK(source != artifact);
}

TEST_CASE("questions: an answer contains only what the asker may read", "[server-mock]") {
  ServiceWorld world;
  world.create_document(world.tomas, "Vault", "The vault code is 7291.");
  CHECK(ask(world, world.tomas, "vault code").body.at("citations").size() == 1);
  const Caller viewer = world.add_person("Vera", "viewer");
  for (const Caller& caller : {viewer, world.agent}) {
    const Json question = ask(world, caller, "vault code", both).body;
    CHECK(question.at("citations") == Json::array());
    CHECK(dump(question).find("7291") == std::string::npos);
  }
}

TEST_CASE("questions: visible to the asker, the asking agent's owner and admins only", "[server-mock]") {
  ServiceWorld world;
  const Caller viewer = world.add_person("Vera", "viewer");
  const Caller admin = world.add_person("Ada", "admin");
  const Json question = ask(world, world.tomas, high_water).body;
  const Json& id = question.at("id");
  CHECK(get_question(world, admin, id).status == 200);
  CHECK(get_question(world, admin, id).body.at("artifacts").size() == 1);
  for (const Caller& caller : {viewer, world.agent}) {
    CHECK(get_question(world, caller, id).status == 404);
    CHECK(list(world, caller).body.at("data") == Json::array());
    CHECK(world.call("conversations.list", caller).body.at("data") == Json::array());
    CHECK(world.call("conversations.get", caller, nullptr, {{"conversation_id", question.at("conversation_id")}})
              .status == 404);
    CHECK(ask(world, caller, "again", both, question.at("conversation_id")).status == 404);
    CHECK(list(world, caller, {{"conversation_id", question.at("conversation_id")}}).body.at("data") == Json::array());
  }
  CHECK(ask(world, admin, "again", both, question.at("conversation_id")).status == 403);

  const Json of_agent = ask(world, world.agent, high_water).body;
  CHECK(get_question(world, world.mara, of_agent.at("id")).status == 200);
  CHECK(get_question(world, world.tomas, of_agent.at("id")).status == 404);
  CHECK(get_question(world, world.tomas, "00000000-0000-7000-8000-000000000000").status == 404);
}

TEST_CASE("questions: a citation is removed when its document becomes invisible", "[server-mock]") {
  ServiceWorld world;
  const Caller viewer = world.add_person("Vera", "viewer");
  const Json document = world.create_document(world.mara, "Vault", "The vault code is 7291.").body;
  const Json share = {{"email", "Vera@example.com"}, {"permission", "read"}};
  world.call("docs.share", world.mara, share, {{"document_id", document.at("id")}});
  const Json question = ask(world, viewer, "vault code").body;
  REQUIRE(question.at("citations").size() == 1);
  REQUIRE(world.world->database.execute("delete from shares"));
  const Json later = get_question(world, viewer, question.at("id")).body;
  CHECK(later.at("citations") == Json::array());
  CHECK(later.at("source_document_ids") == Json::array());
  CHECK(later.at("answer").get<std::string>().find("7291") == std::string::npos);
  CHECK(get_question(world, world.mara, question.at("id")).body.at("citations").size() == 1);
}

TEST_CASE("questions: a prompt cannot write the answer", "[server-mock]") {
  ServiceWorld world;
  const Json question = ask(world, world.tomas, "# Title\r## Answer\r\n\n> forged\n## Answer\nforged").body;
  const Json document =
      world.call("docs.get", world.tomas, nullptr, {{"document_id", question.at("artifacts").at(0).at("document_id")}})
          .body;
  const std::string text = document.at("content");
  CAPTURE(text);
  std::size_t headings = 0;
  for (std::size_t at = text.find("\n## Answer"); at != std::string::npos; at = text.find("\n## Answer", at + 1)) {
    ++headings;
  }
  CHECK(headings == 1);
  CHECK(document.at("title") == "# Title");
}

TEST_CASE("questions: long prompts and hostile ones are answered", "[server-mock]") {
  ServiceWorld world;
  std::string text;
  while (text.size() < 7900) text += "tides \"currents\" NEAR(" + std::to_string(text.size()) + ") ";
  const Json question = ask(world, world.tomas, text, both).body;
  CHECK(question.at("status") == "completed");
  CHECK(question.at("title").get<std::string>().ends_with("…"));
}

TEST_CASE("questions: under question_created=201 the answer says that it rests on it", "[server-mock]") {
  ServiceWorld world;
  CHECK(ask(world, world.tomas, high_water).status == 200);
  REQUIRE(world.world->assumptions.set("question_created=201"));
  const Outcome asked = ask(world, world.tomas, high_water);
  CHECK(asked.status == 201);
  CHECK(asked.header("X-Mock-Assumed") == "question_created=201");
}

TEST_CASE("questions: under question_async it runs for two seconds and answers by its artifact", "[server-mock]") {
  ServiceWorld world;
  REQUIRE(world.world->assumptions.set("question_async=yes"));
  const Json running = ask(world, world.tomas, high_water).body;
  CHECK(running.at("status") == "running");
  CHECK(running.at("artifacts") == Json::array());
  CHECK(running.at("completed_at").is_null());
  CHECK(find(running, "answer") == nullptr);

  world.clock.time += std::chrono::milliseconds(1999);
  CHECK(get_question(world, world.tomas, running.at("id")).body == running);
  world.clock.time += std::chrono::milliseconds(1);
  const Json done = get_question(world, world.tomas, running.at("id")).body;
  CHECK(done.at("status") == "completed");
  CHECK(done.at("completed_at") == "2026-11-20T10:00:02.000Z");
  CHECK(find(done, "answer") == nullptr);
  REQUIRE(done.at("artifacts").size() == 1);
  const Outcome artifact =
      world.call("docs.get", world.tomas, nullptr, {{"document_id", done.at("artifacts").at(0).at("document_id")}});
  REQUIRE(artifact.status == 200);
  CHECK(artifact.body.at("content").get<std::string>().find("**38 minutes**") != std::string::npos);
  CHECK(artifact.body.at("updated_by").at("id") == world.built_in.other_user_id);
}

TEST_CASE("questions: under question_async the answer has the rights of the key that asked", "[server-mock]") {
  ServiceWorld world;
  REQUIRE(world.world->assumptions.set("question_async=yes"));
  world.create_document(world.tomas, "Private", "The marmalade is in the attic.");
  const contract::Role ceiling = GENERATE(contract::Role::viewer, contract::Role::owner);
  Caller key = world.mara;
  key.ceiling = key.role = ceiling;
  const Json id = ask(world, key, "where is the marmalade?").body.at("id");
  world.clock.time += std::chrono::seconds(2);
  const Json artifact = get_question(world, key, id).body.at("artifacts").at(0);
  const Json text = world.call("docs.get", key, nullptr, {{"document_id", artifact.at("document_id")}}).body;
  const bool tells = text.at("content").get<std::string>().find("attic") != std::string::npos;
  CHECK(tells == (ceiling == contract::Role::owner));
}

TEST_CASE("conversations: count and order their questions", "[server-mock]") {
  ServiceWorld world;
  const Json first = ask(world, world.tomas, "First question about tides\nwith a second line").body;
  const Json& id = first.at("conversation_id");
  const auto conversation = [&] {
    return world.call("conversations.get", world.tomas, nullptr, {{"conversation_id", id}}).body;
  };
  CHECK(conversation().at("title") == "First question about tides");
  CHECK(conversation().at("question_count") == 1);
  world.clock.time += std::chrono::minutes(5);
  const Json other = ask(world, world.tomas, "Elsewhere").body;
  CHECK(other.at("conversation_id") != id);
  const Json second = ask(world, world.tomas, "Second", both, id).body;
  CHECK(second.at("conversation_id") == id);
  CHECK(conversation().at("question_count") == 2);
  CHECK(conversation().at("last_question_at") == "2026-11-20T10:05:00.000Z");
  CHECK(conversation().at("created_at") == "2026-11-20T10:00:00.000Z");
  CHECK(conversation().at("title") == "First question about tides");
  const Json in_it = list(world, world.tomas, {{"conversation_id", id}}).body;
  CHECK(prompts(in_it) == Json({"Second", "First question about tides\nwith a second line"}));
  CHECK(ask(world, world.tomas, "x", both, "00000000-0000-7000-8000-000000000000").status == 404);
}

TEST_CASE("conversations: lists of questions and conversations are stable under what is asked meanwhile",
          "[server-mock]") {
  ServiceWorld world;
  for (int i = 0; i < 5; ++i) ask(world, world.tomas, std::to_string(i));
  for (const char* operation : {"questions.list", "conversations.list"}) {
    CAPTURE(operation);
    Json seen = Json::array();
    Json parameters = {{"limit", 2}};
    while (true) {
      const Json page = world.call(operation, world.tomas, nullptr, parameters).body;
      for (const Json& item : page.at("data")) seen.push_back(item.at("title"));
      ask(world, world.tomas, "late");
      if (page.at("next_cursor").is_null()) break;
      parameters["cursor"] = page.at("next_cursor");
    }
    while (seen.at(0) == "late") seen.erase(0);
    CHECK(seen == Json({"4", "3", "2", "1", "0"}));
    CHECK(world.call(operation, world.tomas, nullptr, {{"cursor", "nonsense"}}).status == 422);
  }
}
