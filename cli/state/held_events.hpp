/// Events that `ws events claim` leased and that are not closed yet: `$XDG_STATE_HOME/ws/events/ID.json`, 0600.
///
/// They hold the lease token, a secret that renew, complete and fail need and that no flag takes as a value.
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
  /// Of `$XDG_STATE_HOME/ws`.
  explicit HeldEvents(const std::filesystem::path& state_folder) : folder_(state_folder / "events") {}

  /// Fails with `disk`; with `internal` where the service's id is not a UUID.
  Result<void> save(const HeldEvent& event) const;
  /// Empty: not claimed from this machine.
  std::optional<HeldEvent> find(std::string_view event_id) const;
  void forget(std::string_view event_id) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ws::cli
