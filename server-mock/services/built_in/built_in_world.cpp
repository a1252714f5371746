#include "server-mock/services/built_in/built_in_world.hpp"

#include <map>
#include <span>

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/services/documents/document_changes.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

// The documents of the built-in world.

enum class Location {
  project,           ///< in the Project, on the Page named `page` (empty: at its root)
  personal,          ///< private document of the first person, outside every Project
  second_workspace,  ///< at the root of the second Workspace
};

struct BuiltInDocument {
  Location location = Location::project;
  std::string_view page = {};
  std::string_view title = {};
  std::string_view content = {};
};

constexpr BuiltInDocument documents[] = {
    {Location::project, "", "Start here", R"md(# Start here

This is the handbook of a small harbour crew. Three places to begin:

- [Tides and currents](<guides/Tides and currents.md>) - read it before you plan a crossing
- [Knots](guides/Knots.md) - five of them, no more
- [Crew list](<people/Crew list.md>) - who to ask

What happened lately stands in the [logbook](<logbook/2026-11-02.md>).

> Write short, link often, and say what you would do differently.
)md"},
    {Location::project, "guides", "Tides and currents", R"md(---
title: Tides and currents
tags: [navigation, safety]
reviewed: 2026-10-12
---
# Tides and currents

High water at the pier is **38 minutes** after the port table.

| State | Current at the mouth | Go? |
|---|---:|---|
| Slack | under 0.5 kn | yes |
| Mid flood | 2.1 kn | with engine |
| Mid ebb | 2.8 kn | no, wait |

## Rule of twelfths

In six hours the water rises by 1, 2, 3, 3, 2, 1 twelfths of the range. See the worked
example in the [crossing plan](<Crossing plan.md>).

## Who decides

The skipper of the day, named in the [Crew list](<../people/Crew list.md>).
)md"},
    {Location::project, "guides", "Crossing plan", R"md(# Crossing plan

1. Look up the tide: [Tides and currents](<Tides and currents.md>).
2. Leave a note with the harbour office.
3. Check the gear against [Knots](Knots.md) and the locker list.

```text
departure   06:40
range       3.6 m
one twelfth 0.3 m
```

Turn round when two of these are true: wind over 5 Bft, visibility under 1 nm, anybody unsure.
)md"},
    {Location::project, "guides", "Knots", R"md(# Knots

| Knot | For | Holds under shock |
|---|---|---|
| Bowline | a loop that never slips | yes |
| Cleat hitch | mooring | yes |
| Rolling hitch | pulling along a rope | yes |
| Reef knot | sails, nothing else | **no** |
| Figure eight | stopping a rope's end | yes |

Practise on the pier, not in the [ebb](<Tides and currents.md#tides-and-currents>).
)md"},
    {Location::project, "people", "Crew list", R"md(---
title: Crew list
owner: Mara
tags:
  - people
---
# Crew list

- **Mara Lindqvist** - skipper, keeps the [logbook](<../logbook/2026-11-02.md>)
- **Tomás Okafor** - engine, radio
- **@scout** - an agent that reads along and answers questions

New here? Begin at [Start here](<../Start here.md>).
)md"},
    {Location::project, "people", "Réunion du lundi", R"md(# Réunion du lundi

Présents : Mara, Tomás, François, 渡辺さん, Ольга.

- La bouée n° 7 est déplacée de 40 m vers l'est → mettre à jour [Tides and currents](<../guides/Tides and currents.md>)
- Café : c'est au tour de Tomás ☕
- Prochaine sortie : voir [2026-11-09](<../logbook/2026-11-09.md>)

日本語の要約：ブイ七番は東へ四十メートル移動。
)md"},
    {Location::project, "logbook", "2026-11-02", R"md(# 2 November 2026

Wind SW 4, sea slight. Out at 06:40 by the [Crossing plan](<../guides/Crossing plan.md>), back at 11:15.

- Engine stopped once off the mouth; fuel filter changed.
- Next entry: [2026-11-09](2026-11-09.md)
)md"},
    {Location::project, "logbook", "2026-11-09", R"md(# 9 November 2026

Fog until ten, so we stayed in and practised [knots](../guides/Knots.md). Previous entry:
[2026-11-02](2026-11-02.md).

- [x] Filter ordered
- [ ] Buoy 7 in the chart, see [Réunion du lundi](<../people/Réunion du lundi.md>)
)md"},
    {Location::personal, "", "Ideas for the winter", R"md(# Ideas for the winter

Only for me until it is worth sharing.

- A page on radio procedure beside [Tides and currents](<guides/Tides and currents.md>)
- Ask Tomás about the second anchor
)md"},
    {Location::second_workspace, "", "Garden notes", R"md(# Garden notes

- Garlic in by the end of November
- The path behind the shed floods when the harbour does; the [handbook](<Start here.md>) has the tide table
)md"},
};

/// Ten documents, in order of creation.
std::span<const BuiltInDocument> built_in_documents() { return documents; }

Result<void> add_key(World& world, BuiltIn& made) {
  made.key_id = world.ids.uuid("key");
  made.token = world.ids.token("token");
  Json scopes = Json::array();
  for (const std::string_view scope : contract::all_scopes) scopes.push_back(scope);
  return put(world,
             "insert into keys (id, secret_sha256, owner_user_id, audience, workspace_id, scopes, created_at, "
             "display_prefix) values (?, ?, ?, 'workspace', ?, ?, ?, ?)",
             made.key_id,
             Sha256::of(made.token).hex(),
             made.user_id,
             made.workspace_id,
             dump(scopes),
             world.now(),
             made.token.substr(0, 12));
}

Result<void> add_agent(World& world, BuiltIn& made) {
  made.agent_id = world.ids.uuid("agent");
  return put(world,
             "insert into agents (id, workspace_id, owner_user_id, handle, display_name, permissions, created_at, "
             "updated_at) values (?, ?, ?, 'scout', 'Scout', '[\"read\",\"comment\",\"edit\"]', ?, ?)",
             made.agent_id,
             made.workspace_id,
             made.user_id,
             world.now(),
             world.now());
}

/// The node of a Page or a Project.
Result<Node> add_node(World& world, std::string_view kind, std::string_view title, const Node& parent) {
  Node node = {.id = world.ids.uuid("node"),
               .workspace_id = parent.workspace_id,
               .kind = std::string(kind),
               .parent_id = parent.id,
               .project_id = parent.project_id,
               .title = std::string(title),
               .created_by_user_id = parent.created_by_user_id};
  WS_TRY(insert_node(world, node));
  return node;
}

Result<Node> add_project(World& world, BuiltIn& made, std::string_view title) {
  made.project_id = world.ids.uuid("project");
  WS_LET(
      Node node,
      add_node(
          world,
          "project",
          title,
          Node{.workspace_id = made.workspace_id, .project_id = made.project_id, .created_by_user_id = made.user_id}));
  made.project_node_id = node.id;
  WS_TRY(
      put(world,
          "insert into projects (id, workspace_id, node_id, title, created_at, updated_at) values (?, ?, ?, ?, ?, ?)",
          made.project_id,
          made.workspace_id,
          node.id,
          title,
          world.now(),
          world.now()));
  return node;
}

Result<void> add_documents(World& world, const BuiltIn& made, const Node& project) {
  const Caller first = {.owner_user_id = made.user_id};
  const Caller second = {.owner_user_id = made.other_user_id};
  WS_LET(DocumentChanges by_first, DocumentChanges::by(world, first));
  WS_LET(DocumentChanges by_second, DocumentChanges::by(world, second));
  std::map<std::string_view, Node> pages = {{"", project}};
  for (const BuiltInDocument& document : built_in_documents()) {
    Draft draft = {.workspace_id = made.workspace_id, .title = document.title, .content = document.content};
    switch (document.location) {
      case Location::project: {
        auto page = pages.find(document.page);
        if (page == pages.end()) {
          WS_LET(Node added, add_node(world, "page", document.page, project));
          page = pages.emplace(document.page, std::move(added)).first;
        }
        draft.parent_node_id = page->second.id;
        draft.project_id = made.project_id;
        WS_TRY(by_first.create(draft));
        break;
      }
      case Location::personal: WS_TRY(by_first.create(draft)); break;
      case Location::second_workspace:
        draft.workspace_id = made.other_workspace_id;
        WS_TRY(by_second.create(draft));
        break;
    }
  }
  return {};
}

std::string first_token(const World& world, Secrets secrets) {
  return Ids(world.options.seed, secrets, world.options.secrets_scope).token("token");
}

Result<void> remember(World& world, const BuiltIn& made) {
  Json values = {{"key_id", made.key_id},
                 {"user_id", made.user_id},
                 {"other_user_id", made.other_user_id},
                 {"workspace_id", made.workspace_id},
                 {"other_workspace_id", made.other_workspace_id},
                 {"project_id", made.project_id},
                 {"project_node_id", made.project_node_id},
                 {"agent_id", made.agent_id}};
  // A seeded token can be computed again; a random one must be stored in the data file, which has mode 0600.
  if (world.options.secrets == Secrets::random) values["token"] = made.token;
  return put(world, "insert into meta (key, value) values ('built_in', ?)", dump(values));
}

}  // namespace

