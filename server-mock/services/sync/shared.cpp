#include "server-mock/services/sync/shared.hpp"

#include <unordered_map>

#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"
#include "server-mock/services/sync_sources/membership.hpp"
#include "server-mock/services/sync_sources/paths.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {

using contract::Role;

ApiResult<VisibleSource> find_visible_source(World& world, const ServiceCall& call, std::string_view source_id) {
  WS_API_LET(std::optional<Source> source, find_source(world, source_id));
  if (!source) return not_found("sync source");
  WS_API_LET(const Role role, role_in(world, call.caller, source->workspace_id));
  WS_API_LET(std::optional<Node> root, find_node(world, source->root_node_id));
  if (!root) return not_found("sync source");
  // The creator of the source sees it, as does the creator of its root Page.
  const Node as_made = {.project_id = root->project_id,
                        .created_by_user_id = source->created_by_user_id,
                        .created_by_agent_id = source->created_by_agent_id};
  if (access_to(call.caller, role, *root) == AccessLevel::none &&
      access_to(call.caller, role, as_made) == AccessLevel::none) {
    return not_found("sync source");
  }
  WS_API_TRY(require_role(call, role));
  const bool opens_all = !root->project_id.empty() || is_admin(call.caller, role);
  return VisibleSource{.source = std::move(*source), .root = std::move(*root), .role = role, .opens_all = opens_all};
}

Result<AccessLevel> access_in(World& world, const Caller& caller, const VisibleSource& seen, const Document& document) {
  if (seen.opens_all) return seen.role >= Role::editor ? AccessLevel::edit : AccessLevel::read;
  // A deleted document is reported as a tombstone to those who could see it.
  Document as_active = document;
  as_active.archived = false;
  return access_to(world, caller, seen.role, as_active);
}

ApiResult<void> require_edit(World& world, const Caller& caller, const VisibleSource& seen, const Document& document) {
  WS_API_LET(const AccessLevel access, access_in(world, caller, seen, document));
  if (access < AccessLevel::edit) return forbidden("You may not change the document in this source");
  return {};
}

Result<bool> shows(World& world, const Caller& caller, const VisibleSource& seen, std::string_view document_id) {
  if (seen.opens_all) return true;
  WS_LET(const std::optional<Document> document, find_document(world, document_id, WithContent::no));
  if (!document) return true;
  WS_LET(const AccessLevel access, access_in(world, caller, seen, *document));
  return access != AccessLevel::none;
}

Result<std::string> find_shown_holder(World& world,
                                      const Caller& caller,
                                      const VisibleSource& seen,
                                      std::string_view path_key) {
  WS_LET(const std::optional<SyncEntry> holder, find_holder(world, seen.source.id, path_key));
  if (!holder) return std::string();
  WS_LET(const bool shown, shows(world, caller, seen, holder->document_id));
  return shown ? holder->document_id : std::string();
}

std::string actor_key(const Caller& caller) {
  return caller.agent_id.empty() ? "user:" + caller.owner_user_id : "agent:" + caller.agent_id;
}

ApiResult<Plan> find_plan(World& world, const ServiceCall& call, std::string_view plan_id, std::string_view source_id) {
  WS_API_LET(std::optional<Plan> plan,
             read_row(world,
                      read_as<Plan>,
                      "select id, source_id, client_id, base_revision, expires_at, commit_body "
                      "from sync_plans where id = ? and source_id = ? and actor = ?",
                      plan_id,
                      source_id,
                      actor_key(call.caller)));
  if (!plan) return not_found("plan");
  return std::move(*plan);
}

namespace {

Result<bool> is_empty(World& world, const Node& page) {
  WS_LET(const bool has_nodes,
         has_row(world,
                 "select 1 from nodes where workspace_id = ? and parent_id = ? and archived = 0 limit 1",
                 page.workspace_id,
                 page.id));
  return !has_nodes;
}

/// The root Page of a source is kept even if it is empty.
Result<bool> is_root(World& world, const Node& page) {
  return has_row(world, "select 1 from sync_sources where root_node_id = ?", page.id);
}

/// Moves the nodes of archived documents to the parent: their editors can still read them.
Result<void> remove_page(World& world, const Node& page) {
  WS_TRY(put(world,
             "update nodes set parent_id = ? where workspace_id = ? and parent_id = ?",
             page.parent_id,
             page.workspace_id,
             page.id));
  return put(world, "delete from nodes where id = ?", page.id);
}

}  // namespace

Result<Pages::Children*> Pages::children_of(const Node& parent) {
  const auto known = children_.find(parent.id);
  if (known != children_.end()) return &known->second;
  WS_LET(const sqlite::CachedStatement rows,
         world_.database.cached("select id, title from nodes where workspace_id = ? and parent_id = ? "
                                "and kind = 'page' order by position, id"));
  rows->bind_all(parent.workspace_id, parent.id);
  Children children;
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return &children_.emplace(parent.id, std::move(children)).first->second;
    children.emplace(segment_of(rows->text(1)),
                     Node{.id = rows->string(0),
                          .workspace_id = parent.workspace_id,
                          .kind = "page",
                          .parent_id = parent.id,
                          .project_id = parent.project_id,
                          .title = rows->string(1)});
  }
}

