/// Times, sizes and ids in human-readable form. Scripts get them unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api-client/base/clock.hpp"

namespace ws::cli {

/// "just now" (up to 10 s ahead), "2 hours ago", "in 5 minutes"; a date, "2026-11-20", beyond 30 days. Invalid times
/// are unchanged.
std::string relative_time(std::string_view rfc3339, Time now);
/// "412 bytes", "1.2 MB": in powers of 1,000, as file managers show them.
std::string human_size(std::uint64_t bytes);
/// "1 file", "3 files"; "3 of them are" where `many` says how.
std::string counted(std::size_t count, std::string_view one, std::string_view many = {});
/// "250 ms", "1.5 s", "3 min".
std::string human_duration(std::int64_t milliseconds);
/// The last 8 characters of a UUID, which are random; any other id is unchanged.
std::string short_id(std::string_view id);

}  // namespace ws::cli
