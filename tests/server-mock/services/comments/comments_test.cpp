#include <map>

#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/server-mock/services/service_world.hpp"

namespace ws::mock::test {
namespace {

/// A document that the whole Workspace sees, and what is said on it.
class Page {
 public:
  explicit Page(ServiceWorld& made, std::string_view content = "# Tides\n\nThe harbour opens at **six** sharp.\n")
      : world(made) {
    const Outcome document =
        world.create_document(world.mara, "Tides", content, {{"project_id", world.built_in.project_id}});
    REQUIRE(document.status == 201);
    id = document.body.at("id");
  }
  Outcome add(const Caller& caller, std::string_view body, Json more = Json::object()) {
    more["body"] = body;
    return world.call("comments.add", caller, std::move(more), {{"document_id", id}});
  }
  Outcome add_on(std::string_view quote) { return add(world.mara, "Hm", {{"selection", {{"quote", quote}}}}); }
  Outcome reply(const Caller& caller, const Json& thread, std::string_view body, Json more = Json::object()) {
    more["body"] = body;
    return world.call("comments.reply", caller, std::move(more), {{"document_id", id}, {"thread_id", thread.at("id")}});
  }
  Outcome set(const Caller& caller, const Json& thread, std::string_view status) {
    return world.call(
        "comments.set_status", caller, {{"status", status}}, {{"document_id", id}, {"thread_id", thread.at("id")}});
  }
  Json list() {
    const Outcome listed = world.call("comments.list", world.mara, nullptr, {{"document_id", id}});
    REQUIRE(listed.status == 200);
    return listed.body;
  }
  void edit(std::string_view content) {
    const Outcome now = world.call("docs.get", world.mara, nullptr, {{"document_id", id}});
    const Json body = {{"content", content}, {"expected_content_revision", now.body.at("content_revision")}};
    REQUIRE(world.call("docs.update", world.mara, body, {{"document_id", id}}).status == 200);
  }

  ServiceWorld& world;
  std::string id = {};
};

/// A clock on which a millisecond passes whenever it is asked.
class PassingClock final : public Clock {
 public:
  Time now() const override { return time_ += std::chrono::milliseconds(1); }

