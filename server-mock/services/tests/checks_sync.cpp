#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/services/tests/catalog.hpp"

namespace ws::mock {
namespace {

/// A source and one client of it.
struct Syncing {
  ScratchWorld& world;
  std::string source = {};

  explicit Syncing(ScratchWorld& scratch) : world(scratch) {
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

  ScratchReply push(const std::string& plan_id, Json item) {
    return world.call("sync.push",
                      world.owner,
                      {{"source_id", source}, {"plan_id", plan_id}, {"items", Json::array({std::move(item)})}});
  }

  ScratchReply commit(const std::string& plan_id, const std::string& push_id) {
    return world.call("sync.commit",
                      world.owner,
                      {{"source_id", source},
                       {"plan_id", plan_id},
                       {"push_ids", Json::array({push_id})},
                       {"expected_revision", 0},
                       {"client_id", "check"}});
  }

  ScratchReply publish(Json item) {
    const std::string planned = plan();
    return commit(planned, push(planned, std::move(item)).text("push_id"));
  }

  /// The only file of the source.
  Json pull() {
    const ScratchReply page = world.call(
        "sync.pull", world.owner, nullptr, {{"source_id", source}, {"limit", 500}, {"include_content", true}});
    if (!world.expect(page.count("data") == 1, "a pull does not show the one file")) return Json::object();
    return page.body->at("data").at(0);
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

void commit_creates(ScratchWorld& world) {
  Syncing client(world);
  const ScratchReply done = client.publish(created("a/b.md", "---\nx: 1\n---\ntext\r\n"));
  world.expect(done.text("status") == "committed", "the commit did not go through");
  world.expect(find_text(client.pull(), "content") == "---\nx: 1\n---\ntext\r\n", "the bytes are not the document");
}

void commit_repeats(ScratchWorld& world) {
  Syncing client(world);
  const std::string plan = client.plan();
  const std::string push = client.push(plan, created("a.md", "text")).text("push_id");
  const ScratchReply first = client.commit(plan, push);
  const ScratchReply again = client.commit(plan, push);
  world.expect(!first.text("commit_id").empty() && *first.body == *again.body, "the same commit answered otherwise");
  client.pull();
}

void one_writer_wins(ScratchWorld& world) {
  Syncing client(world);
  client.publish(created("a.md", "base"));
  const Json seen = client.pull();
  world.expect(client.publish(updated(seen, "first")).text("status") == "committed", "the first writer lost");
  const ScratchReply late = client.publish(updated(seen, "second"));
  world.expect(late.text("status") == "partly_conflicted", "the second writer won too");
  world.expect(find_text(client.pull(), "content") == "first", "the loser's text was written");
  if (!world.expect(late.count("conflicts") == 1, "there is no conflict")) return;
  const ScratchReply conflict = world.call(
      "sync.conflict_get", world.owner, nullptr, {{"conflict_id", late.body->at("conflicts").at(0).at("id")}});
  const Json* local = find(*conflict.body, "local");
  const Json* remote = find(*conflict.body, "remote");
  world.expect(local != nullptr && find_text(*local, "content") == "second", "the conflict lost the local text");
  world.expect(remote != nullptr && find_text(*remote, "content") == "first", "the conflict lost the remote text");
}

void absence_deletes_nothing(ScratchWorld& world) {
  Syncing client(world);
  client.publish(created("a.md", "text"));
  // A complete list of local files without it: must not delete it.
  const std::string plan = client.plan();
  client.commit(plan, client.push(plan, created("b.md", "other")).text("push_id"));
  const ScratchReply status = world.call("sync.source_get", world.owner, nullptr, {{"source_id", client.source}});
  world.expect(status.integer("document_count") == 2, "a file was deleted by its absence");
}

void edits_are_seen(ScratchWorld& world) {
  Syncing client(world);
  client.publish(created("a.md", "base"));
  const Json seen = client.pull();
  const ScratchReply edit = world.call("docs.update",
                                       world.owner,
                                       {{"content", "edited"}, {"expected_content_revision", 1}},
                                       {{"document_id", find_text(seen, "document_id").value_or("")}});
  world.expect(edit.status == 200, "the document could not be edited");
  world.expect(find_text(client.pull(), "content") == "edited", "an edit of the document is not a remote change");
}

void hash_is_checked(ScratchWorld& world) {
  Syncing client(world);
  Json item = created("a.md", "text");
  item["content_sha256"] = Sha256::of("other").hex();
  const ScratchReply pushed = client.push(client.plan(), std::move(item));
  world.expect(pushed.count("rejected") == 1, "a text was taken with the hash of another");
}

constexpr TestCase cases[] = {
    {"sync.commit_creates",
     "A commit makes documents of files",
     "Pushes a file with front matter and CRLF, commits, pulls the same bytes.",
     "sync.commit",
     "sync",
     "editor",
     "free",
     commit_creates},
    {"sync.commit_repeats",
     "A commit may be repeated",
     "Sends the same commit twice and gets the same answer.",
     "sync.commit",
     "sync",
     "editor",
     "free",
     commit_repeats},
    {"sync.one_writer_wins",
     "Of two writers one wins",
     "Writes twice from one base: the second is a conflict that holds both texts.",
     "sync.conflict",
     "sync",
     "editor",
     "free",
     one_writer_wins},
    {"sync.absence_deletes_nothing",
     "Absence deletes nothing",
     "Plans with no entries: the file stays.",
     "sync.plan",
     "sync",
     "editor",
     "free",
     absence_deletes_nothing},
    {"sync.edits_are_seen",
     "An edit elsewhere is a remote change",
     "Edits through the document operations and pulls.",
     "sync.pull",
     "sync",
     "editor",
     "free",
     edits_are_seen},
    {"sync.hash_is_checked",
     "A text with another's hash is refused",
     "Pushes with a wrong hash.",
     "sync.push",
     "sync",
     "editor",
     "free",
     hash_is_checked},
};

}  // namespace

std::span<const TestCase> sync_cases() { return cases; }

}  // namespace ws::mock
