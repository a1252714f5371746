/// Compares a response of the other side with the mock's response to the same request, and binds ids on the way.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "api-client/http/transport.hpp"
#include "server-mock/compare/binding.hpp"
#include "server-mock/compare/findings.hpp"
#include "server-mock/journal/redactor.hpp"

namespace ws::mock::compare {

/// The mock's response to the request of an exchange.
struct Replayed {
  WireExchange answer = {};  ///< of the mock
  bool is_foreign = false;   ///< the request names an object that existed before the recording began
};

class Grader {
 public:
  Grader(Binding& binding, Findings& findings) : binding_(binding), findings_(findings) {}

  /// Checks the response alone against the operation table: published members, types, enumerated values, pages.
  void grade_alone(const Exchange& exchange);
  /// Compares status, members, types, headers and order, and values if they must be equal.
  void grade_beside(const Exchange& exchange, const Replayed& ours);
  /// Records that the key was accepted for the operation. Without this, a 403 says nothing about the service.
  void note_permitted(const std::string& operation) { permitted_.insert(operation); }

 private:
  struct At;
  void report(FindingKind kind, const std::string& where, std::string what);
  void compare(const Json& theirs, const Json& ours, const contract::Type& type, const At& at);
  void compare_objects(const Json& theirs, const Json& ours, const contract::Schema& schema, const At& at);
  void compare_arrays(const Json& theirs, const Json& ours, const contract::Type& type, const At& at);
  void compare_texts(const std::string& theirs, const std::string& ours, const contract::Type& type, const At& at);
  void compare_errors(const Json& theirs, const Json& ours);
  void compare_headers(const Json& theirs, const ws::http::Headers& ours);
  void check_pages(const Exchange& theirs);
  void collect_unknown(const Json& theirs, const contract::Schema& schema, const Json* ours);
  void remember_written(const Json& body);

  Binding& binding_;
  Findings& findings_;
  const Exchange* now_ = nullptr;
  std::set<std::pair<std::string, std::string>> written_ = {};  // members with the texts that a request wrote
  std::set<std::string> permitted_ = {};
  std::map<std::string, std::set<std::string>> pages_ = {};  // item ids of the list pages being read
};

}  // namespace ws::mock::compare
