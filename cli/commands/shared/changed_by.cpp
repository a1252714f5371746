#include "cli/commands/shared/changed_by.hpp"

#include <array>
#include <ctime>

#include <nlohmann/json.hpp>

namespace ws::cli {

LastChange last_change_of(const Json& document) {
  LastChange change;
  const auto revision = find_integer(document, "content_revision");
  if (revision && *revision > 0) change.revision = static_cast<std::uint64_t>(*revision);
  change.title = find_text(document, "title");
  change.archived = find_text(document, "status") == "archived";
  if (const Json* by = find(document, "updated_by"); by != nullptr && by->is_object()) {
    change.name = find_text(*by, "name");
  }
  if (const auto text = find_text(document, "updated_at")) {
    if (const auto time = parse_rfc3339(*text)) change.time = shown_time(*time);
  }
  return change;
}

std::optional<LastChange> find_last_change(Client& client, const std::string& document_id) {
  Call call{.operation = "docs.get"};
  call.parameters.emplace_back("document_id", document_id);
  const auto reply = client.call(std::move(call));
  if (!reply) return std::nullopt;
  return last_change_of(*reply->json);
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
