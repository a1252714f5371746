/// The two counters of the service. They are different types, so that none is taken for the other.
#pragma once

#include <compare>
#include <cstdint>

namespace ws::sync {

/// Of one document: rises with each change of it. 0: not on the service yet, or the service does not say.
struct DocumentRevision {
  std::uint64_t number = 0;
  bool is_known() const { return number != 0; }
  auto operator<=>(const DocumentRevision&) const = default;
};

/// Of a source: rises by one with each change of any of its documents. 0: nothing was pulled yet.
struct SourceRevision {
  std::uint64_t number = 0;
  SourceRevision after(std::uint64_t changes) const { return {number + changes}; }
  auto operator<=>(const SourceRevision&) const = default;
};

}  // namespace ws::sync
