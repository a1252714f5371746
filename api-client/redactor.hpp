/// Removes secrets from texts that people and logs get to see (`safety.md`, promise 8).
#pragma once

#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws {

class Redactor {
 public:
  /// Texts of fewer than 8 characters are not looked for: they would blank out half of every line.
  void add(const std::string& secret);
  /// The members of a request body that are secrets: device codes, lease tokens.
  void add_members(const Json& body);

  std::string clean(std::string text) const;
  /// All texts of it.
  Failure clean(Failure failure) const;

 private:
  std::vector<std::string> secrets_;
};

}  // namespace ws
