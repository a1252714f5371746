/// Which command the words of a command line name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/grammar/command.hpp"

namespace ws::cli {

/// A command that may be named. It is made only when it is chosen: making all of them costs time at every start.
struct Entry {
  std::string_view words = {};
  std::string_view summary = {};
  std::function<Command()> make = {};
};

/// What the arguments name: the words that were understood, and what is left.
struct Resolution {
  std::vector<std::string> words = {};   ///< plural, aliases replaced: {"docs", "list"}
  std::vector<std::string> rest = {};    ///< all other arguments, in order
  std::optional<Entry> entry = {};       ///< empty: a group, or nothing
  std::optional<std::string> next = {};  ///< the first word that was not understood
  std::size_t next_at = 0;               ///< where it stands among the arguments
};
Resolution resolve(const std::vector<Entry>& entries, const std::vector<std::string>& arguments);

/// What a group does where no verb is given: "sync" is "sync run". Empty: such a group needs one.
std::string_view default_verb(std::string_view words);

/// Whether `words` are `begin`, or begin with it and a blank.
bool begins_with(std::string_view words, std::string_view begin);
std::string joined(const std::vector<std::string>& words);

}  // namespace ws::cli
