#include "cli/credentials/pending_login.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/http/transport.hpp"
#include "sync-engine/model/file_name.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

Json to_json(const PendingLogin& login) {
  const DeviceAuthorization& authorization = login.authorization;
  return {{"v", 1},
          {"authorization_id", authorization.authorization_id},
          {"device_code", authorization.device_code},
          {"user_code", authorization.user_code},
          {"verification_uri", authorization.verification_uri},
          {"verification_uri_complete", authorization.verification_uri_complete},
          {"interval", authorization.interval.count()},
          {"expires_at", to_rfc3339(authorization.expires_at)},
          {"base_url", login.base_url},
          {"profile", login.profile},
          {"scopes", login.scopes},
          {"store", login.store}};
}

Result<PendingLogin> login_from_json(const Json& value) {
  const auto text = [&value](std::string_view key) { return find_text(value, key).value_or(""); };
  PendingLogin login{.authorization = {.authorization_id = text("authorization_id"),
                                       .device_code = text("device_code"),
                                       .user_code = text("user_code"),
                                       .verification_uri = text("verification_uri"),
                                       .verification_uri_complete = text("verification_uri_complete"),
                                       .interval = std::chrono::seconds(find_integer(value, "interval").value_or(5))},
                     .base_url = text("base_url"),
                     .profile = text("profile"),
                     .scopes = find_texts(value, "scopes"),
                     .store = text("store")};
  WS_LET(login.authorization.expires_at, parse_rfc3339(text("expires_at")));
  return login;
}

Failure none_pending(std::string_view id, std::string_view profile = {}) {
  std::string what = "no login is pending";
  if (!id.empty()) what += " under the id " + std::string(id);
  if (!profile.empty()) what += " for the profile `" + std::string(profile) + "`";
  return {.kind = Failure::Kind::not_found, .what = std::move(what), .hint = "start one with `ws login`"};
}

}  // namespace

fs::path PendingLogins::file(std::string_view authorization_id) const {
  return folder_ / sync::file_name(sync::NamedBy::id, authorization_id, ".json");
}

Result<void> PendingLogins::save(const PendingLogin& login) const {
  // The id was chosen by the server and is used as a file name.
  if (!is_uuid(login.authorization.authorization_id))
    return fail(Failure::Kind::internal, "the authorization id of the service is not a UUID");
  WS_TRY(make_folders(folder_, 0700));
  return write_file(file(login.authorization.authorization_id), dump(to_json(login), 2) + "\n", 0600);
}

namespace {

Result<PendingLogin> read_login(const fs::path& path) {
  WS_LET(const std::string text, read_file(path, 64U << 10U));
  auto value = parse_bounded(text);
  if (!value) return fail(Failure::Kind::disk, path.string() + " is damaged");
  return login_from_json(*value);
}

}  // namespace

Result<PendingLogin> PendingLogins::load(std::string_view authorization_id,
                                         std::string_view profile,
                                         std::string_view origin) const {
  if (!authorization_id.empty()) {
    auto login = is_uuid(authorization_id) ? read_login(file(authorization_id)) : fail(none_pending(authorization_id));
    if (!login && login.error().kind == Failure::Kind::not_found) return fail(none_pending(authorization_id));
    return login;
  }
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const auto written = entry.last_write_time(error);
    if (!error && entry.path().extension() == ".json") files.emplace_back(written, entry.path());
  }
  std::ranges::sort(files, std::greater<>());
  std::optional<PendingLogin> last;
  for (const auto& [written, path] : files) {
    auto login = read_login(path);
    if (!login && login.error().kind == Failure::Kind::not_found) continue;
    if (!login) return login;
    if (!profile.empty() && login->profile != profile) continue;
    if (origin.empty() || http::origin_of(login->base_url) == origin) return login;
    if (!last) last = std::move(*login);
  }
  if (last) return std::move(*last);
  return fail(none_pending("", profile));
}

void PendingLogins::forget(std::string_view authorization_id) const {
  std::error_code ignored;
  if (is_uuid(authorization_id)) fs::remove(file(authorization_id), ignored);
}

}  // namespace ws::cli
