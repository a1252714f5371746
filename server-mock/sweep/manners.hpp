/// How the requests of a run were sent, whatever they came to: sooner than Retry-After, too often, or again though they
/// may not be repeated so. Pure.
#pragma once

#include <string>
#include <vector>

#include "server-mock/sweep/oracles.hpp"

namespace ws::mock::sweep {

/// A status after which the same request comes to nothing else: not one that asks to wait, or to look first.
bool is_final_refusal(int status);

/// "impatient", "storm", "careless": of each at most one. `cause`: what the service did, for the sentences. The
/// findings have no id yet.
std::vector<Finding> judge_manners(const Reference& reference,
                                   const Row& row,
                                   const Run& run,
                                   const std::string& cause);

}  // namespace ws::mock::sweep
