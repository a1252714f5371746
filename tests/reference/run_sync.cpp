#include <algorithm>

#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/reference/run.hpp"

namespace ws::mock::test {
namespace {

constexpr std::size_t max_items = 4;

std::string stem(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

Json to_json(const SyncItem& item) {
  const bool has_text = item.action == "push_create" || item.action == "push_update";
  return {{"path", item.path},
          {"action", item.action},
          {"document_id", item.document_id.empty() ? Json(nullptr) : Json(item.document_id)},
          {"content", has_text ? Json(item.content) : Json(nullptr)},
          {"content_sha256", has_text ? Json(Sha256::of(item.content).hex()) : Json(nullptr)},
          {"expected_content_revision", item.expected == 0 ? Json(nullptr) : Json(item.expected)},
          {"previous_path", item.previous_path.empty() ? Json(nullptr) : Json(item.previous_path)}};
}

/// The error for an actor that may not write; success otherwise.
Expected may_write(const Actor& actor, const SyncModel& sync, const Model& model) {
  if (actor.is_agent() && !actor.may_write_documents()) return {403, "missing_scope"};
  if (actor.rank < Rank::editor) return {403, "insufficient_role"};
  return model.sees_node(actor, model.nodes.at(sync.root)) ? Expected{200} : Expected{404, "not_found"};
}

}  // namespace

void Run::open_source() {
  const Json project = agree(send(actors_[0], "POST", "/v1/projects", {{"title", "Synced"}}), {201});
  sync_.root = project.at("node_id");
  sync_.project_id = project.at("id");
  model_.nodes[sync_.root] = {.project = sync_.project_id,
                              .workspace_id = actors_[0].workspace_id,
                              .maker = actors_[0].user_id,
                              .is_project = true};
  projects_.push_back(sync_.root);
  const Json wishes = {{"name", "notes"}, {"project_id", sync_.project_id}};
  const Json source = agree(send(actors_[0], "POST", "/v1/sync/sources", wishes), {201});
  sync_.source_id = source.at("id");
  sync_.revision = source.at("revision");
}

/// A few changes of different documents and to different paths, some based on revisions that no longer exist.
std::vector<SyncItem> Run::any_items() {
  std::vector<SyncItem> items;
  std::set<std::string> taken;
  const auto is_new = [&](const std::string& id, const std::string& path) {
    return (id.empty() || taken.insert(id).second) && taken.insert(path).second;
  };
  const std::size_t count = 1 + chance(max_items);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path = (one_in(2) ? "" : one_in(2) ? "deep/" : "deep/er/") + fresh("n") + ".md";
    if (sync_.entries.empty() || one_in(3)) {
      const std::string held = sync_.entries.empty() ? "" : sync_.entries.begin()->second.path;
      const std::string wanted = one_in(5) && !held.empty() && !sync_.is_free(held) ? held : path;
      if (!is_new("", wanted) || taken.contains(sync_.at(wanted))) continue;
      if (const std::string holder = sync_.at(wanted); !holder.empty()) taken.insert(holder);
      items.push_back({.action = "push_create", .path = wanted, .content = fresh("word") + " made"});
      continue;
    }
    auto entry = sync_.entries.begin();
    std::advance(entry, static_cast<std::ptrdiff_t>(chance(sync_.entries.size())));
    const ModelDocument& document = model_.documents[entry->first];
    const std::string& now = entry->second.path;
    if (now.empty() || !is_new(document.id, now)) continue;
    const bool stale = document.revision > 1 && one_in(4);
    SyncItem item = {.path = now, .document_id = document.id, .expected = document.revision - (stale ? 1 : 0)};
    if (!entry->second.present || !one_in(3)) {
      // Based on the document that had the path before it was removed.
      if (!entry->second.present && !document.archived) continue;
      if (!entry->second.present) item.expected = document.revision - 1;
      item.action = "push_update";
      item.content = fresh("word") + " pushed";
    } else if (one_in(3)) {
      item.action = "push_delete";
    } else {
      item.action = "push_move";
      item.previous_path = now;
      item.path = path;
      if (!taken.insert(path).second) continue;
    }
    items.push_back(item);
  }
  return items;
}

void Run::publish() {
  pull();  // to learn paths that the service chose
  const Actor& actor = any_writer();
  commit(actor, any_items());
}

void Run::commit(const Actor& actor, const std::vector<SyncItem>& items) {
  const std::string owner = actors_[0].name;
  const Json plan_request = {{"source_id", sync_.source_id},
                             {"base_revision", sync_.revision},
                             {"client_id", actor.name},
                             {"complete", false},
                             {"entries", Json::array()}};
  const bool sees = model_.sees_node(actor, model_.nodes.at(sync_.root));
  const Expected planned = sees ? Expected{200} : Expected{404, "not_found"};
  const Json plan = agree(send(actor, "POST", "/v1/sync/plan", plan_request), planned);
  if (!sees) return;
  same(plan.at("revision"), sync_.revision, "revision of the plan");
  Json push_request = {{"source_id", sync_.source_id}, {"plan_id", plan.at("plan_id")}, {"items", Json::array()}};
  for (const SyncItem& item : items) push_request["items"].push_back(to_json(item));
  const bool spoiled = one_in(6) && !items.empty() && push_request["items"][0]["content"].is_string();
  std::vector<SyncItem> staged = items;
  if (spoiled) {
    push_request["items"][0]["content_sha256"] = Sha256::of("something else").hex();
    staged.erase(staged.begin());
  }
  const Expected writes = may_write(actor, sync_, model_);
  const Json push = agree(send(actor, "POST", "/v1/sync/push", push_request), writes);
  if (!writes.is_success()) return;
  same(push.at("accepted").size(), staged.size(), "how many were accepted");
  if (spoiled) same(push.at("rejected").at(0).at("code"), "hash_mismatch", "code");
  const Json request = {{"source_id", sync_.source_id},
                        {"plan_id", plan.at("plan_id")},
                        {"push_ids", {push.at("push_id")}},
                        {"expected_revision", sync_.revision},
                        {"client_id", actor.name}};
  const Json answer = agree(send(actor, "POST", "/v1/sync/commit", request), {200});
  take_effect(actor, staged, answer);
  same(agree(send(actor, "POST", "/v1/sync/commit", request), {200}), answer, "the commit repeated");
}

void Run::take_effect(const Actor& actor, const std::vector<SyncItem>& items, const Json& answer) {
  const CommitResult result = sync_.commit_result(model_, items);
  std::set<std::string> applied;
  std::set<std::string> wanted;
  for (const Json& each : answer.at("applied")) applied.insert(each.at("path"));
  for (const std::size_t i : result.applied) wanted.insert(items[i].path);
  same(Json(applied), Json(wanted), "what was applied");
  std::map<std::string, std::string> clashes;
  std::map<std::string, std::string> expected;
  for (const Json& each : answer.at("conflicts")) clashes[each.at("path")] = each.at("kind");
  for (const auto& [i, kind] : result.conflicts) {
    // The conflict is about the document's path or the requested one.
    const std::string at = clashes.contains(items[i].path) ? items[i].path : items[i].previous_path;
    expected[at] = kind.empty() && clashes.contains(at) ? clashes[at] : kind;
  }
  same(Json(clashes), Json(expected), "the conflicts");
  for (const auto& [i, kind] : result.conflicts) {
    const SyncItem& item = items[i];
    const std::string at = clashes.contains(item.path) ? item.path : item.previous_path;
    for (const Json& each : answer.at("conflicts")) {
      if (each.at("path") != at) continue;
      const std::string id = each.at("id");
      for (const auto& [other, open] : sync_.conflicts) {
        const bool same_one = open.document_id == sync_.subject_of(item) && open.client_id == actor.name;
        if (same_one && open.resolution.empty() && other != id) differ("two open conflicts of one document");
      }
      sync_.conflicts[id] = {.document_id = sync_.subject_of(item),
                             .client_id = actor.name,
                             .kind = each.at("kind"),
                             .local = item.content};
    }
  }
  for (const std::size_t i : result.applied) {
    const SyncItem& item = items[i];
    std::string id = item.document_id;
    for (const Json& each : answer.at("applied")) {
      if (each.at("path") == item.path) id = each.at("document_id");
    }
    if (item.action == "push_create") {
      const Json made = agree(send(actors_[0], "GET", "/v1/documents/" + id), {200});
      model_.created(actor,
                     {.id = id,
                      .node = made.at("node_id"),
                      .parent = sync_.root,
                      .title = stem(item.path),
                      .content = item.content});
    }
    ModelDocument& document = model_.documents[id];
    if (item.action == "push_update") model_.rewrite(document, item.content);
    if (item.action == "push_delete") model_.put_away(document);
    sync_.follow(document);
    sync_.entries[id].path = item.path;
  }
  same(answer.at("revision"), sync_.revision, "the source's revision");
  same(answer.at("status"), result.conflicts.empty() ? "committed" : "partly_conflicted", "status");
}

void Run::pull() {
  const Actor& actor = any_actor();
  const bool sees = model_.sees_node(actor, model_.nodes.at(sync_.root));
  // Not at a revision within a commit: the order in which its items take effect is not specified.
  const std::int64_t since = one_in(2) || looked_at_.empty() ? 0 : looked_at_[chance(looked_at_.size())];
  const std::string base = "/v1/sync/sources/" + sync_.source_id + "/pull?since_revision=" + std::to_string(since);
  const std::size_t limit = one_in(2) ? 500 : 3;
  std::string path = base + "&limit=" + std::to_string(limit);
  std::set<std::string> seen;
  while (true) {
    const Json page = agree(send(actor, "GET", path), sees ? Expected{200} : Expected{404, "not_found"});
    if (!sees) break;
    same(page.at("revision"), sync_.revision, "revision");
    for (const Json& item : page.at("data")) {
      const std::string id = item.at("document_id");
      seen.insert(id);
      if (!sync_.entries.contains(id)) differ(id + " is not in the source");
      SyncEntry& entry = sync_.entries[id];
      const ModelDocument& document = model_.documents[id];
      if (entry.path.empty()) entry.path = item.at("path");
      same(item.at("path"), entry.path, "path");
      same(item.at("deleted"), !entry.present, "deleted");
      same(item.at("content_revision"), entry.present ? document.revision : entry.left_with, "content_revision");
      if (entry.present) same(item.at("content"), document.content, "content");
      if (entry.present) same(item.at("title"), document.title, "title");
    }
    if (page.at("next_cursor").is_null()) break;
    path = base + "&limit=" + std::to_string(limit) + "&cursor=" + page.at("next_cursor").get<std::string>();
  }
  if (!sees) return;
  looked_at_.push_back(sync_.revision);
  const std::vector<std::string> wanted = sync_.changed_since(since);
  same(Json(seen), Json(std::set<std::string>(wanted.begin(), wanted.end())), "what changed");
}

void Run::look_at_conflict() {
  if (sync_.conflicts.empty()) return;
  auto found = sync_.conflicts.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(chance(sync_.conflicts.size())));
  const auto& [id, conflict] = *found;
  const Actor& actor = any_actor();
  const bool sees = model_.sees_node(actor, model_.nodes.at(sync_.root));
  const Json shown =
      agree(send(actor, "GET", "/v1/sync/conflicts/" + id), sees ? Expected{200} : Expected{404, "not_found"});
  if (!sees) return;
  same(shown.at("kind"), conflict.kind, "kind");
  same(shown.at("client_id"), conflict.client_id, "client_id");
  same(shown.at("status"), conflict.resolution.empty() ? "open" : "resolved", "status");
  same(shown.at("local").at("deleted"), conflict.kind == "delete_edit", "local.deleted");
  if (!conflict.local.empty()) same(shown.at("local").at("content"), conflict.local, "local.content");
}