Result<std::string> add_person(World& world, std::string_view email, std::string_view name) {
  std::string id = world.ids.uuid("user");
  WS_TRY(put(world,
             "insert into users (id, email, display_name, created_at) values (?, ?, ?, ?)",
             id,
             email,
             name,
             world.now()));
  return id;
}

Result<std::string> add_workspace(World& world, std::string_view name) {
  std::string id = world.ids.uuid("workspace");
  WS_TRY(put(world,
             "insert into workspaces (id, name, created_at, updated_at) values (?, ?, ?, ?)",
             id,
             name,
             world.now(),
             world.now()));
  return id;
}

Result<void> add_member(World& world, std::string_view workspace_id, std::string_view user_id, std::string_view role) {
  return put(world,
             "insert into members (workspace_id, user_id, role, created_at) values (?, ?, ?, ?)",
             workspace_id,
             user_id,
             role,
             world.now());
}

Result<void> settle(World& world, BuiltIn& made) {
  WS_TRY(add_key(world, made));
  return remember(world, made);
}

Result<BuiltIn> reset(World& world, StartWith start) {
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_TRY(world.clear());
  BuiltIn made;
  WS_LET(made.user_id, add_person(world, "mara@example.com", "Mara Lindqvist"));
  WS_LET(made.workspace_id, add_workspace(world, "Harbour crew"));
  WS_TRY(add_member(world, made.workspace_id, made.user_id, "owner"));
  WS_TRY(add_key(world, made));
  if (start == StartWith::seed) {
    WS_LET(made.other_user_id, add_person(world, "tomas@example.com", "Tomás Okafor"));
    WS_LET(made.other_workspace_id, add_workspace(world, "Garden"));
    WS_TRY(add_member(world, made.workspace_id, made.other_user_id, "editor"));
    WS_TRY(add_member(world, made.other_workspace_id, made.other_user_id, "owner"));
    WS_TRY(add_member(world, made.other_workspace_id, made.user_id, "viewer"));
    WS_TRY(add_agent(world, made));
    WS_LET(const Node project, add_project(world, made, "Harbour handbook"));
    WS_TRY(add_documents(world, made, project));
  }
  WS_TRY(remember(world, made));
  WS_TRY(work.commit());
  return made;
}

