#include "cli/credentials/credential_store.hpp"

namespace ws::cli {
namespace {

bool fits(const StoredCredential& credential, const CredentialQuery& query) {
  if (!query.origin.empty() && credential.origin != query.origin) return false;
  if (!query.profile.empty() && credential.profile != query.profile) return false;
  return query.workspace_id.empty() || credential.workspace_id == query.workspace_id;
}

/// The id of the Workspace: `given` itself, or the id of the only Workspace with this name.
std::string workspace_id_of(const std::vector<StoredCredential>& all, const std::string& given) {
  std::string named;
  for (const StoredCredential& credential : all) {
    if (credential.workspace_id == given) return given;
    if (credential.workspace_name != given || credential.workspace_id == named) continue;
    if (!named.empty()) return given;  // two Workspaces have this name: only an id identifies one
    named = credential.workspace_id;
  }
  return named.empty() ? given : named;
}

}  // namespace

bool same_place(const StoredCredential& a, const StoredCredential& b) {
  return a.profile == b.profile && a.base_url == b.base_url && a.workspace_id == b.workspace_id;
}

std::optional<StoredCredential> choose(const std::vector<StoredCredential>& all, const CredentialQuery& asked) {
  CredentialQuery query = asked;
  if (!query.workspace_id.empty()) query.workspace_id = workspace_id_of(all, query.workspace_id);
  const StoredCredential* best = nullptr;
  const auto rank = [&query](const StoredCredential& credential) {
    const bool same_base = !query.base_url.empty() && credential.base_url == query.base_url;
    return (same_base ? 4 : 0) + (credential.current ? 2 : 0) + (credential.profile == "default" ? 1 : 0);
  };
  for (const StoredCredential& credential : all) {
    if (fits(credential, query) && (best == nullptr || rank(credential) >= rank(*best))) best = &credential;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

}  // namespace ws::cli
