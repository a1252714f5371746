/// What a sync came to, in a few lines: the sum, what is to be known, the next commands.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api-client/base/shell_command.hpp"
#include "cli/output/sync_rows.hpp"
#include "sync-engine/engine.hpp"

namespace ws::cli {

/// How the command was called: the commands that the report suggests repeat these flags.
struct Invocation {
  ShellCommand program{"ws"};  ///< "ws -C DIR" where the tree is elsewhere
  std::string only = {};       ///< the GLOB of `--only`
  std::string verb = {};       ///< "undo 12" where it is not a run
  bool may_walk = false;       ///< somebody can be led through conflicts
  std::string stamp = {};      ///< put before each line for a terminal: the time in a watch
};

/// How many rows came to what, of one report or of many: "3 sent, 1 received". In the order in which they came first.
class Sum {
 public:
  void add(const sync::Report& report);
  std::string text() const;  ///< empty where nothing was counted

 private:
  std::vector<std::pair<std::string_view, std::size_t>> counts_;
};

/// The sum ("2 sent, 1 received") or the guard, what is to be known, the next commands.
std::vector<std::string> render_outcome(const sync::Report& report, ReportStage stage, const Invocation& called = {});

}  // namespace ws::cli