 private:
  mutable Time time_ = StoppedClock().time;
};

Json events_of(ServiceWorld& world) {
  auto rows = world.world->database.prepare(
      "select e.kind, a.handle, e.document_id, e.thread_id, e.comment_id, e.payload from agent_events e "
      "join agents a on a.id = e.agent_id order by e.sequence");
  Json events = Json::array();
  while (*rows->step())
    events.push_back({{"kind", rows->text(0)}, {"handle", rows->text(1)}, {"thread_id", rows->text(3)}});
  return events;
}

}  // namespace

TEST_CASE("comments: a thread has its entries, oldest first, with their authors", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  const Outcome added = page.add(world.mara, "First", {{"entry_point", "editor"}});
  REQUIRE(added.status == 201);
  CHECK(added.body.at("page_id") == page.id);
  CHECK(added.body.at("status") == "open");
  CHECK(added.body.at("created_by_user_id") == world.built_in.user_id);
  CHECK(added.body.at("created_by_agent_id").is_null());

  world.clock.time += std::chrono::seconds(1);
  const Outcome replied = page.reply(world.agent, added.body, "Second");
  REQUIRE(replied.status == 201);
  CHECK(replied.body.at("last_activity_at") == "2026-11-20T10:00:01.000Z");
  CHECK(replied.body.at("created_at") == "2026-11-20T10:00:00.000Z");
  REQUIRE(replied.body.at("entries").size() == 2);
  const Json& first = replied.body.at("entries")[0];
  CHECK(first.at("body") == "First");
  CHECK(first.at("author_kind") == "user");
  CHECK(first.at("entry_point") == "editor");
  CHECK(first.at("author_agent_id").is_null());
  const Json& second = replied.body.at("entries")[1];
  CHECK(second.at("author_kind") == "agent");
  CHECK(second.at("author_agent_id") == world.built_in.agent_id);
  CHECK(second.at("actor_identity").at("handle") == "scout");
  CHECK(page.list().at("threads")[0] == replied.body);
}

TEST_CASE("comments: counts, latest activity and the watermark follow every change", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  Json before = page.list();
  CHECK(before.at("threads") == Json::array());
  CHECK(before.at("watermark").is_null());
  CHECK(before.at("latest_activity_at").is_null());

  std::vector<Json> watermarks = {before.at("watermark")};
  const auto moved = [&] {
    const Json now = page.list().at("watermark");
    CHECK(std::find(watermarks.begin(), watermarks.end(), now) == watermarks.end());
    watermarks.push_back(now);
  };
  const Json one = page.add_on("harbour opens").body;
  moved();
  const Json two = page.add(world.tomas, "Two").body;
  moved();
  const Json three = page.add(world.tomas, "Three").body;
  moved();
  page.reply(world.mara, two, "And");
  moved();
  page.set(world.mara, two, "resolved");
  moved();
  page.set(world.mara, three, "needs_reanchor");
  moved();
  page.edit("nothing left");
  moved();
  CHECK(page.list().at("watermark") == page.list().at("watermark"));

  const Json after = page.list();
  CHECK(after.at("thread_count") == 3);
  CHECK(after.at("open_count") == 0);
  CHECK(after.at("resolved_count") == 1);
  CHECK(after.at("needs_reanchor_count") == 2);
  CHECK(after.at("latest_activity_at") == "2026-11-20T10:00:00.000Z");
}

TEST_CASE("comments: a thread was last active when its newest entry was written, to the millisecond", "[server-mock]") {
  ServiceWorld world;
  const PassingClock clock;
  world.world->clock = &clock;
  Page page(world);
  const Json added = page.add(world.mara, "First").body;
  CHECK(added.at("entries")[0].at("created_at") == added.at("created_at"));
  CHECK(added.at("last_activity_at") == added.at("created_at"));
  const Json replied = page.reply(world.agent, added, "Second").body;
  CHECK(replied.at("last_activity_at") == replied.at("entries")[1].at("created_at"));
  CHECK(replied.at("last_activity_at") > added.at("last_activity_at"));
  CHECK(page.list().at("latest_activity_at") == replied.at("last_activity_at"));
}

TEST_CASE("comments: the status goes to any of the three values and back", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  const Json thread = page.add(world.mara, "Hm").body;
  for (const std::string_view status : {"resolved", "needs_reanchor", "open", "open"}) {
    const Outcome set = page.set(world.tomas, thread, status);
    CHECK(set.status == 200);
    CHECK(set.body.at("status") == status);
    CHECK(set.body.at("anchor").at("needs_reanchor") == (status == "needs_reanchor"));
  }
  // The same again is no change.
  const Json watermark = page.list().at("watermark");
  page.set(world.tomas, thread, "open");
  CHECK(page.list().at("watermark") == watermark);
}

TEST_CASE("comments: an anchor keeps what the selection gave and what follows from it", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  const Json selection = {{"quote", "The harbour opens"},
                          {"section_id", "s-1"},
                          {"source_block_ids", {"b1", 7, "b2"}},
                          {"selection_range_json", {{"from", 1}}},
                          {"table_selection_json", "not an object"},
                          {"heading_path", "not a list"},
                          {"unknown", true}};
  const Outcome added = page.add(world.mara, "Really?", {{"selection", selection}});
  REQUIRE(added.status == 201);
  CHECK(added.body.at("anchor") == Json{{"target_scope", "body"},
                                        {"section_id", "s-1"},
                                        {"source_block_ids", {"b1", "b2"}},
                                        {"anchor", nullptr},
                                        {"heading_path", {"Tides"}},
                                        {"quote_hash", Sha256::of("The harbour opens").hex()},
                                        {"selection_preview", "The harbour opens"},
                                        {"selection_range_json", {{"from", 1}}},
                                        {"table_selection_json", nullptr},
                                        {"surface_selection_json", nullptr},
                                        {"source_page_revision", 1},
                                        {"resolved_block_ids", {"b1", "b2"}},
                                        {"resolved_via", "quote"},
                                        {"needs_reanchor", false}});
  const Json none = page.add(world.mara, "On all of it").body.at("anchor");
  CHECK(none.at("target_scope") == "body");
  CHECK(none.at("quote_hash").is_null());
  CHECK(none.at("needs_reanchor") == false);
}

TEST_CASE("comments: the edit that removes the quoted text sets needs_reanchor, on anchor and thread",
          "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  const Json thread = page.add_on("opens at six").body;  // as a reader selects it: without the asterisks
  CHECK(thread.at("status") == "open");

  page.edit("# Tides\n\nNew.\n\nThe harbour\nopens at *six* sharp.\n");
  CHECK(page.list().at("threads")[0].at("status") == "open");
  page.edit("# Tides\n\nThe harbour opens at seven sharp.\n");
  const Json lost = page.list().at("threads")[0];
  CHECK(lost.at("status") == "needs_reanchor");
  CHECK(lost.at("anchor").at("needs_reanchor") == true);
  CHECK(lost.at("anchor").at("resolved_via").is_null());
  CHECK(lost.at("anchor").at("selection_preview") == "opens at six");
  CHECK(lost.at("anchor").at("quote_hash") == thread.at("anchor").at("quote_hash"));
  CHECK(lost.at("last_activity_at") == thread.at("last_activity_at"));

  page.edit("The harbour opens at six, after all.");
  const Json back = page.list().at("threads")[0];
  CHECK(back.at("status") == "open");
  CHECK(back.at("anchor").at("needs_reanchor") == false);
}

TEST_CASE("comments: a resolved thread stays resolved when its text goes, and its anchor tells so", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  const Json thread = page.add_on("harbour").body;
  page.set(world.mara, thread, "resolved");
  page.edit("Gone.");
  const Json now = page.list();
  CHECK(now.at("threads")[0].at("status") == "resolved");
  CHECK(now.at("threads")[0].at("anchor").at("needs_reanchor") == true);
  CHECK(now.at("threads")[0].at("anchor").at("resolved_via").is_null());
  CHECK(now.at("needs_reanchor_count") == 0);
  const Json reopened = page.set(world.mara, thread, "open").body;
  CHECK(reopened.at("status") == "needs_reanchor");
  CHECK(reopened.at("anchor").at("needs_reanchor") == true);
  page.edit("The harbour again.");
  CHECK(page.list().at("threads")[0].at("anchor").at("needs_reanchor") == false);
}

TEST_CASE("comments: anchor, counts and status never contradict each other", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  const Json thread = page.add_on("harbour").body;
  page.add_on("harbour");
  const auto check_all = [&](const std::string& text) {
    const Json now = page.list();
    std::map<std::string, int> counts;
    for (const Json& one : now.at("threads")) {
      const std::string status = one.at("status");
      ++counts[status];
      const bool is_gone = text.find("harbour") == std::string::npos;
      CHECK(one.at("anchor").at("needs_reanchor") == (is_gone || status == "needs_reanchor"));
      CHECK(one.at("anchor").at("resolved_via").is_null() == one.at("anchor").at("needs_reanchor").get<bool>());
    }
    CHECK(now.at("open_count") == counts["open"]);
    CHECK(now.at("resolved_count") == counts["resolved"]);
    CHECK(now.at("needs_reanchor_count") == counts["needs_reanchor"]);
    CHECK(now.at("thread_count") == 2);
  };
  for (const char* text : {"The harbour.", "Gone.", "Still gone.", "The harbour again.", "Gone again."}) {
    page.edit(text);
    for (const char* status : {"resolved", "needs_reanchor", "open"}) {
      CAPTURE(text, status);
      page.set(world.mara, thread, status);
      check_all(text);
    }
  }
}

TEST_CASE("comments: title changes, comments without quote and unknown quotes do not set needs_reanchor",
          "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  page.add(world.mara, "All of it");
  page.add_on("nowhere to be found");
  page.edit("Something else.");
  const Json now = page.list();
  for (const Json& thread : now.at("threads")) CHECK(thread.at("status") == "open");
}

TEST_CASE("comments: a quote of an older revision that an edit has removed is lost from the start", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  page.edit("Quite new.");
  const Json selection = {{"quote", "harbour opens"}, {"source_page_revision", 1}};
  const Json thread = page.add(world.mara, "Late", {{"selection", selection}}).body;
  CHECK(thread.at("status") == "needs_reanchor");
  CHECK(thread.at("anchor").at("source_page_revision") == 1);
}

TEST_CASE("comments: a synced edit is an edit", "[server-mock][sync]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "one two three")}));
  const Json item = client.at("a.md");
  const Json where = {{"document_id", item.at("document_id")}};
  REQUIRE(world.call("comments.add", world.mara, {{"body", "Hm"}, {"selection", {{"quote", "two"}}}}, where).status ==
          201);
  client.publish(Json::array({updated(item, "one three")}));
  CHECK(world.call("comments.list", world.mara, nullptr, where).body.at("needs_reanchor_count") == 1);
}

TEST_CASE("comments: a conversation continues in its thread unless a new one is asked for", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  const Json thread = page.add(world.mara, "One").body;
  page.reply(world.mara, thread, "Two");
  page.reply(world.mara, thread, "Three", {{"start_new_chain", true}});
  const Json entries = page.reply(world.mara, thread, "Four").body.at("entries");
  const auto chain = [&](std::size_t place) { return entries[place].at("conversation_thread_id"); };
  CHECK(chain(0) == chain(1));
  CHECK(chain(1) != chain(2));
  CHECK(chain(2) == chain(3));
  CHECK(page.add(world.mara, "Elsewhere").body.at("entries")[0].at("conversation_thread_id") != chain(3));
}

TEST_CASE("comments: 404 without access to the document, 403 for a reader who writes", "[server-mock]") {
  ServiceWorld world;
  const Outcome document = world.create_document(world.mara, "Private", "Mine.");
  const Json where = {{"document_id", document.body.at("id")}};
  const Json body = {{"body", "Hm"}};
  const Outcome thread = world.call("comments.add", world.mara, body, where);
  REQUIRE(thread.status == 201);
  Json in_thread = where;
  in_thread["thread_id"] = thread.body.at("id");
  const auto all = [&](const Caller& caller) {
    return std::vector<int>{world.call("comments.list", caller, nullptr, where).status,
                            world.call("comments.add", caller, body, where).status,
                            world.call("comments.reply", caller, body, in_thread).status,
                            world.call("comments.set_status", caller, {{"status", "resolved"}}, in_thread).status};
  };
  const auto share = [&](std::string_view email, std::string_view permission) {
    REQUIRE(world.call("docs.share", world.mara, {{"email", email}, {"permission", permission}}, where).status == 200);
  };
  const Caller commenter = world.add_person("carl", "commenter");
  const Caller viewer = world.add_person("vera", "viewer");
  CHECK(all(world.tomas) == std::vector{404, 404, 404, 404});
  CHECK(all(world.agent) == std::vector{404, 404, 404, 404});
  share("tomas@example.com", "read");
  CHECK(all(world.tomas) == std::vector{200, 403, 403, 403});
  share("tomas@example.com", "comment");
  CHECK(all(world.tomas) == std::vector{200, 201, 201, 200});
  share("carl@example.com", "edit");
  CHECK(all(commenter) == std::vector{200, 201, 201, 200});
  share("vera@example.com", "edit");
  CHECK(all(viewer) == std::vector{200, 403, 403, 403});
  CHECK(world.call("comments.add", viewer, body, where).code == "insufficient_role");
}

TEST_CASE("comments: a thread belongs to one document, an archived document takes no comments", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  Page other(world);
  const Json thread = page.add(world.mara, "Hm").body;
  CHECK(other.reply(world.mara, thread, "Where am I?").status == 404);
  CHECK(other.set(world.mara, thread, "resolved").status == 404);
  REQUIRE(world.call("docs.archive", world.mara, nullptr, {{"document_id", page.id}}).status == 200);
  CHECK(page.add(world.mara, "Late").code == "archived");
  CHECK(page.reply(world.mara, thread, "Late").code == "archived");
  CHECK(page.list().at("thread_count") == 1);
}

TEST_CASE("comments: mentions name agents and people, and only agents get an event", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  const Json entry = page.add(world.tomas, "@Scout and @mara: write to tom@scout, not `@tomas`").body.at("entries")[0];
  CHECK(entry.at("mentions") == Json{"scout", "mara"});
  CHECK(entry.at("agent_mentions") == Json::array({{{"agent_id", world.built_in.agent_id}, {"handle", "scout"}}}));
  const Json events = events_of(world);
  REQUIRE(events.size() == 1);
  CHECK(events[0].at("kind") == "comment.mention");
}

TEST_CASE("comments: a reply where an agent wrote makes one event for it, none for itself", "[server-mock]") {
  ServiceWorld world;
  Page page(world);
  const Json thread = page.add(world.mara, "Hm").body;
  page.reply(world.mara, thread, "Anybody?");
  CHECK(events_of(world).empty());
  page.reply(world.agent, thread, "Me, @scout");
  CHECK(events_of(world).empty());
  page.reply(world.tomas, thread, "Thanks");
  CHECK(events_of(world) ==
        Json::array({{{"kind", "comment.reply"}, {"handle", "scout"}, {"thread_id", thread.at("id")}}}));
  page.reply(world.tomas, thread, "@scout, one more thing, @scout");
  REQUIRE(events_of(world).size() == 2);
  CHECK(events_of(world)[1].at("kind") == "comment.mention");
}

TEST_CASE("comments: no event for an agent that may not read the document", "[server-mock]") {
  ServiceWorld world;
  const Outcome document = world.create_document(world.mara, "Private", "Mine.");
  const Json where = {{"document_id", document.body.at("id")}};
  const Outcome thread = world.call("comments.add", world.mara, {{"body", "@scout?"}}, where);
  CHECK(thread.body.at("entries")[0].at("agent_mentions").size() == 1);
  CHECK(events_of(world).empty());

  const Json share = {{"agent_handle", "scout"}, {"permission", "comment"}, {"message", "Have a look"}};
  REQUIRE(world.call("docs.share", world.mara, share, where).status == 200);
  REQUIRE(world.call("docs.share", world.mara, share, where).status == 200);  // again: nothing new
  world.call("comments.add", world.mara, {{"body", "@scout?"}}, where);
  const Json events = events_of(world);
  REQUIRE(events.size() == 2);
  CHECK(events[0].at("kind") == "document.shared");
  CHECK(events[1].at("kind") == "comment.mention");
}

}  // namespace ws::mock::test
