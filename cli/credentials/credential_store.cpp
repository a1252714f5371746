#include "cli/credentials/credential_store.hpp"

namespace ws::cli {
namespace {

bool fits(const StoredCredential& credential, const CredentialQuery& query) {
  if (!query.origin.empty() && credential.origin != query.origin) return false;
  if (!query.profile.empty() && credential.profile != query.profile) return false;
  return query.workspace_id.empty() || credential.workspace_id == query.workspace_id;
}

}  // namespace

std::optional<StoredCredential> choose(const std::vector<StoredCredential>& all, const CredentialQuery& query) {
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
