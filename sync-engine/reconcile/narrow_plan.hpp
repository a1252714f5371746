/// Restricts a plan to some paths: `--only`, and a watch that excludes files still being written. Pure.
#pragma once

#include <set>

#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// Removes the rows whose path is not `wanted`, and those that depend on them: the other rows of the same document, and
/// rows that need a path, on either side, which a removed row would have freed. So a swap is done whole or not at all.
/// `Plan::partial` is set where anything was removed. Of `documents` every row is wanted: a path here says little about
/// a document that was moved on the service.
void narrow_plan(Plan& plan,
                 const BaseTree& base,
                 const RemoteTree& remote,
                 const WantedPath& wanted,
                 const std::set<DocumentId>& documents = {});

/// These documents, and those whose files leave the places where they arrive here, and so on.
std::set<DocumentId> with_those_in_the_way(const Plan& plan, std::set<DocumentId> documents);

}  // namespace ws::sync
