/// The world in which a test case of the catalog runs: in memory, with a clock of its own, gone afterwards.
///
/// It holds the built-in world with a few people more. Calls go the pipeline's way as far as services reach: role and
/// body are checked against the table, and the answer too. What is expected and does not come true is the case's
/// failure; only the first is kept.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api-client/base/clock.hpp"
#include "api-client/base/json.hpp"
#include "server-mock/services/built_in/built_in_world.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

class ScratchClock final : public Clock {
 public:
  Time now() const override { return time; }
  Time time = {};
};

/// What came back; of a refusal `body` holds its members.
struct ScratchReply {
  int status = 0;
  std::string code = {};
  JsonBox body = {};
  /// A member of the body as text; empty where it is not there.
  std::string text(std::string_view member) const;
  std::int64_t integer(std::string_view member) const;
  /// How many items `member` has; 0 where it is no array.
  std::size_t count(std::string_view member) const;
};

class ScratchWorld {
 public:
  /// Fails where SQLite does.
  static Result<std::unique_ptr<ScratchWorld>> open(Time time);
  /// As new, for the next case.
  Result<void> restart();

  ScratchReply call(std::string_view operation, const Caller& caller, Json body, Json parameters);
  ScratchReply call(std::string_view operation, const Caller& caller, Json body);
  /// The world is as the case wants it, or the case fails with this sentence.
  bool expect(bool is_so, std::string_view sentence);
  const std::string& failure() const { return failure_; }

  Caller owner = {};     ///< Mara, of the first Workspace
  Caller editor = {};    ///< Tomás
  Caller viewer = {};    ///< sees the Workspace, changes nothing
  Caller agent = {};     ///< @scout, of Mara
  Caller stranger = {};  ///< a key of the second Workspace
  BuiltIn built_in = {};

 private:
  explicit ScratchWorld(Time time) { clock_.time = time; }
  Result<void> add_viewer();

  ScratchClock clock_ = {};
  std::unique_ptr<World> world_ = {};
  std::string failure_ = {};
};

}  // namespace ws::mock
