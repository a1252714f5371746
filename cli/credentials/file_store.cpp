#include "cli/credentials/file_store.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/json.hpp"
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

Json to_json(const StoredCredential& credential) {
  Json value = Json::object();
  value["profile"] = credential.profile;
  value["base_url"] = credential.base_url;
  value["origin"] = credential.origin;
  value["key_id"] = credential.key_id;
  value["audience"] = credential.audience;
  value["scopes"] = credential.scopes;
  value["expires_at"] = credential.expires_at;
  value["created_at"] = credential.created_at;
  value["workspace_id"] = credential.workspace_id;
  value["workspace_name"] = credential.workspace_name;
  value["secret"] = credential.secret;
  value["kept_in"] = credential.kept_in == KeptIn::keyring ? "keyring" : "file";
  value["current"] = credential.current;
  return value;
}

StoredCredential from_json(const Json& value) {
  const auto text = [&value](std::string_view key) { return find_text(value, key).value_or(""); };
  StoredCredential credential{.profile = text("profile"),
                              .base_url = text("base_url"),
                              .origin = text("origin"),
                              .key_id = text("key_id"),
                              .audience = text("audience"),
                              .expires_at = text("expires_at"),
                              .created_at = text("created_at"),
                              .workspace_id = text("workspace_id"),
                              .workspace_name = text("workspace_name"),
                              .secret = text("secret"),
                              .kept_in = text("kept_in") == "keyring" ? KeptIn::keyring : KeptIn::file,
                              .current = find_bool(value, "current").value_or(false)};
  if (const Json* scopes = find(value, "scopes"); scopes != nullptr && scopes->is_array()) {
    for (const Json& scope : *scopes) {
      if (const auto* word = scope.get_ptr<const Json::string_t*>()) credential.scopes.push_back(*word);
    }
  }
  return credential;
}

/// Locks the store against concurrent changes by other processes, as long as the descriptor is open. Blocks. Fails with
/// `disk`.
Result<Descriptor> lock_store(const std::filesystem::path& folder) {
  WS_TRY(make_folders(folder, 0700));
  const std::string path = (folder / "credentials.lock").string();
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock && lock_file(lock.get(), WaitForLock::yes)) return lock;
  return fail(Failure::Kind::disk, "cannot lock " + path + ": " + std::strerror(errno));
}

}  // namespace

FileStore::FileStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

std::string FileStore::place(KeptIn) const { return "the file " + file().string(); }

Result<std::vector<StoredCredential>> FileStore::load() const {
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

Result<void> FileStore::save(const std::vector<StoredCredential>& credentials) const {
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

Result<void> FileStore::put(const StoredCredential& credential) {
  WS_LET(const Descriptor lock, lock_store(folder_));
  WS_LET(std::vector<StoredCredential> all, load());
  std::erase_if(all, [&](const StoredCredential& other) { return same_place(other, credential); });
  for (StoredCredential& other : all) other.current = false;
  all.push_back(credential);
  all.back().current = true;
  return save(all);
}

Result<void> FileStore::remove(std::string_view key_id) {
  WS_LET(const Descriptor lock, lock_store(folder_));
  WS_LET(std::vector<StoredCredential> all, load());
  const auto removed = std::erase_if(all, [&](const StoredCredential& one) { return one.key_id == key_id; });
  return removed == 0 ? Result<void>() : save(all);
}

Result<void> FileStore::make_current(std::string_view key_id) {
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
