#include "sync-engine/survey/invalid_paths.hpp"

#include <algorithm>

namespace ws::sync {

InvalidPaths invalid_paths_after(const InvalidPaths& before, const Incoming& incoming) {
  InvalidPaths now = incoming.invalid_paths;
  if (incoming.end.complete) return now;
  for (const auto& [document, path] : before) {
    if (!incoming.rows.contains(document)) now.emplace(document, path);
  }
  return now;
}

Result<void> store_invalid_paths(StateStore& state, const InvalidPaths& before, const InvalidPaths& now) {
  for (const auto& [document, path] : before) {
    if (!now.contains(document)) WS_TRY(state.drop_invalid_path(document));
  }
  for (const auto& [document, path] : now) {
    const auto known = before.find(document);
    if (known == before.end() || known->second != path) WS_TRY(state.put_invalid_path(document, path));
  }
  return {};
}

std::vector<Skipped> skipped_invalid_paths(const InvalidPaths& invalid_paths, const std::set<std::string>& without_id) {
  std::vector<Skipped> skipped;
  for (const auto& [document, path] : invalid_paths) {
    // One without any path goes by its id.
    skipped.push_back(path.empty() ? Skipped{.path = document.text, .reason = SkipReason::no_path}
                                   : Skipped{.path = path, .reason = SkipReason::dangerous_name});
  }
  for (const std::string& path : without_id) {
    skipped.push_back({.path = path.empty() ? "a document without a path" : path, .reason = SkipReason::no_id});
  }
  std::sort(skipped.begin(), skipped.end());
  skipped.erase(std::unique(skipped.begin(), skipped.end()), skipped.end());
  return skipped;
}

}  // namespace ws::sync
