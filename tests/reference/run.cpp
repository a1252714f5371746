#include "tests/reference/run.hpp"

#include <catch2/catch.hpp>

namespace ws::mock::test {
namespace {

constexpr std::size_t traced_calls = 40;
constexpr std::size_t shown_earlier = 500;
constexpr std::size_t shown_last = 4000;

}  // namespace

Run::Run(std::uint64_t seed) : seed_(seed), random_(seed) {
  const BuiltIn& world = wire_.built_in();
  const auto wishes = [](const std::string& user_id, const std::string& workspace_id, const char* role) {
    return Json{{"user_id", user_id}, {"workspace_id", workspace_id}, {"role", role}};
  };
  add_actor("mara", wishes(world.user_id, world.workspace_id, "owner"), Rank::owner, world.user_id, world.workspace_id);
  const std::string& tomas = world.other_user_id;
  add_actor("tomas", wishes(tomas, world.workspace_id, "editor"), Rank::editor, tomas, world.workspace_id);
  add_agent("scout", world.agent_id, 0, Level::edit);
  // Agents get only the permissions to read and comment here.
  const RawAnswer made = send(actors_[1],
                              "POST",
                              "/v1/agents",
                              {{"handle", "helper"}, {"display_name", "Helper"}, {"permissions", {"read", "comment"}}});
  add_agent("helper", agree(made, {201}).at("id"), 1, Level::comment);
  add_actor("commenter", wishes(tomas, world.workspace_id, "commenter"), Rank::commenter, tomas, world.workspace_id);
  add_actor("viewer", wishes(tomas, world.workspace_id, "viewer"), Rank::viewer, tomas, world.workspace_id);
  const std::string& elsewhere = world.other_workspace_id;
  add_actor("stranger", wishes(tomas, elsewhere, "owner"), Rank::owner, tomas, elsewhere);
  open_source();
}

void Run::add_actor(
    const std::string& name, const Json& key_wishes, Rank rank, std::string user_id, std::string workspace) {
  actors_.push_back({.name = name,
                     .token = wire_.key(key_wishes),
                     .user_id = std::move(user_id),
                     .workspace_id = std::move(workspace),
                     .rank = rank});
}

void Run::add_agent(const std::string& handle, const std::string& id, std::size_t owner, Level permission) {
  const Actor of = actors_[owner];
  const std::string token =
      agree(send(actors_[0], "POST", "/v1/agents/" + id + "/credentials:rotate"), {200}).at("secret");
  model_.agents[id] = {
      .id = id, .handle = handle, .owner = of.user_id, .owner_rank = of.rank, .workspace_id = of.workspace_id};
  actors_.push_back({.name = "@" + handle,
                     .token = token,
                     .user_id = of.user_id,
                     .agent_id = id,
                     .workspace_id = of.workspace_id,
                     .rank = of.rank,
                     .permission = permission});
}

std::string Run::any_document() {
  if (model_.documents.empty() || one_in(30)) return "019b76da-a800-7a7b-9527-47438ee725fe";
  auto found = model_.documents.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(chance(model_.documents.size())));
  return found->first;
}

/// A Project, the root (empty), or sometimes a node that cannot have children.
std::string Run::any_parent() {
  if (one_in(3)) return {};
  if (one_in(15)) return "019b76da-a800-7a7b-9527-47438ee725fe";
  return projects_[chance(projects_.size())];
}

void Run::step() {
  struct Weighed {
    Step step;
    std::size_t weight;
  };
  static constexpr Weighed steps[] = {
      {&Run::create_document, 6},
      {&Run::replay, 4},
      {&Run::read_document, 12},
      {&Run::update_document, 14},
      {&Run::archive_document, 3},
      {&Run::share_document, 6},
      {&Run::move_node, 5},
      {&Run::create_project, 1},
      {&Run::list_documents, 3},
      {&Run::search, 3},
      {&Run::broken_call, 6},
      {&Run::add_comment, 6},
      {&Run::reply, 7},
      {&Run::set_status, 4},
      {&Run::list_comments, 5},
      {&Run::claim, 8},
      {&Run::finish_event, 9},
      {&Run::advance, 4},
      {&Run::rotate, 1},
      {&Run::publish, 4},
      {&Run::pull, 3},
      {&Run::look_at_conflict, 2},
      {&Run::resolve, 3},
  };
  std::size_t total = 0;
  for (const Weighed& each : steps) total += each.weight;
  std::size_t place = chance(total);
  for (const Weighed& each : steps) {
    if (place < each.weight) return (this->*each.step)();
    place -= each.weight;
  }
}

RawAnswer Run::send(const Actor& actor,
                    const std::string& method,
                    const std::string& target,
                    const Json& body,
                    std::vector<std::string> headers) {
  ++calls_;
  const std::string text = body.is_null() ? std::string() : dump(body);
  RawAnswer answer = wire_.ask(
      {.method = method, .target = target, .token = actor.token, .json = text, .headers = std::move(headers)});
  trace_.push_back("#" + std::to_string(calls_) + " " + actor.name + ": " + method + " " + target + " " + text +
                   "\n      -> " + std::to_string(answer.status) + " " + answer.body);
  if (trace_.size() > traced_calls) trace_.pop_front();
  return answer;
}

void Run::differ(const std::string& what) {
  std::string text = "WS_SEED=" + std::to_string(seed_) + ", call " + std::to_string(calls_) + ": " + what +
                     "\nthe calls that led here:\n";
  // The last calls are printed in full.
  for (std::size_t i = 0; i < trace_.size(); ++i) {
    text += trace_[i].substr(0, i + 4 < trace_.size() ? shown_earlier : shown_last) + "\n";
  }
  FAIL(text);
  throw std::logic_error("FAIL returns never");
}

Json Run::agree(const RawAnswer& answer, const Expected& expected) {
  Json body = answer.body.empty() ? Json(nullptr) : parse(answer);
  const std::string code = find_text(body, "code").value_or("");
  if (answer.status != expected.status || (!expected.is_success() && code != expected.code)) {
    differ("expected " + std::to_string(expected.status) + " " + expected.code + ", got " +
           std::to_string(answer.status) + " " + code);
  }
  return body;
}

void Run::same(const Json& got, const Json& wanted, const std::string& what) {
  if (got != wanted) differ(what + " is " + dump(got) + ", expected " + dump(wanted));
}

void Run::compare_all() {
  for (const Actor& actor : actors_) {
    for (const auto& [id, document] : model_.documents) {
      const RawAnswer answer = send(actor, "GET", "/v1/documents/" + id);
      const Expected expected = model_.read(actor, id);
      const Json item = agree(answer, expected);
      if (expected.is_success()) compare(actor, item, document, true);
    }
  }
  pull();
}

}  // namespace ws::mock::test