void Run::resolve() {
  if (sync_.conflicts.empty()) return;
  auto found = sync_.conflicts.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(chance(sync_.conflicts.size())));
  auto& [id, conflict] = *found;
  // Other kinds are tested by the service's own tests.
  if (conflict.kind != "revision" || conflict.local.empty()) return;
  ModelDocument& document = model_.documents[conflict.document_id];
  if (document.archived || !sync_.entries[document.id].present) return;
  const Actor& actor = any_writer();
  const char* ways[] = {"keep_remote", "keep_local", "merged"};
  const std::string way = ways[chance(3)];
  const bool stale = one_in(4);
  const std::int64_t revision =
      conflict.resolution == way ? conflict.resolved_from : document.revision + (stale ? 1 : 0);
  const std::string merged = fresh("word") + " merged";
  Json body = {{"resolution", way}, {"expected_content_revision", revision}};
  if (way == "merged") body["content"] = merged;
  Expected expected = may_write(actor, sync_, model_);
  if (expected.is_success() && !conflict.resolution.empty() && (conflict.resolution != way || way == "merged")) {
    if (conflict.resolution == "merged" && way == "merged")
      return;  // whether another text counts as the same resolution is not specified
    expected = {409, "conflict_resolved"};
  } else if (expected.is_success() && conflict.resolution.empty() && stale) {
    expected = {409, "revision_conflict"};
  }
  const Json answer = agree(send(actor, "POST", "/v1/sync/conflicts/" + id + ":resolve", body), expected);
  if (!expected.is_success()) return;
  same(answer.at("status"), "resolved", "status");
  same(answer.at("resolution"), way, "resolution");
  if (!conflict.resolution.empty()) return;
  conflict.resolution = way;
  conflict.resolved_from = revision;
  if (way == "keep_remote") return;
  model_.rewrite(document, way == "merged" ? merged : conflict.local);
  sync_.follow(document);
  same(answer.at("result").at("content_revision"), document.revision, "result.content_revision");
}

}  // namespace ws::mock::test
