/// Pages of `ws help` that are about no single command: `ws help environment`.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace ws::cli {

struct Topic {
  std::string_view name = {};
  std::string_view summary = {};
  std::string_view text = {};  ///< lines of at most 80 columns; empty: made by the program
};

std::span<const Topic> help_topics();
std::optional<Topic> find_topic(std::string_view name);

}  // namespace ws::cli
