#include <algorithm>

#include <catch2/catch.hpp>

#include "api-client/base/percent.hpp"
#include "api-client/base/sha256.hpp"
#include "tests/reference/run.hpp"

namespace ws::mock::test {
namespace {

constexpr std::int64_t a_day = std::int64_t{24} * 60 * 60 * 1000;
// Pages of the built-in world, which the model does not contain.
constexpr std::size_t max_pages = 200;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

void Run::compare(const Actor& actor, const Json& item, const ModelDocument& document, bool with_content) {
  same(item.at("id"), document.id, "id");
  same(item.at("title"), document.title, "title");
  same(item.at("content_revision"), document.revision, "content_revision");
  same(item.at("content_sha256"), Sha256::of(document.content).hex(), "content_sha256");
  same(item.at("status"), document.archived ? "archived" : "active", "status");
  same(item.at("workspace_id"), actor.workspace_id, "workspace_id");
  same(item.at("project_id"), text_or_null(document.project), "project_id");
  same(item.contains("content"), with_content, "whether there is content");
  if (with_content) same(item.at("content"), document.content, "content");
  // Pages created by a commit are named by the server.
  if (!sync_.entries.contains(document.id)) {
    same(item.at("parent_node_id"), text_or_null(document.parent), "parent_node_id");
  }
  const bool agent = !document.maker_agent.empty();
  same(item.at("created_by").at("id"), agent ? document.maker_agent : document.maker_user, "created_by.id");
}

void Run::create_document() {
  const std::size_t who = one_in(4) ? chance(actors_.size()) : chance(3);
  const Actor& actor = actors_[who];
  std::string parent = any_parent();
  if (one_in(20) && !model_.documents.empty()) parent = model_.documents.begin()->second.node;
  const std::string title = fresh("Note ");
  const std::string content = fresh("word") + " and " + fresh("quoted") + " text";
  Json body = {{"title", title}, {"content", content}};
  if (!parent.empty()) body["parent_node_id"] = parent;
  const std::string key = one_in(2) ? fresh("key-") : std::string();
  std::vector<std::string> headers;
  if (!key.empty()) headers.push_back("Idempotency-Key: " + key);
  const Expected expected = model_.create(actor, parent);
  const Json item = agree(send(actor, "POST", "/v1/documents", body, headers), expected);
  if (!expected.is_success()) return;
  ModelDocument document = {
      .id = item.at("id"), .node = item.at("node_id"), .parent = parent, .title = title, .content = content};
  if (model_.documents.contains(document.id)) differ("the id is not new");
  model_.created(actor, document);
  const ModelDocument& made = model_.documents[document.id];
  compare(actor, item, made, true);
  sync_.follow(made);
  if (const auto entry = sync_.entries.find(made.id); entry != sync_.entries.end() && sync_.is_free(title + ".md")) {
    entry->second.path = title + ".md";
  }
  if (!key.empty()) keyed_.push_back({.actor = who, .key = key, .body = body, .id = document.id, .at = model_.now});
}

/// Repeating a call with its key returns the same response within a day, even if the document has changed; another body
/// is rejected.
void Run::replay() {
  if (keyed_.empty()) return;
  const Keyed kept = keyed_[chance(keyed_.size())];
  const Actor& actor = actors_[kept.actor];
  const std::string parent = find_text(kept.body, "parent_node_id").value_or("");
  if (kept.at + a_day <= model_.now || !model_.create(actor, parent).is_success()) return;
  const std::vector<std::string> headers = {"Idempotency-Key: " + kept.key};
  if (one_in(4)) {
    Json other = kept.body;
    other["title"] = fresh("Other ");
    const RawAnswer refused = send(actor, "POST", "/v1/documents", other, headers);
    same(agree(refused, {422, "validation_error"}).at("detail").at(0).at("type"), "idempotency_key_reused", "type");
    return;
  }
  const RawAnswer answer = send(actor, "POST", "/v1/documents", kept.body, headers);
  same(agree(answer, {201}).at("id"), kept.id, "id of the replay");
  same(answer.header("idempotent-replayed"), "true", "Idempotent-Replayed");
}

void Run::read_document() {
  const Actor& actor = any_actor();
  const std::string id = any_document();
  const RawAnswer answer = send(actor, "GET", "/v1/documents/" + id);
  const Expected expected = model_.read(actor, id);
  const Json item = agree(answer, expected);
  if (!expected.is_success()) return;
  const ModelDocument& document = model_.documents[id];
  compare(actor, item, document, true);
  same(answer.header("etag").starts_with("\"" + std::to_string(document.revision) + "-"), true, "ETag");
}

void Run::update_document() {
  const Actor& actor = any_writer();
  const std::string id = any_document();
  const auto found = model_.documents.find(id);
  std::int64_t expected_revision = found == model_.documents.end() ? 1 : found->second.revision;
  if (one_in(5)) expected_revision += one_in(2) ? 1 : (expected_revision > 1 ? -1 : 5);
  Json body = {{"expected_content_revision", expected_revision}};
  Expected expected;
  if (one_in(4)) {
    const std::string title = fresh("Title ");
    body["title"] = title;
    expected = model_.rename(actor, id, expected_revision, title);
  } else {
    // Sometimes the text that threads quote is kept; mostly it is removed.
    const bool keeps = found != model_.documents.end() && one_in(2);
    const std::string content = fresh("word") + (keeps ? " beside " + found->second.content : " alone");
    body["content"] = content;
    expected = model_.update(actor, id, expected_revision, content);
  }
  const Json item = agree(send(actor, "PUT", "/v1/documents/" + id, body), expected);
  if (expected.is_success()) {
    compare(actor, item, model_.documents[id], true);
    same(item.at("updated_by").at("id"), actor.is_agent() ? actor.agent_id : actor.user_id, "updated_by.id");
    sync_.follow(model_.documents[id]);
  } else if (expected.code == "revision_conflict") {
    same(item.at("current_content_revision"), found->second.revision, "current_content_revision");
    same(item.at("current_content_sha256"), Sha256::of(found->second.content).hex(), "current_content_sha256");
    same(item.at("expected_content_revision"), expected_revision, "expected_content_revision");
  }
}

void Run::archive_document() {
  const Actor& actor = any_writer();
  const std::string id = any_document();
  const bool was = model_.documents.contains(id) && model_.documents[id].archived;
  const Expected expected = model_.archive(actor, id);
  const Json answer = agree(send(actor, "DELETE", "/v1/documents/" + id), expected);
  if (!expected.is_success()) return;
  same(answer.at("status"), "archived", "status");
  if (!was) sync_.follow(model_.documents[id]);
}

void Run::share_document() {
  const Actor& actor = any_writer();
  const std::string id = any_document();
  static const std::vector<std::pair<std::string, std::string>> grantees = {{"email", "tomas@example.com"},
                                                                            {"email", "mara@example.com"},
                                                                            {"agent_handle", "scout"},
                                                                            {"agent_handle", "helper"},
                                                                            {"email", "nobody@example.com"}};
  const auto& [member, name] = grantees[chance(grantees.size())];
  const char* permissions[] = {"read", "comment", "edit"};
  const std::string permission = permissions[chance(3)];
  const BuiltIn& world = wire_.built_in();
  std::string grantee = name.starts_with("tomas") ? world.other_user_id : name.starts_with("mara") ? world.user_id : "";
  for (const auto& [agent_id, agent] : model_.agents) {
    if (agent.handle == name) grantee = agent_id;
  }
  const auto document = model_.documents.find(id);
  // Whether sharing again without a change creates another event is not specified.
  if (document != model_.documents.end() && document->second.shares.contains(grantee) &&
      document->second.shares.at(grantee) == permission) {
    return;
  }
  const Json body = {{member, name}, {"permission", permission}};
  const RawAnswer answer = send(actor, "POST", "/v1/documents/" + id + "/shares", body);
  if (grantee.empty()) {
    // The grantee does not exist: the document is checked first.
    Model copy = model_;
    const Expected first = copy.share(actor, id, world.user_id, permission);
    agree(answer, first.status == 403 ? first : Expected{404, "not_found"});
    return;
  }
  // An agent and Mara belong only to the first Workspace, Tomás to both.
  const Expected expected = model_.share(actor, id, grantee, permission);
  const Json shares = agree(answer, expected);
  if (!expected.is_success()) return;
  std::map<std::string, std::string> seen;
  for (const Json& share : shares.at("shares")) {
    const bool agent = share.at("grantee_kind") == "agent";
    seen[share.at(agent ? "handle" : "email")] = share.at("permission");
  }
  same(seen.at(name), permission, "permission");
  same(seen.size(), model_.documents[id].shares.size(), "how many shares");
}

void Run::move_node() {
  const Actor& actor = any_writer();
  const std::string parent = any_parent();
  const Json body = {{"parent_node_id", text_or_null(parent)}};
  if (one_in(6)) {
    const std::string node = projects_[chance(projects_.size())];
    const Expected expected = model_.move_project(actor, node, parent);
    agree(send(actor, "POST", "/v1/nodes/" + node + ":move", body), expected);
    return;
  }
  const std::string id = any_document();
  const auto found = model_.documents.find(id);
  const std::string node = found == model_.documents.end() ? id : found->second.node;
  // The effect of moving an archived document is not specified.
  if (found != model_.documents.end() && found->second.archived) return;
  const std::string before = found == model_.documents.end() ? "" : found->second.parent;
  const bool paged = sync_.entries.contains(id) && sync_.entries[id].path.find('/') != std::string::npos;
  const Expected expected = model_.move(actor, id, parent);
  const Json moved = agree(send(actor, "POST", "/v1/nodes/" + node + ":move", body), expected);
  if (!expected.is_success()) return;
  same(moved.at("parent_node_id"), text_or_null(parent), "parent_node_id");
  same(moved.at("document_id"), id, "document_id");
  if (before != parent || paged) sync_.follow(found->second, true);
}

void Run::create_project() {
  const Actor& actor = any_writer();
  const Expected expected = model_.create_project(actor);
  const Json made = agree(send(actor, "POST", "/v1/projects", {{"title", fresh("Project ")}}), expected);
  if (!expected.is_success()) return;
  const std::string node = made.at("node_id");
  model_.nodes[node] = {.project = made.at("id"),
                        .workspace_id = actor.workspace_id,
                        .maker = actor.is_agent() ? actor.agent_id : actor.user_id,
                        .is_project = true};
  projects_.push_back(node);
}

void Run::list_documents() {
  const Actor& actor = any_actor();
  const std::size_t limit = 1 + chance(one_in(2) ? 100 : 7);
  std::set<std::string> seen;
  std::string path = "/v1/documents?limit=" + std::to_string(limit);
  for (std::size_t page = 0; page < max_pages; ++page) {
    const Json list = agree(send(actor, "GET", path), {200});
    if (list.at("data").size() > limit) differ("more than the limit");
    for (const Json& item : list.at("data")) {
      const std::string id = item.at("id");
      const auto found = model_.documents.find(id);
      if (found == model_.documents.end()) continue;  // of the built-in world
      compare(actor, item, found->second, false);
      if (!seen.insert(id).second) differ(id + " is listed twice");
    }
    if (list.at("next_cursor").is_null()) break;
    path = "/v1/documents?limit=" + std::to_string(limit) +
           "&cursor=" + percent_encode(list.at("next_cursor").get<std::string>());
  }
  same(Json(seen), Json(model_.listed(actor)), "the list");
}

/// Every text has a unique word: it is found by those who may read it, and only by them.
void Run::search() {
  const Actor& actor = any_actor();
  const std::string id = any_document();
  const auto found = model_.documents.find(id);
  if (found == model_.documents.end()) return;
  const std::string& content = found->second.content;
  const std::string word = content.substr(0, content.find(' '));
  const Json results = agree(send(actor, "POST", "/v1/search", {{"query", word}, {"limit", 100}}), {200});
  std::set<std::string> seen;
  for (const Json& result : results.at("data")) {
    if (result.at("document_id").is_string()) seen.insert(result.at("document_id").get<std::string>());
  }
  std::set<std::string> wanted;
  for (const std::string& each : model_.listed(actor)) {
    const std::string text = " " + model_.documents[each].content + " ";
    if (text.find(" " + word + " ") != std::string::npos) wanted.insert(each);
  }
  same(Json(seen), Json(wanted), "what is found for " + word);
}

void Run::broken_call() {
  const Actor& actor = any_actor();
  const std::string id = any_document();
  struct Broken {
    const char* method;
    std::string target;
    Json body;
    bool writes;
  };
  const std::string self = "/v1/documents/" + id;
  const std::vector<Broken> all = {
      {"GET", "/v1/documents?limit=0", nullptr, false},
      {"GET", "/v1/documents/no-uuid", nullptr, false},
      {"GET", "/v1/documents?cursor=nonsense", nullptr, false},
      {"POST", "/v1/documents", {{"title", ""}, {"content", "x"}}, true},
      {"POST", "/v1/documents", {{"title", "t"}}, true},
      {"PUT", self, {{"content", "x"}}, true},
      {"PUT", self, {{"content", "x"}, {"expected_content_revision", "1"}}, true},
  };
  const Broken& call = all[chance(all.size())];
  Expected expected = {422, "validation_error"};
  if (call.writes && !actor.may_write_documents()) {
    expected = {403, "missing_scope"};
  } else if (call.writes && actor.rank < Rank::editor) {
    expected = {403, "insufficient_role"};
  }
  agree(send(actor, call.method, call.target, call.body), expected);
  Actor nobody = actor;
  nobody.token = "wsk_nobody";
  agree(send(nobody, call.method, call.target, call.body), {401, "invalid_credential"});
}

}  // namespace ws::mock::test
