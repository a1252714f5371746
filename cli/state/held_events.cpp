#include "cli/state/held_events.hpp"

#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/uuid.hpp"

namespace ws::cli {
namespace {

std::filesystem::path file_of(const std::filesystem::path& folder, std::string_view event_id) {
  return folder / (std::string(event_id) + ".json");
}

}  // namespace

Result<void> HeldEvents::save(const HeldEvent& event) const {
  // The id was chosen by the server and is used as a file name.
  if (!is_uuid(event.event_id)) return fail(Failure::Kind::internal, "the server's event id is not a UUID");
  WS_TRY(make_folders(folder_, 0700));
  const Json value = {{"v", 1},
                      {"event_id", event.event_id},
                      {"lease_token", event.lease_token},
                      {"lease_ends_at", to_rfc3339(event.lease_ends_at)}};
  return write_file(file_of(folder_, event.event_id), dump(value) + "\n", 0600);
}

std::optional<HeldEvent> HeldEvents::find(std::string_view event_id) const {
  if (!is_uuid(event_id)) return std::nullopt;
  const auto text = read_file(file_of(folder_, event_id), 4096);
  if (!text) return std::nullopt;
  const auto value = parse_bounded(*text);
  if (!value) return std::nullopt;
  HeldEvent event{.event_id = std::string(event_id), .lease_token = find_text(*value, "lease_token").value_or("")};
  const auto end = parse_rfc3339(find_text(*value, "lease_ends_at").value_or(""));
  if (end) event.lease_ends_at = *end;
  if (event.lease_token.empty()) return std::nullopt;
  return event;
}

void HeldEvents::forget(std::string_view event_id) const {
  std::error_code ignored;
  if (is_uuid(event_id)) std::filesystem::remove(file_of(folder_, event_id), ignored);
}

}  // namespace ws::cli