Result<Node> Pages::find_or_make(std::string_view folder) {
  if (folder.empty()) return seen_.root;
  const auto known = folders_.find(folder);
  if (known != folders_.end()) return known->second;
  WS_LET(const Node parent, find_or_make(folder_of(folder)));
  WS_LET(Children * children, children_of(parent));
  const std::string segment(file_name_of(folder));
  auto child = children->find(segment);
  if (child == children->end()) {
    Node page = {.id = world_.ids.uuid("node"),
                 .workspace_id = parent.workspace_id,
                 .kind = "page",
                 .parent_id = parent.id,
                 .project_id = parent.project_id,
                 .title = segment,
                 .created_by_user_id = caller_.owner_user_id,
                 .created_by_agent_id = caller_.agent_id};
    WS_TRY(insert_node(world_, page));
    child = children->emplace(segment, std::move(page)).first;
  }
  return folders_.emplace(std::string(folder), child->second).first->second;
}

Result<void> Pages::prune(std::string page_id) {
  while (!page_id.empty() && page_id != seen_.root.id) {
    WS_LET(const std::optional<Node> page, find_node(world_, page_id));
    if (!page || page->kind != "page") return {};
    WS_LET(const bool empty, is_empty(world_, *page));
    WS_LET(const bool root, is_root(world_, *page));
    if (!empty || root) return {};
    WS_TRY(remove_page(world_, *page));
    page_id = page->parent_id;
    // The cached children may be outdated now.
    folders_.clear();
    children_.clear();
  }
  return {};
}

namespace {

class Settlement {
 public:
  Settlement(World& world, const Caller& caller, const VisibleSource& seen, const std::vector<PathChange>& changes)
      : world_(world),
        caller_(caller),
        seen_(seen),
        changes_(changes),
        clashes_(changes.size()),
        dependents_(changes.size()) {}

  Result<std::vector<std::optional<Clash>>> settle() {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].leaves && !changes_[i].document_id.empty()) leaving_.emplace(changes_[i].document_id, i);
      if (!changes_[i].wants) continue;
      if (!claims_.emplace(utf8::fold_key(*changes_[i].wants), i).second) refuse(i, {});
    }
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].wants && !clashes_[i]) WS_TRY(look_up(i));
    }
    return std::move(clashes_);
  }

 private:
  Result<void> look_up(std::size_t i) {
    const std::string key = utf8::fold_key(*changes_[i].wants);
    WS_LET(const std::optional<SyncEntry> holder, find_holder(world_, seen_.source.id, key));
    if (holder) {
      WS_LET(const bool shown, shows(world_, caller_, seen_, holder->document_id));
      need_gone(i, holder->document_id, {.holder_id = shown ? holder->document_id : ""});
    }
    WS_LET(const std::vector<std::string> inside, documents_in_folder(world_, seen_.source.id, key));
    for (const std::string& document_id : inside) need_gone(i, document_id, {});
    // A document may have the name of a folder (a Page), so only its own path must be free. Within one commit both
    // would be in the same tree, which is a conflict.
    for (const std::string_view folder : folders_above(key)) {
      if (claims_.contains(std::string(folder))) refuse(i, {});
    }
    return {};
  }

  /// Change `i` is possible only if `document_id` leaves its path.
  void need_gone(std::size_t i, const std::string& document_id, Clash otherwise) {
    if (document_id == changes_[i].document_id) return;
    const auto leaver = leaving_.find(document_id);
    if (leaver == leaving_.end() || clashes_[leaver->second]) {
      refuse(i, std::move(otherwise));
    } else {
      dependents_[leaver->second].emplace_back(i, std::move(otherwise));
    }
  }

  /// `first` keeps its path; so do changes that depend on it.
  void refuse(std::size_t first, Clash why) {
    std::vector<std::pair<std::size_t, Clash>> open = {{first, std::move(why)}};
    while (!open.empty()) {
      auto [i, clash] = std::move(open.back());
      open.pop_back();
      if (clashes_[i]) continue;
      clashes_[i] = std::move(clash);
      for (auto& dependent : dependents_[i]) open.push_back(std::move(dependent));
      dependents_[i].clear();
    }
  }

  World& world_;
  const Caller& caller_;
  const VisibleSource& seen_;
  const std::vector<PathChange>& changes_;
  std::vector<std::optional<Clash>> clashes_;
  std::vector<std::vector<std::pair<std::size_t, Clash>>> dependents_;
  std::unordered_map<std::string, std::size_t> leaving_ = {};  // index of the change, by document
  std::unordered_map<std::string, std::size_t> claims_ =
      {};  // index of the first change that wants the path, by path key
};

}  // namespace

Result<std::vector<std::optional<Clash>>> check_paths(World& world,
                                                      const Caller& caller,
                                                      const VisibleSource& seen,
                                                      const std::vector<PathChange>& changes) {
  return Settlement(world, caller, seen, changes).settle();
}

}  // namespace ws::mock