Result<void> renew_token(World& world, BuiltIn& made) {
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  made.token = first_token(world, world.options.secrets);
  WS_TRY(put(world,
             "update keys set secret_sha256 = ?, display_prefix = ? where id = ?",
             Sha256::of(made.token).hex(),
             made.token.substr(0, 12),
             made.key_id));
  WS_TRY(put(world, "delete from meta where key = 'built_in'"));
  WS_TRY(remember(world, made));
  return work.commit();
}

Result<BuiltIn> find_built_in(World& world) {
  WS_LET(const std::optional<std::string> stored,
         read_row(world, read_text, "select value from meta where key = 'built_in'"));
  if (!stored) return fail(Failure::Kind::not_found, "the database was not filled with the built-in world");
  WS_LET(const Json values, parse_bounded(*stored));
  const auto text = [&](std::string_view key) { return find_text(values, key).value_or(""); };
  std::string token = find_text(values, "token").value_or(first_token(world, Secrets::seeded));
  WS_LET(const bool valid, has_row(world, "select 1 from keys where secret_sha256 = ?", Sha256::of(token).hex()));
  // Rows that were taken over from the world at the base URL.
  const std::string other = Ids(world.options.seed).token("token");
  if (!valid) {
    WS_LET(const bool is_other, has_row(world, "select 1 from keys where secret_sha256 = ?", Sha256::of(other).hex()));
    token = is_other ? other : "";
  }
  return BuiltIn{.token = std::move(token),
                 .key_id = text("key_id"),
                 .user_id = text("user_id"),
                 .other_user_id = text("other_user_id"),
                 .workspace_id = text("workspace_id"),
                 .other_workspace_id = text("other_workspace_id"),
                 .project_id = text("project_id"),
                 .project_node_id = text("project_node_id"),
                 .agent_id = text("agent_id")};
}

}  // namespace ws::mock
