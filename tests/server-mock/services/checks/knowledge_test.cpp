#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/server-mock/services/checks/checked_world.hpp"

namespace ws::mock::test {
namespace {

CheckedReply create(CheckedWorld& world, const Caller& caller, std::string_view title, std::string_view content) {
  return world.call("docs.create", caller, {{"title", title}, {"content", content}});
}

CheckedReply search(CheckedWorld& world, const Caller& caller, std::string_view query) {
  CheckedReply found = world.call("search.run", caller, {{"query", query}});
  world.expect(found.status == 200, "a search was refused");
  return found;
}

CheckedReply ask(CheckedWorld& world, const Caller& caller, std::string_view prompt) {
  CheckedReply asked =
      world.call("questions.create", caller, {{"prompt", prompt}, {"sources", {"workspace", "memory"}}});
  world.expect(asked.text("status") == "completed", "a question was not answered");
  return asked;
}

std::string content_of(CheckedWorld& world, const Caller& caller, const std::string& document_id) {
  return world.call("docs.get", caller, nullptr, {{"document_id", document_id}}).text("content");
}

void finds_section(CheckedWorld& world) {
  const CheckedReply found = search(world, world.viewer, "rule of twelfths");
  if (!world.expect(found.count("data") > 0, "nothing was found")) return;
  const Json& best = found.body.at("data").at(0);
  world.expect(best.at("heading_path").back() == "Rule of twelfths", "the best result is not the section");
  world.expect(!content_of(world, world.viewer, best.at("document_id")).empty(), "its document cannot be read");
}

void search_hides_private(CheckedWorld& world) {
  create(world, world.editor, "Ocarina", "ocarina in the cupboard");
  world.expect(search(world, world.editor, "ocarina").count("data") == 1, "its creator does not find it");
  for (const Caller* caller : {&world.viewer, &world.agent, &world.stranger}) {
    world.expect(dump(search(world, *caller, "ocarina").body).find("cupboard") == std::string::npos,
                 "somebody finds a private text");
  }
}

void forgets_archived(CheckedWorld& world) {
  const std::string id = create(world, world.editor, "Ocarina", "ocarina").text("id");
  search(world, world.editor, "ocarina");
  world.call("docs.archive", world.editor, nullptr, {{"document_id", id}});
  world.expect(search(world, world.editor, "ocarina").count("data") == 0, "an archived document is found");
}

void takes_any_text(CheckedWorld& world) {
  for (const char* query :
       {"\"", "a AND", "NEAR(", "title:x", "*", "'; drop table", "\U0001F41F", "---", "(((", "\\"}) {
    search(world, world.viewer, query);
  }
}

void pages_are_stable(CheckedWorld& world) {
  for (int i = 0; i < 6; ++i) create(world, world.editor, "Ocarina", "ocarina");
  std::set<std::string> seen;
  Json body = {{"query", "ocarina"}, {"limit", 2}};
  for (int page = 0; page < 3; ++page) {
    const CheckedReply found = world.call("search.run", world.editor, body);
    if (!world.expect(found.count("data") == 2, "a page is not full")) return;
    for (const Json& result : found.body.at("data")) seen.insert(result.at("chunk_id").get<std::string>());
    body["cursor"] = found.body.at("next_cursor");
    create(world, world.editor, "Late", "ocarina ocarina");
  }
  world.expect(seen.size() == 6, "a result came twice");
  world.expect(body["cursor"].is_null(), "the pages do not end");
}

void cite_literally(CheckedWorld& world) {
  const CheckedReply asked = ask(world, world.viewer, "How many minutes after the port table is high water?");
  if (!world.expect(asked.count("citations") > 0, "nothing was cited")) return;
  for (const Json& citation : asked.body.at("citations")) {
    const std::string text = content_of(world, world.viewer, citation.at("document_id"));
    world.expect(text.find(citation.at("quote").get<std::string>()) != std::string::npos,
                 "a quote does not stand in its document");
  }
}

void admit_ignorance(CheckedWorld& world) {
  const CheckedReply asked = ask(world, world.viewer, "Which aubergine volcano?");
  world.expect(asked.count("citations") == 0, "something was cited that does not answer");
  world.expect(!asked.text("answer").empty(), "there is no answer that says so");
}

void questions_hide_private(CheckedWorld& world) {
  create(world, world.editor, "Ocarina", "The ocarina is in cupboard 9.");
  const std::string id = ask(world, world.editor, "Where is the ocarina?").text("id");
  const CheckedReply asked = ask(world, world.viewer, "Where is the ocarina?");
  world.expect(dump(asked.body).find("cupboard") == std::string::npos, "the answer tells a private text");
  world.expect(world.call("questions.get", world.viewer, nullptr, {{"question_id", id}}).status == 404,
               "another's question can be read");
}

void keep_artifacts(CheckedWorld& world) {
  const CheckedReply asked = ask(world, world.viewer, "Which knot holds under shock?");
  if (!world.expect(asked.count("artifacts") == 1, "there is no artifact")) return;
  const std::string id = asked.body.at("artifacts").at(0).at("document_id");
  world.expect(content_of(world, world.viewer, id).find(asked.text("answer")) != std::string::npos,
               "the asker cannot read the answer in the artifact");
}

void conversations_count(CheckedWorld& world) {
  const std::string id = ask(world, world.viewer, "One").text("conversation_id");
  const Json more = {{"prompt", "Two"}, {"sources", {"workspace"}}, {"conversation_id", id}};
  world.expect(world.call("questions.create", world.viewer, more).text("conversation_id") == id,
               "the conversation does not go on");
  const CheckedReply seen = world.call("conversations.get", world.viewer, nullptr, {{"conversation_id", id}});
  world.expect(seen.integer("question_count") == 2, "the conversation counts wrong");
  world.expect(seen.text("title") == "One", "the title is not the first prompt");
}

CheckedReply comment(CheckedWorld& world, const std::string& document, const Json& body) {
  return world.call("comments.add", world.editor, body, {{"document_id", document}});
}

CheckedReply comments(CheckedWorld& world, const std::string& document) {
  return world.call("comments.list", world.editor, nullptr, {{"document_id", document}});
}

void thread_counts(CheckedWorld& world) {
  const std::string document = create(world, world.editor, "Talk", "text").text("id");
  const std::string thread = comment(world, document, {{"body", "first"}}).text("id");
  const Json place = {{"document_id", document}, {"thread_id", thread}};
  world.expect(world.call("comments.reply", world.editor, {{"body", "second"}}, place).count("entries") == 2,
               "the reply is not in the thread");
  world.call("comments.set_status", world.editor, {{"status", "resolved"}}, place);
  const CheckedReply listed = comments(world, document);
  world.expect(
      listed.integer("thread_count") == 1 && listed.integer("resolved_count") == 1 && listed.integer("open_count") == 0,
      "the counts are wrong");
}

void anchor_is_lost(CheckedWorld& world) {
  const std::string document = create(world, world.editor, "Anchor", "before quoted words after").text("id");
  comment(world, document, {{"body", "this?"}, {"selection", {{"quote", "quoted words"}}}});
  world.call("docs.update",
             world.editor,
             {{"content", "before after"}, {"expected_content_revision", 1}},
             {{"document_id", document}});
  world.expect(comments(world, document).integer("needs_reanchor_count") == 1, "the lost quote went unnoticed");
}

constexpr Check checks[] = {
    {"search.finds_section", finds_section},
    {"search.hides_private", search_hides_private},
    {"search.forgets_archived", forgets_archived},
    {"search.takes_any_text", takes_any_text},
    {"search.pages_are_stable", pages_are_stable},
    {"questions.cite_literally", cite_literally},
    {"questions.admit_ignorance", admit_ignorance},
    {"questions.hide_private", questions_hide_private},
    {"questions.keep_artifacts", keep_artifacts},
    {"conversations.count", conversations_count},
    {"comments.thread_counts", thread_counts},
    {"comments.anchor_is_lost", anchor_is_lost},
};

}  // namespace

TEST_CASE("checks: search, questions and comments", "[server-mock]") { run_all(checks); }

}  // namespace ws::mock::test
