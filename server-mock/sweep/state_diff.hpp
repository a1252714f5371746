/// Compares two states of a world as `GET /_mock/state` writes them. Pure.
///
/// Two states are equal if one becomes the other by renaming ids. Ids are bound by what their objects hold and by what
/// refers to them (colour refinement, as for graphs); those of the first state, before anything ran, keep their names.
/// Left out: times, counters of revisions and sequences, the order of rows, secrets, and what goes by itself (keys,
/// idempotency records, uploads, plans, device logins, the search index).
#pragma once

#include <string>
#include <vector>

#include "api-client/base/json.hpp"

namespace ws::mock::sweep {

struct Difference {
  enum class Kind {
    extra,     ///< an object that the reference has not
    missing,   ///< an object of the reference
    changed,   ///< one member differs
    unlinked,  ///< all objects are there, but something refers to another one than in the reference
  } kind = Kind::changed;
  std::string table = {};     ///< "documents"
  std::string column = {};    ///< with `changed`: "content"
  std::string was = {};       ///< with `changed`: in the reference
  std::string is = {};        ///< with `changed`
  std::string title = {};     ///< what names the object to people; may be empty
  bool is_as_before = false;  ///< with `changed`: that member is as in the first state: a change got lost

  bool operator==(const Difference&) const = default;
};

/// `first`: the state before anything ran; null: none, and every id may be renamed.
std::vector<Difference> compare_states(const Json& first, const Json& reference, const Json& seen);

/// "document", "comment", for the name of a table.
std::string noun_of(const std::string& table);

}  // namespace ws::mock::sweep
