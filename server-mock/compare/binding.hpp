/// Maps ids and secrets of the other side to those of the mock, learned by comparing responses.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "api-client/base/json.hpp"

namespace ws::mock::compare {

/// A text with the other side's ids and secrets replaced by the mock's.
struct Translated {
  std::string text = {};
  bool is_foreign = false;  ///< it contains an id, cursor or secret without counterpart
};

class Binding {
 public:
  /// Returns false if `theirs` or `ours` is already bound to another value.
  bool bind(const std::string& theirs, const std::string& ours);
  const std::string* find(const std::string& theirs) const;
  bool is_bound(const std::string& ours) const { return theirs_of_.contains(ours); }
  const std::string* theirs_of(const std::string& ours) const;

  /// Replaces UUIDs and placeholders within the text; a placeholder without counterpart becomes a text of the same
  /// length.
  Translated translate(std::string_view text) const;
  Json translate(const Json& value, bool& is_foreign) const;

 private:
  std::unordered_map<std::string, std::string> ours_of_ = {};
  std::unordered_map<std::string, std::string> theirs_of_ = {};
};

}  // namespace ws::mock::compare
