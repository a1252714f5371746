/// `sync.md`, "Every pair of changes", as data: each row with its three trees and the plan that must follow.
#pragma once

#include <string_view>
#include <vector>

#include "sync-engine/reconcile/reconcile.hpp"

namespace ws::sync::test {

/// `pending`: the expected plan stands here already, the reconciler does not make it yet.
enum class Status { done, pending };

struct MatrixRow {
  std::string_view id;
  std::string_view here;
  std::string_view there;
  Status status;
  BaseTree base;
  LocalTree local;
  RemoteTree remote;
  Plan expected;
  ReconcileOptions options = {};
};

std::vector<MatrixRow> matrix();

}  // namespace ws::sync::test
