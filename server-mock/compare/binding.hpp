/// Which id or secret of the mock stands for one of the other side: learned by unification of answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "api-client/base/json.hpp"

namespace ws::mock::compare {

/// A text with the mock's ids and secrets in place of the other side's.
struct Translated {
  std::string text = {};
  bool is_foreign = false;  ///< an id, cursor or secret in it has no counterpart
};

class Binding {
 public:
  /// False if `theirs` or `ours` is bound to something else already.
  bool bind(const std::string& theirs, const std::string& ours);
  const std::string* find(const std::string& theirs) const;
  bool is_image(const std::string& ours) const { return theirs_of_.contains(ours); }
  const std::string* theirs_of(const std::string& ours) const;

  /// UUIDs and placeholders within the text are replaced; a placeholder without counterpart by a text of its length.
  Translated translate(std::string_view text) const;
  Json translate(const Json& value, bool& is_foreign) const;

 private:
  std::unordered_map<std::string, std::string> ours_of_ = {};
  std::unordered_map<std::string, std::string> theirs_of_ = {};
};

}  // namespace ws::mock::compare
