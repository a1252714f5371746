/// Removes secrets from texts that are shown or logged (`safety.md`, promise 8).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws {

class Redactor {
 public:
  /// Ignores texts of fewer than 8 characters: they would match in almost every line.
  void add(const std::string& secret);
  /// Adds the secret members of a body, at every depth (`contract/secrets.hpp`).
  void add_members(const Json& body);
  /// Adds an address that is a secret: as a whole, its path, what in its path is random, and the values of its query.
  void add_address(std::string_view url);
  /// Adds the values in the query of a signed URL, encoded and decoded.
  void add_query(std::string_view url);

  std::string clean(std::string text) const;
  /// Cleans all texts of the failure. In the details, which are JSON, secrets are found in any escaped form; details
  /// without secrets are returned unchanged.
  Failure clean(Failure failure) const;

 private:
  void add_all_texts(const Json& value);
  std::string clean_json(std::string text) const;
  /// Cleans texts and names at every depth; returns whether one of them contained a secret.
  bool clean_texts(Json& value) const;

  std::vector<std::string> secrets_;
};

}  // namespace ws
