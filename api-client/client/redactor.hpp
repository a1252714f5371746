/// Removes secrets from texts that people and logs get to see (`safety.md`, promise 8).
#pragma once

#include <string>
#include <string_view>
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
  /// The values in the query of an address that is its own permission, as they stand and decoded.
  void add_query(std::string_view url);

  std::string clean(std::string text) const;
  /// All texts of it. In the details, which are JSON, a secret is found however it is escaped; details that hold none
  /// keep their bytes.
  Failure clean(Failure failure) const;

 private:
  std::string clean_json(std::string text) const;
  /// Texts and names, at every depth; whether one of them held a secret.
  bool clean_texts(Json& value) const;

  std::vector<std::string> secrets_;
};

}  // namespace ws
