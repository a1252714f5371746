#include "sync-engine/survey/invalid_paths.hpp"

#include <algorithm>

namespace ws::sync {

Misnamed misnamed_after(const Misnamed& before, const Incoming& incoming) {
  Misnamed now = incoming.misnamed;
  if (incoming.end.complete) return now;
  for (const auto& [document, path] : before) {
    if (!incoming.rows.contains(document)) now.emplace(document, path);
  }
  return now;
}

Result<void> put_misnamed(StateStore& state, const Misnamed& before, const Misnamed& now) {
  for (const auto& [document, path] : before) {
    if (!now.contains(document)) WS_TRY(state.drop_misnamed(document));
  }
  for (const auto& [document, path] : now) {
    const auto known = before.find(document);
    if (known == before.end() || known->second != path) WS_TRY(state.put_misnamed(document, path));
  }
  return {};
}

std::vector<Skipped> skipped_for_name(const Misnamed& misnamed, const std::set<std::string>& nameless) {
  std::vector<Skipped> skipped;
  for (const auto& [document, path] : misnamed) {
    // One without any path goes by its id.
    skipped.push_back(path.empty() ? Skipped{.path = document.text, .reason = Hindrance::no_path}
                                   : Skipped{.path = path, .reason = Hindrance::dangerous_name});
  }
  for (const std::string& path : nameless) {
    skipped.push_back({.path = path.empty() ? "a document without a path" : path, .reason = Hindrance::no_id});
  }
  std::sort(skipped.begin(), skipped.end());
  skipped.erase(std::unique(skipped.begin(), skipped.end()), skipped.end());
  return skipped;
}

}  // namespace ws::sync
