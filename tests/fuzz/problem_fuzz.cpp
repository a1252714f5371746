// Any error body of any server becomes one message without control characters.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api-client/contract/problem.hpp"
#include "tests/fuzz/target.hpp"

void ws_fuzz_one(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto first = static_cast<unsigned char>(bytes.front());
  const char* const types[] = {"application/json", "application/problem+json", "text/html", ""};
  const auto problem = ws::contract::read_problem(400 + first % 200, types[first % 4], "", bytes.substr(1));
  for (const char c : problem.message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
  }
  static_cast<void>(ws::contract::to_failure(problem, "docs.get"));
}
