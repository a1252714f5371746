/// A service that for a while will not take or give some documents, whatever is asked together with them (I17).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "tests/property/network.hpp"

namespace ws::property {

/// What is refused, by the row that stands for it.
struct Refusals {
  std::set<std::string> paths = {};      ///< of items that are not staged
  std::set<std::string> documents = {};  ///< whose text is not given
  std::string code = {};                 ///< of an item: "forbidden", "not_found", "hash_mismatch"
  int status = 0;                        ///< of a text: 403, 404, 500

  bool empty() const { return paths.empty() && documents.empty(); }
  bool holds(const sync::Action& action) const;
};

/// Some of the rows that no other row of the report depends on, by the bits of `which`.
Refusals choose_refusals(const sync::Report& foreseen, std::uint8_t which, std::uint8_t how);

/// The answer to a request under these refusals. No pull brings a text: each is asked for by itself.
http::Response answer_but_for(const Refusals& refusals, const http::Request& request, const Network::Exchange& ask);

/// The paths of the items that were pushed, and the documents whose text was asked for.
std::set<std::string> asked_by_name(const std::vector<std::string>& sent);

}  // namespace ws::property
