#include "cli/state/pending_uploads.hpp"

#include <algorithm>
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

tl::unexpected<Failure> cannot_write(const fs::path& path) {
  return fail(Failure::Kind::disk, "cannot write " + path.string() + ": " + std::strerror(errno));
}

/// A file under way to its name in a folder; removed again unless it got there.
class NewFile {
 public:
  NewFile(int folder, std::string name)
      : folder_(folder), name_(std::move(name)), temporary_("." + name_ + "." + std::to_string(::getpid())) {}
  NewFile(NewFile&& other) noexcept
      : folder_(other.folder_),
        name_(std::move(other.name_)),
        temporary_(std::exchange(other.temporary_, {})),
        file_(std::move(other.file_)) {}
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile() {
    if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
  }

  /// The text, on its way to the disk already.
  bool write(std::string_view text) {
    file_ = Descriptor(::openat(
        folder_, temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file_ || !write_all(file_.get(), text)) return false;
    static_cast<void>(::sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE));
    return true;
  }
  bool flush() const { return ::fsync(file_.get()) == 0; }
  bool take_name() {
    if (::renameat(folder_, temporary_.c_str(), folder_, name_.c_str()) != 0) return false;
    temporary_.clear();
    return true;
  }

 private:
  int folder_;
  std::string name_;
  std::string temporary_;
  Descriptor file_;
};

/// More files than this are flushed with all that the file system has to write.
constexpr std::size_t max_single_flushes = 16;

}  // namespace

fs::path PendingUploads::file_of(std::string_view upload_id) const {
  return folder_ / (std::string(upload_id) + ".json");
}

Result<void> PendingUploads::save_all(const std::vector<PendingUpload>& uploads) const {
  std::error_code ignored;
  if (!fs::is_directory(folder_, ignored)) WS_TRY(make_folders(folder_, 0700));
  const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return cannot_write(folder_);
  std::vector<NewFile> files;
  for (const PendingUpload& upload : uploads) {
    // The id becomes a file name, and the server chose it.
    if (!is_uuid(upload.started.upload_id)) {
      return fail(Failure::Kind::internal, "the server's upload id is not a UUID");
    }
    const fs::path path = file_of(upload.started.upload_id);
    files.emplace_back(folder.get(), path.filename().string());
    if (!files.back().write(dump(to_json(upload), 2) + "\n")) return cannot_write(path);
  }
  const bool is_barrier = files.size() > max_single_flushes;
  if (is_barrier && ::syncfs(folder.get()) != 0) return cannot_write(folder_);
  for (NewFile& file : files) {
    if ((!is_barrier && !file.flush()) || !file.take_name()) return cannot_write(folder_);
  }
  if (::fsync(folder.get()) != 0) return cannot_write(folder_);
  return {};
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
  uploads.reserve(found.size());
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
