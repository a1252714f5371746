// A list read item by item gives what the whole document gives, wherever it is cut; what is no JSON is refused.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/json_items.hpp"
#include "tests/fuzz/target.hpp"

void ws_fuzz_one(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = static_cast<unsigned char>(bytes.front()) + std::size_t{1};
  const std::string_view text = bytes.substr(1);
  ws::Json list = ws::Json::array();
  ws::JsonItems items("data", [&](const ws::Json& item) {
    list.push_back(item);
    return ws::Result<void>();
  });
  for (std::size_t at = 0; at < text.size(); at += piece) {
    if (!items.feed(text.substr(at, piece))) return;
  }
  auto rest = items.finish();
  if (!rest) return;
  const auto whole = ws::parse_bounded(text);
  if (!whole) return;  // deeper or longer than one document may be
  const ws::Json* const data = ws::find(*whole, "data");
  if (data != nullptr && data->is_array() && ws::dump(*data) != ws::dump(list)) std::abort();
}
