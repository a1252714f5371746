// Any error body of any server becomes one message without control characters.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api-client/contract/problem.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const char* const types[] = {"application/json", "application/problem+json", "text/html", ""};
  const auto problem = ws::contract::read_problem(400 + data[0] % 200, types[data[0] % 4], "", body);
  for (const char c : problem.message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
  }
  static_cast<void>(ws::contract::to_failure(problem, "docs.get"));
  return 0;
}
