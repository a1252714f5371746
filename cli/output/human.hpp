/// Times, sizes and ids as people read them. Scripts get them as the service wrote them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api-client/base/clock.hpp"

namespace ws::cli {

/// "just now", "2 hours ago", "in 5 minutes"; more than 30 days away a date, "2026-11-20". What is no time stays.
std::string relative_time(std::string_view rfc3339, Time now);
/// "412 bytes", "1.2 MB": powers of 1,000, as file managers count.
std::string human_size(std::uint64_t bytes);
/// "250 ms", "1.5 s", "3 min".
std::string human_duration(std::int64_t milliseconds);
/// The last 8 characters of a UUID, which are its random part; any other id whole.
std::string short_id(std::string_view id);

}  // namespace ws::cli
