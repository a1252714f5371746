/// A service that temporarily refuses to accept or return some documents, alone or in a batch (I17).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "tests/property/network.hpp"

namespace ws::property {

/// What is refused, selected by rows of the report.
struct Refusals {
  std::set<std::string> paths = {};      ///< paths of items that are not staged
  std::set<std::string> documents = {};  ///< documents whose text is not returned
  std::string code = {};                 ///< error code of an item: "forbidden", "not_found", "hash_mismatch"
  int status = 0;                        ///< status for a text: 403, 404, 500

  bool empty() const { return paths.empty() && documents.empty(); }
  bool holds(const sync::Action& action) const;
};

/// Selects some rows that no other row of the report depends on, by the bits of `which`.
Refusals choose_refusals(const sync::Report& foreseen, std::uint8_t which, std::uint8_t how);

/// The response to a request under these refusals. Pulls return no texts, so each text is requested separately.
http::Response answer_but_for(const Refusals& refusals, const http::Request& request, const Network::Exchange& ask);

/// The paths of the pushed items, and the documents whose text was requested.
std::set<std::string> asked_by_name(const std::vector<std::string>& sent);

}  // namespace ws::property
