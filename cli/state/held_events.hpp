/// Events that `ws events claim` leased and that are still open: `$XDG_STATE_HOME/ws/events/ID.json`, mode 0600.
///
/// The files contain the lease token, a secret needed by renew, complete and fail that cannot be given as a flag.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"

namespace ws::cli {

struct HeldEvent {
  std::string event_id = {};
  std::string lease_token = {};
  Time lease_ends_at = {};
};

class HeldEvents {
 public:
  /// `state_folder` is `$XDG_STATE_HOME/ws`.
  explicit HeldEvents(const std::filesystem::path& state_folder) : folder_(state_folder / "events") {}

  /// Fails with `disk`; with `internal` if the event's id is not a UUID.
  Result<void> save(const HeldEvent& event) const;
  /// Empty if the event was not claimed on this machine.
  std::optional<HeldEvent> find(std::string_view event_id) const;
  void forget(std::string_view event_id) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ws::cli
