#include "cli/credentials/credential_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/own_file.hpp"
#include "api-client/base/shell_command.hpp"

namespace ws::cli {
namespace {

constexpr std::int64_t format_version = 1;
constexpr mode_t of_others = S_IRWXG | S_IRWXO;

/// Returns false if the file does not exist.
Result<bool> check_private(const std::filesystem::path& file) {
  struct stat found {};
  if (::lstat(file.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return fail(Failure::Kind::disk, "cannot look at " + file.string() + ": " + std::strerror(errno));
  }
  if (!S_ISREG(found.st_mode)) return fail(Failure::Kind::disk, file.string() + " is not a regular file");
  if (found.st_uid != ::geteuid()) return fail(Failure::Kind::disk, file.string() + " belongs to another user");
  if ((found.st_mode & of_others) != 0) {
    return fail(Failure::Kind::disk,
                "others can read " + file.string() + "; it holds keys",
                "run " + ShellCommand{"chmod", "600"}.path(file.string()).in_backticks() +
                    ", and log in again if someone else may have read it");
  }
  return true;
}

constexpr std::pair<const char*, std::string StoredCredential::*> text_members[] = {
    {"profile", &StoredCredential::profile},
    {"base_url", &StoredCredential::base_url},
    {"origin", &StoredCredential::origin},
    {"key_id", &StoredCredential::key_id},
    {"audience", &StoredCredential::audience},
    {"expires_at", &StoredCredential::expires_at},
    {"created_at", &StoredCredential::created_at},
    {"workspace_id", &StoredCredential::workspace_id},
    {"workspace_name", &StoredCredential::workspace_name},
    {"secret", &StoredCredential::secret},
};

Json to_json(const StoredCredential& credential) {
  Json value = Json::object();
  for (const auto& [name, text] : text_members) value[name] = credential.*text;
  value["scopes"] = credential.scopes;
  value["kept_in"] = credential.kept_in == KeptIn::keyring ? "keyring" : "file";
  value["current"] = credential.current;
  return value;
}

StoredCredential from_json(const Json& value) {
  StoredCredential credential{.scopes = find_texts(value, "scopes"),
                              .kept_in = find_text(value, "kept_in") == "keyring" ? KeptIn::keyring : KeptIn::file,
                              .current = find_bool(value, "current").value_or(false)};
  for (const auto& [name, text] : text_members) credential.*text = find_text(value, name).value_or("");
  return credential;
}

/// Against concurrent changes by other processes.
Result<Descriptor> lock_store(const std::filesystem::path& folder) {
  WS_TRY(make_folders(folder, 0700));
  return wait_for_lock(folder / "credentials.lock");
}

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

std::string second_profile(std::string_view profile) { return std::string(profile) + "-more"; }

const StoredCredential* find_first_key(const std::vector<StoredCredential>& all, const StoredCredential& one) {
  const auto is_first = [&](const StoredCredential& other) {
    return second_profile(other.profile) == one.profile && other.base_url == one.base_url &&
           other.workspace_id == one.workspace_id;
  };
  const auto found = std::ranges::find_if(all, is_first);
  return found == all.end() ? nullptr : &*found;
}

const StoredCredential* find_second_key(const std::vector<StoredCredential>& all, const StoredCredential& one) {
  StoredCredential second = one;
  second.profile = second_profile(one.profile);
  const auto found = std::ranges::find_if(all, [&](const auto& other) { return same_place(other, second); });
  return found == all.end() ? nullptr : &*found;
}

std::optional<StoredCredential> choose(const std::vector<StoredCredential>& all, const CredentialQuery& asked) {
  CredentialQuery query = asked;
  if (!query.workspace_id.empty()) query.workspace_id = workspace_id_of(all, query.workspace_id);
  const StoredCredential* best = nullptr;
  const auto rank = [&](const StoredCredential& credential) {
    const bool same_base = !query.base_url.empty() && credential.base_url == query.base_url;
    const bool is_whole = credential.current || find_first_key(all, credential) == nullptr;
    return (is_whole ? 8 : 0) + (same_base ? 4 : 0) + (credential.current ? 2 : 0) +
           (credential.profile == "default" ? 1 : 0);
  };
  for (const StoredCredential& credential : all) {
    if (fits(credential, query) && (best == nullptr || rank(credential) >= rank(*best))) best = &credential;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string CredentialStore::place(KeptIn kept_in) const {
  return kept_in == KeptIn::keyring ? "the keyring" : "the file " + file().string();
}

Result<const Keyring*> CredentialStore::keyring() {
  if (!keyring_) {
    WS_LET(keyring_, Keyring::open());
  }
  return &*keyring_;
}

Result<std::string> CredentialStore::secret_of(const StoredCredential& credential) {
  if (credential.kept_in == KeptIn::file) return credential.secret;
  WS_LET(const Keyring* const opened, keyring());
  auto secret = opened->look_up(credential.key_id);
  if (!secret && secret.error().kind == Failure::Kind::not_found) {
    return fail(
        Failure::Kind::auth,
        "the keyring no longer holds the key of profile `" + credential.profile + "`",
        "run " + ShellCommand{"ws", "login", "--base-url=", credential.base_url, "--profile=", credential.profile}
                     .in_backticks());
  }
  return secret;
}

Result<std::vector<StoredCredential>> CredentialStore::load() const {
  WS_LET(const bool there, check_private(file()));
  std::vector<StoredCredential> credentials;
  if (!there) return credentials;
  WS_LET(const std::string text, read_file(file()));
  auto whole = parse_bounded(text);
  const Json* list = whole ? find(*whole, "credentials") : nullptr;
  if (list == nullptr || !list->is_array()) {
    return fail(Failure::Kind::disk, file().string() + " is damaged", "move it away and log in again");
  }
  if (find_integer(*whole, "v").value_or(0) > format_version) {
    return fail(Failure::Kind::disk, file().string() + " was written by a newer version of ws");
  }
  for (const Json& one : *list) credentials.push_back(from_json(one));
  return credentials;
}

Result<void> CredentialStore::save(const std::vector<StoredCredential>& credentials) const {
  Json whole = Json::object();
  whole["v"] = format_version;
  whole["credentials"] = Json::array();
  for (const StoredCredential& credential : credentials) whole["credentials"].push_back(to_json(credential));
  WS_TRY(make_folders(folder_, 0700));
  if (::chmod(folder_.c_str(), 0700) != 0) {
    return fail(Failure::Kind::disk, "cannot protect " + folder_.string() + ": " + std::strerror(errno));
  }
  WS_TRY(write_file(file(), dump(whole, 2) + "\n", 0600));
  WS_LET(const std::vector<StoredCredential> read_back, load());
  if (read_back != credentials)
    return fail(Failure::Kind::disk, file().string() + " does not contain what was written");
  return {};
}

Result<void> CredentialStore::check() const {
  WS_LET(const Descriptor lock, lock_store(folder_));
  WS_TRY(load());
  if (::access(folder_.c_str(), W_OK | X_OK) == 0) return {};
  return fail(Failure::Kind::disk, "cannot write " + file().string() + ": " + std::strerror(errno));
}

Result<void> CredentialStore::put(const StoredCredential& credential) {
  WS_LET(const Descriptor lock, lock_store(folder_));
  WS_LET(std::vector<StoredCredential> all, load());
  StoredCredential in_file = credential;
  if (credential.kept_in == KeptIn::keyring) {
    WS_LET(const Keyring* const opened, keyring());
    WS_TRY(opened->store(credential.key_id, "ws key for " + credential.base_url, credential.secret));
    in_file.secret.clear();
  }
  const bool is_second = find_first_key(all, credential) != nullptr;
  std::vector<StoredCredential> replaced;
  std::ranges::copy_if(all, std::back_inserter(replaced), [&](const auto& one) { return same_place(one, credential); });
  std::erase_if(all, [&](const auto& one) { return same_place(one, credential); });
  in_file.current = !is_second || std::ranges::any_of(replaced, &StoredCredential::current);
  if (in_file.current) std::ranges::for_each(all, [](StoredCredential& other) { other.current = false; });
  all.push_back(std::move(in_file));
  WS_TRY(save(all));
  for (const StoredCredential& one : replaced) {
    if (one.kept_in != KeptIn::keyring || one.key_id == credential.key_id) continue;
    const auto opened = keyring();
    if (opened) static_cast<void>((*opened)->remove(one.key_id));  // no credential refers to it any more
  }
  return {};
}

Result<void> CredentialStore::remove(std::string_view key_id) {
  WS_LET(const Descriptor lock, lock_store(folder_));
  WS_LET(std::vector<StoredCredential> all, load());
  const auto found = std::ranges::find(all, key_id, &StoredCredential::key_id);
  if (found == all.end()) return {};
  if (found->kept_in == KeptIn::keyring) {
    WS_LET(const Keyring* const opened, keyring());
    WS_TRY(opened->remove(found->key_id));
  }
  std::erase_if(all, [&](const auto& one) { return one.key_id == key_id; });
  return save(all);
}

Result<void> CredentialStore::make_current(std::string_view key_id) {
  WS_LET(const Descriptor lock, lock_store(folder_));
  WS_LET(std::vector<StoredCredential> all, load());
  bool found = false;
  for (StoredCredential& one : all) {
    one.current = one.key_id == key_id;
    found = found || one.current;
  }
  if (!found) return fail(Failure::Kind::not_found, "no stored key has the id " + std::string(key_id));
  return save(all);
}

}  // namespace ws::cli
