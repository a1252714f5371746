/// Organization runs: turn a text asset into documents, one for each heading.
///
/// Clients see each phase of a run: a phase ends when it has been read once, or after 5 seconds of the world's clock.
/// The documents are created at the end, in the name of who started the run, under the target root or beside the asset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct OrganizeRun {
  std::string id = {};
  std::string asset_id = {};
  std::string workspace_id = {};
  std::string target_node_id = {};  ///< empty: beside the asset
  std::string status = "queued";
  std::string phase = "received";
  std::string message = {};  ///< the reason of a failure
  std::string created_by_user_id = {};
  std::string created_by_agent_id = {};
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;  ///< start of the phase

  bool is_over() const { return status == "succeeded" || status == "failed"; }
};
inline constexpr std::int64_t phase_ms = 5000;

Result<void> insert_run(World& world, const OrganizeRun& run, std::string_view instruction);
Result<std::optional<OrganizeRun>> find_run(World& world, std::string_view id);
Json to_json(const OrganizeRun& run);

/// Call it when the run is read: moves it to the next phase. Does nothing if it is over. Call it within a UnitOfWork.
Result<void> advance_run(World& world, OrganizeRun& run);
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
