#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/server-mock/services/checks/checked_world.hpp"

namespace ws::mock::test {
namespace {

/// A source and one client of it.
struct Syncing {
  CheckedWorld& world;
  std::string source = {};

  explicit Syncing(CheckedWorld& scratch) : world(scratch) {
    source = world.call("sync.source_create", world.owner, {{"name", "notes"}}).text("id");
    world.expect(!source.empty(), "no source could be made");
  }

  std::string plan() {
    const Json body = {{"source_id", source},
                       {"base_revision", 0},
                       {"client_id", "check"},
                       {"complete", true},
                       {"entries", Json::array()}};
    return world.call("sync.plan", world.owner, body).text("plan_id");
  }

  CheckedReply push(const std::string& plan_id, Json item) {
    return world.call("sync.push",
                      world.owner,
                      {{"source_id", source}, {"plan_id", plan_id}, {"items", Json::array({std::move(item)})}});
  }

  CheckedReply commit(const std::string& plan_id, const std::string& push_id) {
    return world.call("sync.commit",
                      world.owner,
                      {{"source_id", source},
                       {"plan_id", plan_id},
                       {"push_ids", Json::array({push_id})},
                       {"expected_revision", 0},
                       {"client_id", "check"}});
  }

  CheckedReply publish(Json item) {
    const std::string planned = plan();
    return commit(planned, push(planned, std::move(item)).text("push_id"));
  }

  /// The only file of the source.
  Json pull() {
    const CheckedReply page = world.call(
        "sync.pull", world.owner, nullptr, {{"source_id", source}, {"limit", 500}, {"include_content", true}});
    if (!world.expect(page.count("data") == 1, "a pull does not show the one file")) return Json::object();
    return page.body.at("data").at(0);
  }
};

Json created(std::string_view path, std::string_view text) {
  return {{"path", path}, {"action", "push_create"}, {"content", text}, {"content_sha256", Sha256::of(text).hex()}};
}

Json updated(const Json& item, std::string_view text) {
  return {{"path", find_text(item, "path").value_or("")},
          {"action", "push_update"},
          {"document_id", find_text(item, "document_id").value_or("")},
          {"content", text},
          {"content_sha256", Sha256::of(text).hex()},
          {"expected_content_revision", find_integer(item, "content_revision").value_or(1)}};
}

void commit_creates(CheckedWorld& world) {
  Syncing client(world);
  const CheckedReply done = client.publish(created("a/b.md", "---\nx: 1\n---\ntext\r\n"));
  world.expect(done.text("status") == "committed", "the commit did not go through");
  world.expect(find_text(client.pull(), "content") == "---\nx: 1\n---\ntext\r\n", "the bytes are not the document");
}

void commit_repeats(CheckedWorld& world) {
  Syncing client(world);
  const std::string plan = client.plan();
  const std::string push = client.push(plan, created("a.md", "text")).text("push_id");
  const CheckedReply first = client.commit(plan, push);
  const CheckedReply again = client.commit(plan, push);
  world.expect(!first.text("commit_id").empty() && first.body == again.body, "the same commit answered otherwise");
  client.pull();
}

void one_writer_wins(CheckedWorld& world) {
  Syncing client(world);
  client.publish(created("a.md", "base"));
  const Json seen = client.pull();
  world.expect(client.publish(updated(seen, "first")).text("status") == "committed", "the first writer lost");
  const CheckedReply late = client.publish(updated(seen, "second"));
  world.expect(late.text("status") == "partly_conflicted", "the second writer won too");
  world.expect(find_text(client.pull(), "content") == "first", "the loser's text was written");
  if (!world.expect(late.count("conflicts") == 1, "there is no conflict")) return;
  const CheckedReply conflict = world.call(
      "sync.conflict_get", world.owner, nullptr, {{"conflict_id", late.body.at("conflicts").at(0).at("id")}});
  const Json* local = find(conflict.body, "local");
  const Json* remote = find(conflict.body, "remote");
  world.expect(local != nullptr && find_text(*local, "content") == "second", "the conflict lost the local text");
  world.expect(remote != nullptr && find_text(*remote, "content") == "first", "the conflict lost the remote text");
}

void absence_deletes_nothing(CheckedWorld& world) {
  Syncing client(world);
  client.publish(created("a.md", "text"));
  // A complete list of local files without it: must not delete it.
  const std::string plan = client.plan();
  client.commit(plan, client.push(plan, created("b.md", "other")).text("push_id"));
  const CheckedReply status = world.call("sync.source_get", world.owner, nullptr, {{"source_id", client.source}});
  world.expect(status.integer("document_count") == 2, "a file was deleted by its absence");
}

void edits_are_seen(CheckedWorld& world) {
  Syncing client(world);
  client.publish(created("a.md", "base"));
  const Json seen = client.pull();
  const CheckedReply edit = world.call("docs.update",
                                       world.owner,
                                       {{"content", "edited"}, {"expected_content_revision", 1}},
                                       {{"document_id", find_text(seen, "document_id").value_or("")}});
  world.expect(edit.status == 200, "the document could not be edited");
  world.expect(find_text(client.pull(), "content") == "edited", "an edit of the document is not a remote change");
}

void hash_is_checked(CheckedWorld& world) {
  Syncing client(world);
  Json item = created("a.md", "text");
  item["content_sha256"] = Sha256::of("other").hex();
  const CheckedReply pushed = client.push(client.plan(), std::move(item));
  world.expect(pushed.count("rejected") == 1, "a text was taken with the hash of another");
}

constexpr Check checks[] = {
    {"sync.commit_creates", commit_creates},
    {"sync.commit_repeats", commit_repeats},
    {"sync.one_writer_wins", one_writer_wins},
    {"sync.absence_deletes_nothing", absence_deletes_nothing},
    {"sync.edits_are_seen", edits_are_seen},
    {"sync.hash_is_checked", hash_is_checked},
};

}  // namespace

TEST_CASE("checks: local Markdown sync", "[server-mock]") { run_all(checks); }

}  // namespace ws::mock::test
