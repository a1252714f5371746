/// A reference model of the Workspace service, as short as possible: maps in memory, no store, no HTTP.
///
/// Written from `decisions.md` and `workspace-api-v1.md` only; no code of the server is used. Every function for a call
/// returns the expected response and, on success, applies the call's effect to the model. Values that only the service
/// can choose (ids, lease tokens) are set in the model afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ws::mock::test {

/// Success, or an error with status and code.
struct Expected {
  int status = 200;
  std::string code = {};
  bool is_success() const { return status < 300; }
  bool operator==(const Expected&) const = default;
};

enum class Rank { none, viewer, commenter, editor, admin, owner };
enum class Level { none, read, comment, edit };
Level level_of(std::string_view permission);

/// A key and its owner.
struct Actor {
  std::string name = {};
  std::string token = {};
  std::string user_id = {};
  std::string agent_id = {};  ///< empty: a person
  std::string workspace_id = {};
  Rank rank = Rank::none;
  Level permission = Level::edit;  ///< of an agent: limited by its scopes

  bool is_agent() const { return !agent_id.empty(); }
  /// Scopes of agents: `decisions.md`, "Credentials, roles, scopes".
  bool may_write_documents() const { return permission == Level::edit; }
  bool may_write_comments() const { return permission >= Level::comment; }
  bool may_share() const { return !is_agent(); }
};

struct ModelNode {
  std::string parent = {};  ///< empty: the root
  std::string project = {};
  std::string workspace_id = {};
  std::string maker = {};  ///< the actor's user or agent id
  bool is_project = false;
};

struct ModelDocument {
  std::string id = {};
  std::string node = {};
  std::string parent = {};
  std::string project = {};
  std::string workspace_id = {};
  std::string maker_user = {};
  std::string maker_agent = {};
  std::string title = {};
  std::string content = {};
  std::int64_t revision = 1;
  bool archived = false;
  std::map<std::string, std::string> shares = {};  ///< user or agent id -> permission
  std::map<std::int64_t, std::string> texts = {};  ///< by revision: the base texts of conflicts
};

struct ModelThread {
  std::string id = {};
  std::string document_id = {};
  std::string status = "open";
  std::string quote = {};
  bool quote_lost = false;
  std::vector<std::string> bodies = {};
  std::set<std::string> agents = {};  ///< agents that wrote in it
};

struct ModelEvent {
  std::string id = {};  ///< empty until it is claimed
  std::string agent_id = {};
  std::string kind = {};
  std::string document_id = {};
  std::string thread_id = {};
  std::string state = "queued";
  int attempt = 0;
  std::int64_t available_at = 0;
  std::int64_t lease_ends = 0;
  std::string lease_token = {};
};

struct ModelAgent {
  std::string id = {};
  std::string handle = {};
  std::string owner = {};
  Rank owner_rank = Rank::none;
  std::string workspace_id = {};
};

class Model {
 public:
  std::int64_t now = 0;  ///< milliseconds
  std::map<std::string, ModelDocument> documents = {};
  std::map<std::string, ModelNode> nodes = {};  ///< Projects and Pages
  std::map<std::string, ModelThread> threads = {};
  std::vector<ModelEvent> events = {};  ///< oldest first
  std::map<std::string, ModelAgent> agents = {};

  Level level(const Actor& actor, const ModelDocument& document) const;
  bool sees_node(const Actor& actor, const ModelNode& node) const;

  // Documents and nodes. An empty id refers to nothing.
  Expected create(const Actor& actor, const std::string& parent) const;
  void created(const Actor& actor, ModelDocument document);
  Expected read(const Actor& actor, const std::string& id) const;
  Expected update(const Actor& actor, const std::string& id, std::int64_t expected, const std::string& content);
  Expected rename(const Actor& actor, const std::string& id, std::int64_t expected, const std::string& title);
  Expected archive(const Actor& actor, const std::string& id);
  Expected share(const Actor& actor, const std::string& id, const std::string& grantee, const std::string& permission);
  Expected move(const Actor& actor, const std::string& id, const std::string& parent);
  Expected move_project(const Actor& actor, const std::string& node, const std::string& parent) const;
  Expected create_project(const Actor& actor) const;
  /// Ids in a list, and of what a search may find.
  std::set<std::string> listed(const Actor& actor) const;

  // Comments.
  Expected comment(const Actor& actor, const std::string& document_id) const;
  Expected reply(const Actor& actor, const std::string& document_id, const std::string& thread_id) const;
  void commented(const Actor& actor, ModelThread thread, const std::string& body);
  void replied(const Actor& actor, const std::string& thread_id, const std::string& body);
  Expected set_status(const Actor& actor,
                      const std::string& document_id,
                      const std::string& thread_id,
                      const std::string& status);

  // Events.
  void advance(std::int64_t milliseconds);
  /// The event that the actor must get now; null: none.
  ModelEvent* claimable(const Actor& actor);
  Expected hold(const Actor& actor, const std::string& event_id, const std::string& token) const;
  ModelEvent* find_event(const std::string& id);
  static void hand_back(ModelEvent& event, std::int64_t at);
  /// The lease ends so much later, but at most 900 s from now, and never earlier than before.
  static void renew(ModelEvent& event, std::int64_t now, std::int64_t lease_seconds);

  // The effect of any change of a text; also used by sync.
  void rewrite(ModelDocument& document, const std::string& content);
  void put_away(ModelDocument& document);

 private:
  const ModelDocument* seen(const Actor& actor, const std::string& id) const;
  std::optional<Expected> refuse_edit(const Actor& actor, const std::string& id) const;
  Expected refuse_revision(const ModelDocument& document, std::int64_t expected) const;
  void queue_events(const Actor& actor, const ModelThread& thread, const std::string& body);
};

}  // namespace ws::mock::test
