/// Differences between a service and the mock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace ws::mock::compare {

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

}  // namespace ws::mock::compare
