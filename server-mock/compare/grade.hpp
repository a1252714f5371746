/// Compares a response of the other side with the mock's response to the same request, and binds ids on the way.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/http/transport.hpp"
#include "server-mock/journal/redactor.hpp"

namespace ws::mock::compare {

// Maps ids and secrets of the other side to those of the mock, learned by comparing responses.

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

// Differences between a service and the mock.

enum class FindingKind {
  status,    ///< the status differs
  code,      ///< the error code differs
  missing,   ///< the mock sends this member, the service does not
  null,      ///< the member is null on one side only
  type,      ///< the type differs, or the API document does not allow the value
  value,     ///< a value that was written is not returned, or an enumerated value differs
  items,     ///< the items of a list differ: one is missing, or there are more than `limit`
  order,     ///< the order of the items differs
  repeated,  ///< an item or a page is returned twice
  header,    ///< a header is missing
};
std::string_view name(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::status;
  std::string operation = {};
  std::string where = {};  ///< "body/data/title", "header/etag"; without array indices
  std::string what = {};   ///< "409, and the mock answers 412"
  std::uint64_t exchange = 0;
  std::string shown_by = {};
  std::size_t times = 1;
};

/// A member that is not in the operation table.
struct UnknownField {
  std::string schema = {};  ///< "Document"
  std::string member = {};
  std::string type = {};  ///< "string()"
  bool operator<(const UnknownField& other) const {
    return std::tie(schema, member) < std::tie(other.schema, other.member);
  }
};

/// Collects each difference once, with the first exchange that shows it.
class Findings {
 public:
  void add(Finding finding);
  void add(UnknownField field) { unknown_.emplace(std::move(field), true); }
  const std::vector<Finding>& all() const { return all_; }
  std::vector<UnknownField> unknown() const;

 private:
  std::vector<Finding> all_ = {};
  std::map<std::string, std::size_t> places_ = {};
  std::map<UnknownField, bool> unknown_ = {};
};

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
