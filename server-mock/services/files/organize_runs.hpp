/// Organization runs: a text asset becomes documents, one for each of its headings.
///
/// A run goes through its phases one by one, so that whoever looks sees them: each lasts until it was looked at once,
/// or 5 seconds of the world's clock. The documents are made at the end, by whoever asked for the run, under the target
/// root or beside the asset.
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
  std::string target_node_id = {};  ///< empty: where the asset is
  std::string status = "queued";
  std::string phase = "received";
  std::string message = {};  ///< why it failed
  std::string created_by_user_id = {};
  std::string created_by_agent_id = {};
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;  ///< when the phase began

  bool is_over() const { return status == "succeeded" || status == "failed"; }
};
inline constexpr std::int64_t phase_ms = 5000;

Result<void> insert_run(World& world, const OrganizeRun& run, std::string_view instruction);
Result<std::optional<OrganizeRun>> find_run(World& world, std::string_view id);
Json to_json(const OrganizeRun& run);

/// One phase further, because somebody looked. Nothing where the run is over. Within a UnitOfWork.
Result<void> advance_run(World& world, OrganizeRun& run);
/// Takes every run as far as the world's clock says. Whoever moves the clock may call it. Costs one lookup where
/// nothing is due.
Result<void> advance_due_runs(World& world);

/// A document that a text makes.
struct Extract {
  std::string title = {};
  std::string_view content = {};  ///< points into the text
};
/// One a heading, whatever its level, with the lines below it up to the next; what stands before the first heading
/// gets the title `fallback`. Pure.
std::vector<Extract> cut_documents(std::string_view text, std::string_view fallback);

}  // namespace ws::mock
