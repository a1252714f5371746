/// Compares two states of a world as `GET /_mock/state` writes them. Pure.
///
/// Two states are equal if renaming ids turns one into the other. Ids are matched by the content of their objects and
/// by the references to them (colour refinement, as for graphs); ids of the first state, before anything ran, are not
/// renamed. Ignored are times, counters of revisions and sequences, the order of rows, secrets, and data that expires
/// (keys, idempotency records, uploads, plans, device logins, the search index).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"

namespace ws::mock::sweep {

struct Difference {
  enum class Kind {
    extra,     ///< an object that is not in the reference
    missing,   ///< an object that is only in the reference
    changed,   ///< one member differs
    unlinked,  ///< all objects exist, but a reference points to a different one
  } kind = Kind::changed;
  std::string table = {};     ///< "documents"
  std::string column = {};    ///< with `changed`: "content"
  std::string was = {};       ///< with `changed`: in the reference
  std::string is = {};        ///< with `changed`
  std::string title = {};     ///< the title shown to people; may be empty
  std::string id = {};        ///< with `changed`: of the object in the state that was seen; may be empty
  bool is_as_before = false;  ///< with `changed`: the member has its value of the first state, so a change was lost

  bool operator==(const Difference&) const = default;
};

/// `first` is the state before anything ran; null: none, and every id may be renamed.
std::vector<Difference> compare_states(const Json& first, const Json& reference, const Json& seen);

/// The rows of a table; empty if there is no such table.
const Json& rows_of(const Json& state, std::string_view table);
/// Whether `compare_states` looks at a table, or at a column.
bool is_compared(std::string_view table, std::string_view column = "id");
/// The length of the id, or of the time, that a text begins with; 0: none.
std::size_t id_length(std::string_view text);
std::size_t time_length(std::string_view text);

/// "document", "comment" for a table name.
std::string noun_of(const std::string& table);

}  // namespace ws::mock::sweep
