/// Which folders a plan renames as a whole. Pure.
#pragma once

#include <vector>

#include "sync-engine/model/plan.hpp"
#include "sync-engine/model/report.hpp"

namespace ws::sync {

/// Folders with at least two documents of which every one moves alike, on the same side.
std::vector<RenamedFolder> renamed_folders(const std::vector<Action>& actions, const BaseTree& base);

}  // namespace ws::sync
