/// A world of the services with a few more people, in which each expectation says in words what it is about.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/server-mock/services/service_world.hpp"

namespace ws::mock::test {

/// What a service answered; its members as values, empty or 0 where they are missing.
struct CheckedReply : Outcome {
  std::string text(std::string_view member) const;
  std::int64_t integer(std::string_view member) const;
  std::size_t count(std::string_view member) const;  ///< items of an array
};

class CheckedWorld : public ServiceWorld {
 public:
  CheckedWorld();
  /// As the pipeline: refuses by role and body before the service is asked.
  CheckedReply call(std::string_view operation,
                    const Caller& caller,
                    Json body = nullptr,
                    Json parameters = Json::object());
  /// Returns `is_so`; the test fails with the sentence unless it is.
  bool expect(bool is_so, std::string_view sentence);

  Caller& owner = mara;
  Caller& editor = tomas;
  Caller viewer = {};    ///< can read, not write
  Caller stranger = {};  ///< a key of the second Workspace
};

struct Check {
  std::string_view name;
  void (*run)(CheckedWorld& world);
};
/// Each in a world of its own.
void run_all(std::span<const Check> checks);

}  // namespace ws::mock::test
