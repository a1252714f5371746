/// The world of one test case: in memory, with its own clock.
///
/// It contains the built-in world and a few more people. Calls are checked as in the pipeline: role and body against
/// the operation table, and the response too. The first failed expectation is the result of the case.
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

/// The response; for an error, `body` contains the error's members.
struct ScratchReply {
  int status = 0;
  std::string code = {};
  JsonBox body = {};
  /// A member of the body as text; empty if it is missing.
  std::string text(std::string_view member) const;
  std::int64_t integer(std::string_view member) const;
  /// Number of items of `member`; 0 if it is not an array.
  std::size_t count(std::string_view member) const;
};

class ScratchWorld {
 public:
  /// Fails if SQLite does.
  static Result<std::unique_ptr<ScratchWorld>> open(Time time);
  /// Resets the world for the next case.
  Result<void> restart();

  ScratchReply call(std::string_view operation, const Caller& caller, const Json& body, const Json& parameters);
  ScratchReply call(std::string_view operation, const Caller& caller, const Json& body);
  /// If `is_so` is false, the case fails with this sentence.
  bool expect(bool is_so, std::string_view sentence);
  const std::string& failure() const { return failure_; }

  Caller owner = {};     ///< Mara, of the first Workspace
  Caller editor = {};    ///< Tomás
  Caller viewer = {};    ///< can read, not write
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
