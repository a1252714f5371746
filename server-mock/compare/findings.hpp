/// Where a service and the mock differ.
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
  status,    ///< another status
  code,      ///< another word for machines in an error
  missing,   ///< a member that the mock sends is missing
  null,      ///< a member is null, or it is not and the mock's is
  type,      ///< another type, or a value that the document does not allow
  value,     ///< what was written is not what is read, or another word
  items,     ///< other items in a list: one is missing, or more than `limit`
  order,     ///< the items are in another order
  repeated,  ///< an item or a page comes twice
  header,    ///< a header is missing
};
std::string_view name(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::status;
  std::string operation = {};
  std::string where = {};  ///< "body/data/title", "header/etag"; array places left out
  std::string what = {};   ///< "409, and the mock answers 412"
  std::int64_t exchange = 0;
  std::string shown_by = {};
  std::size_t times = 1;
};

/// A member that the table does not know.
struct UnknownField {
  std::string schema = {};  ///< "Document"
  std::string member = {};
  std::string type = {};  ///< "string()"
  bool operator<(const UnknownField& other) const {
    return std::tie(schema, member) < std::tie(other.schema, other.member);
  }
};

/// Each difference once, with the first exchange that shows it.
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
