/// Who changed a document last, and when: for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api-client/base/clock.hpp"
#include "api-client/client/client.hpp"

namespace ws::cli {

struct LastChange {
  std::uint64_t revision = 0;
  bool archived = false;
  std::optional<std::string> title = {};
  std::optional<std::string> name = {};
  std::optional<std::string> time = {};  ///< as `shown_time`
};

/// Asks for the document; what the service does not say is left out. Empty where it cannot be read.
std::optional<LastChange> find_last_change(Client& client, const std::string& document_id);

/// "2026-11-20 10:04", in the time zone of whoever reads it.
std::string shown_time(Time time);

}  // namespace ws::cli
