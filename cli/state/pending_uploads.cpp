#include "cli/state/pending_uploads.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/uuid.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::days lapsed_ones_stay{7};

Json to_json(const PendingUpload& upload) {
  const StartedUpload& started = upload.started;
  Json headers = Json::object();
  for (const auto& [name, value] : started.upload_headers) headers[name] = value;
  return {{"v", 1},
          {"upload_id", started.upload_id},
          {"blob_name", started.blob_name},
          {"upload_url", started.upload_url},
          {"upload_headers", headers},
          {"expires_at", started.expires_at},
          {"finishing", started.state == UploadState::finishing},
          {"path", upload.file.path.string()},
          {"file_name", upload.file.file_name},
          {"mime_type", upload.file.mime_type},
          {"size_bytes", upload.file.stamp.size_bytes},
          {"changed_ns", upload.file.stamp.changed_ns},
          {"base_url", upload.base_url}};
}

Result<PendingUpload> upload_from_json(const Json& value) {
  const auto text = [&value](std::string_view key) { return find_text(value, key).value_or(""); };
  PendingUpload upload{.base_url = text("base_url")};
  WS_LET(upload.started, read_started_upload(value));
  upload.started.state = find_bool(value, "finishing").value_or(false) ? UploadState::finishing : UploadState::started;
  upload.file = {.path = text("path"), .file_name = text("file_name"), .mime_type = text("mime_type")};
  upload.file.stamp.size_bytes = static_cast<std::uint64_t>(find_integer(value, "size_bytes").value_or(0));
  upload.file.stamp.changed_ns = find_integer(value, "changed_ns").value_or(0);
  return upload;
}

bool is_same_file(const UploadFile& a, const UploadFile& b) {
  return a.path == b.path && a.stamp == b.stamp && a.file_name == b.file_name && a.mime_type == b.mime_type;
}

/// One whose end is not known counts as not lapsed: the service decides.
bool has_lapsed(const PendingUpload& upload, Time at) {
  const auto end = parse_rfc3339(upload.started.expires_at);
  return end && *end <= at;
}

}  // namespace

fs::path PendingUploads::file_of(std::string_view upload_id) const {
  return folder_ / (std::string(upload_id) + ".json");
}

Result<void> PendingUploads::save(const PendingUpload& upload) const {
  // The id becomes a file name, and the server chose it.
  if (!is_uuid(upload.started.upload_id)) return fail(Failure::Kind::internal, "the server's upload id is not a UUID");
  std::error_code ignored;
  if (!fs::is_directory(folder_, ignored)) WS_TRY(make_folders(folder_, 0700));
  return write_file(file_of(upload.started.upload_id), dump(to_json(upload), 2) + "\n", 0600);
}

Result<PendingUpload> PendingUploads::load(std::string_view upload_id) const {
  auto text = is_uuid(upload_id) ? read_file(file_of(upload_id), std::size_t{64} << 10U)
                                 : Result<std::string>(fail(Failure::Kind::not_found, ""));
  if (!text && text.error().kind == Failure::Kind::not_found) {
    return fail(Failure::Kind::not_found, "no upload " + std::string(upload_id) + " is pending here");
  }
  if (!text) return fail(text.error());
  const auto value = parse_bounded(*text);
  if (!value) return fail(Failure::Kind::disk, file_of(upload_id).string() + " is damaged");
  return upload_from_json(*value);
}

void PendingUploads::forget(std::string_view upload_id) const {
  std::error_code ignored;
  if (is_uuid(upload_id)) fs::remove(file_of(upload_id), ignored);
}

std::vector<PendingUpload> PendingUploads::list(Time now) const {
  std::vector<std::pair<fs::file_time_type, PendingUpload>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    auto upload = load(entry.path().stem().string());
    if (!upload) continue;
    if (has_lapsed(*upload, now - lapsed_ones_stay)) {
      forget(upload->started.upload_id);
      continue;
    }
    found.emplace_back(entry.last_write_time(error), std::move(*upload));
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<PendingUpload> uploads;
  for (auto& [time, upload] : found) uploads.push_back(std::move(upload));
  return uploads;
}

std::optional<PendingUpload> PendingUploads::find(const std::vector<PendingUpload>& listed,
                                                  const UploadFile& file,
                                                  const std::string& base_url,
                                                  Time now) {
  for (const PendingUpload& upload : listed) {
    const bool in_doubt = upload.started.state == UploadState::finishing;
    const bool usable = in_doubt || !has_lapsed(upload, now);
    if (usable && upload.base_url == base_url && is_same_file(upload.file, file)) return upload;
  }
  return std::nullopt;
}

}  // namespace ws::cli
