/// Grades an answer of the other side beside the mock's answer to the same request, and binds ids as it goes.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "server-mock/compare/binding.hpp"
#include "server-mock/compare/exchange.hpp"
#include "server-mock/compare/findings.hpp"

namespace ws::mock::compare {

/// How the request of an exchange relates to the replay.
struct Replayed {
  WireExchange answer = {};  ///< of the mock
  bool is_foreign = false;   ///< the request names something that was there before the recording began
};

class Grader {
 public:
  Grader(Binding& binding, Findings& findings) : binding_(binding), findings_(findings) {}

  /// The answer alone, against the table: published members, types, words, pages.
  void grade_alone(const SealedExchange& theirs);
  /// Status, members, types, headers, order; values where they must be equal.
  void grade_beside(const SealedExchange& theirs, const Replayed& ours);
  /// A refusal by scope or role says nothing of the service if the key is never let in.
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
  void check_pages(const ExchangeParts& theirs);
  void collect_unknown(const Json& theirs, const contract::Schema& schema, const Json* ours);
  void remember_written(const Json& body);

  Binding& binding_;
  Findings& findings_;
  const SealedExchange* now_ = nullptr;
  std::set<std::pair<std::string, std::string>> written_ = {};  // member and text that a request wrote
  std::set<std::string> permitted_ = {};
  std::map<std::string, std::set<std::string>> pages_ = {};  // ids of the pages of a list that is being read
};

}  // namespace ws::mock::compare
