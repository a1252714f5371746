/// The test cases that an administrator can launch: real checks of this server, each in a scratch world.
///
/// Constant data. Ids, capabilities and owners are filters; `role` is the lowest role that the case acts in,
/// `cost_class` its duration (`free`: a few milliseconds, `low`: tens of milliseconds).
#pragma once

#include <span>
#include <string_view>

#include "server-mock/services/tests/scratch_world.hpp"

namespace ws::mock {

struct TestCase {
  std::string_view id = {};
  std::string_view title = {};
  std::string_view description = {};
  std::string_view capability = {};
  std::string_view owner = {};
  std::string_view role = {};
  std::string_view cost_class = {};
  void (*check)(ScratchWorld& world) = nullptr;
};

/// The cases of `checks_*.cpp`.
std::span<const TestCase> content_cases();    ///< documents, access, tree
std::span<const TestCase> sync_cases();       ///< local Markdown sync
std::span<const TestCase> knowledge_cases();  ///< search, questions, comments

/// All cases, ordered by area. `at` is below `case_count()`.
std::size_t case_count();
const TestCase& case_at(std::size_t at);
/// Returns null if the id is unknown.
const TestCase* find_case(std::string_view id);

struct TestSuite {
  std::string_view id = {};
  std::string_view title = {};
  std::span<const std::string_view> case_ids = {};
  std::string_view not_runnable_because = {};  ///< empty: it can be launched
};
std::span<const TestSuite> test_suites();
const TestSuite* find_suite(std::string_view id);

}  // namespace ws::mock
