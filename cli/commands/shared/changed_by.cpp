#include "cli/commands/shared/changed_by.hpp"

#include <array>
#include <ctime>

#include <nlohmann/json.hpp>

namespace ws::cli {

std::optional<LastChange> find_last_change(Client& client, const std::string& document_id) {
  const auto reply = client.call({.operation = "docs.get", .parameters = {{"document_id", document_id}}});
  if (!reply) return std::nullopt;
  const Json& document = *reply->json;
  LastChange change{.archived = find_text(document, "status") == "archived", .title = find_text(document, "title")};
  const auto revision = find_integer(document, "content_revision");
  if (revision && *revision > 0) change.revision = static_cast<std::uint64_t>(*revision);
  if (const Json* by = find(document, "updated_by"); by != nullptr && by->is_object()) {
    change.name = find_text(*by, "name");
  }
  if (const auto text = find_text(document, "updated_at")) {
    if (const auto time = parse_rfc3339(*text)) change.time = shown_time(*time);
  }
  return change;
}

std::string shown_time(Time time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  std::array<char, 32> text{};
  ::localtime_r(&seconds, &parts);
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts);
  return {text.data(), length};
}

}  // namespace ws::cli
