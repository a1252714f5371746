/// Organization runs: turn a text asset into documents, one for each heading.
///
/// Clients see each phase of a run: a phase ends when it has been read once, or after 5 seconds of the world's clock.
/// The documents are created at the end, in the name of who started the run, under the target root or beside the asset.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Moves all runs to the phase of the current time. Costs one query if nothing is due.
Result<void> advance_due_runs(World& world);

/// One document of the result.
struct DocumentSection {
  std::string title = {};
  std::string_view content = {};  ///< points into the text
};
/// One section for each heading of any level, with the text up to the next heading. Text before the first heading gets
/// the title `fallback`. Pure.
std::vector<DocumentSection> split_documents(std::string_view text, std::string_view fallback);

}  // namespace ws::mock
