/// A world with a frozen clock, and calls to its services as the pipeline makes them: the body is validated against the
/// table before the call, the answer after it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "server-mock/services/built_in/built_in_world.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock::test {

class StoppedClock final : public Clock {
 public:
  Time now() const override { return time; }
  Time time = Time{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}} + std::chrono::hours{10};
};

/// The answer; of an error `body` holds the members.
struct Outcome {
  int status = 0;
  std::string code = {};  ///< of an error
  Json body = {};
  std::string header(std::string_view name) const;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

class ServiceWorld {
 public:
  explicit ServiceWorld(const std::string& path = ":memory:", StartWith start = StartWith::seed);

  /// Fails the test if body or answer violate the table.
  Outcome call(std::string_view operation, const Caller& caller, Json body = nullptr, Json parameters = Json::object());

  Outcome create_document(const Caller& caller, std::string_view title, std::string_view content, Json more = {});
  std::string id_of_document(std::string_view title);
  /// Members with a role, of the first Workspace.
  Caller add_person(std::string_view name, std::string_view role);

  StoppedClock clock = {};
  std::unique_ptr<World> world;
  BuiltIn built_in = {};
  Caller mara = {};   ///< owner of the first Workspace
  Caller tomas = {};  ///< editor in it, owner of the second
  Caller agent = {};  ///< @scout, of Mara
};

/// One client of one source, with the steps of a sync.
class SyncClient {
 public:
  SyncClient(ServiceWorld& world, Caller caller, std::string source_id, std::string client_id)
      : world_(world), caller_(std::move(caller)), source_id_(std::move(source_id)), client_id_(std::move(client_id)) {}
  /// Creates a source on a new Page.
  static SyncClient with_new_source(ServiceWorld& world, const Caller& caller, Json more = Json::object());

  Outcome plan(Json entries = Json::array(), std::int64_t base_revision = 0);
  std::string plan_id();
  Outcome push(const std::string& plan_id, Json items);
  Outcome commit(const std::string& plan_id, Json push_ids);
  /// Plan, push, commit in one: the commit's answer.
  Outcome publish(Json items);
  /// The items of a pull, in order; fails the test if it has several pages.
  Json pull(std::int64_t since_revision = 0);
  /// Path -> content of the source's documents.
  Json tree();
  /// The item of a path in `pull`.
  Json at(std::string_view path);
  std::int64_t revision();
  Outcome conflict(const std::string& id);
  Outcome resolve(const std::string& id, Json body);
  const std::string& source_id() const { return source_id_; }
  ServiceWorld& world() { return world_; }

 private:
  ServiceWorld& world_;
  Caller caller_;
  std::string source_id_;
  std::string client_id_;
};

Json created(std::string_view path, std::string_view text);
Json updated(const Json& item, std::string_view text);  ///< `item` of a pull: what the change was made from
Json moved(const Json& item, std::string_view path);
Json removed(const Json& item);

}  // namespace ws::mock::test
