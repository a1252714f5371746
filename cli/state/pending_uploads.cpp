#include "cli/state/pending_uploads.hpp"

#include <algorithm>
#include <array>
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
#include "api-client/base/own_file.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/uuid.hpp"
#include "sync-engine/model/file_name.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::days lapsed_ones_stay{7};
constexpr std::size_t max_record_bytes = std::size_t{1} << 20U;

Json to_json(const PendingUpload& upload) {
  const StartedUpload& started = upload.started;
  Json headers = Json::object();
  for (const auto& [name, value] : started.upload_headers) headers[name] = value;
  return {{"upload_id", started.upload_id},
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
          {"content_sha256", started.hash ? Json(started.hash->hex()) : Json()},
          {"base_url", upload.base_url},
          {"key", upload.who.key},
          {"account", upload.who.account}};
}

Uploader uploader_from_json(const Json& record) {
  return {.key = find_text(record, "key").value_or(""), .account = find_text(record, "account").value_or("")};
}

/// Of the same person or agent, or, where one of the two does not know whose it is, of the same key.
bool is_same_uploader(const Uploader& one, const Uploader& other) {
  return one.account.empty() || other.account.empty() ? one.key == other.key : one.account == other.account;
}

Result<PendingUpload> upload_from_json(const Json& value) {
  const auto text = [&value](std::string_view key) { return find_text(value, key).value_or(""); };
  PendingUpload upload{.base_url = text("base_url"), .who = uploader_from_json(value)};
  auto started = read_started_upload(value);
  if (!started) return fail(Failure::Kind::disk, "the record of an upload is incomplete");
  upload.started = std::move(*started);
  upload.started.hash = Sha256::from_hex(text("content_sha256"));
  upload.started.state = find_bool(value, "finishing").value_or(false) ? UploadState::finishing : UploadState::started;
  upload.file = {.path = text("path"), .file_name = text("file_name"), .mime_type = text("mime_type")};
  upload.file.stamp.size_bytes = static_cast<std::uint64_t>(find_integer(value, "size_bytes").value_or(0));
  upload.file.stamp.changed_ns = find_integer(value, "changed_ns").value_or(0);
  return upload;
}

/// The path of a file does not tell which bytes may have become an Asset; what was only started has none yet.
bool is_of_file(const PendingUpload& upload, const UploadFile& file) {
  const UploadFile& its = upload.file;
  if (its.file_name != file.file_name || its.mime_type != file.mime_type) return false;
  if (upload.started.state == UploadState::started) return its.path == file.path && its.stamp == file.stamp;
  return its.stamp.size_bytes == file.stamp.size_bytes && upload.started.hash && upload.started.hash == hash_of(file);
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
    ::unlinkat(folder_, temporary_.c_str(), 0);  // what a killed process of this number left
    file_ = Descriptor(
        ::openat(folder_, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file_ || !write_all(file_.get(), text)) return false;
    static_cast<void>(::sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE));
    return true;
  }
  bool flush() const { return ::fsync(file_.get()) == 0; }
  /// Another name for it in the folder; where no file can have two, a copy that is flushed.
  bool add_name(const std::string& name, std::string_view text) const {
    ::unlinkat(folder_, name.c_str(), 0);
    if (::linkat(folder_, name_.c_str(), folder_, name.c_str(), 0) == 0) return true;
    NewFile copy(folder_, name);
    return copy.write(text) && copy.flush() && copy.take_name();
  }
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

}  // namespace

fs::path PendingUploads::file_of(std::string_view upload_id) const {
  return folder_ / sync::file_name(sync::NamedBy::id, upload_id, ".json");
}

Result<void> PendingUploads::save_all(const std::vector<PendingUpload>& uploads) const {
  if (uploads.empty()) return {};
  std::error_code ignored;
  if (!fs::is_directory(folder_, ignored)) WS_TRY(make_folders(folder_, 0700));
  const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return cannot_write(folder_);
  Json all = Json::array();
  std::vector<std::string> names;
  for (const PendingUpload& upload : uploads) {
    // The id becomes a file name, and the server chose it.
    if (!is_uuid(upload.started.upload_id)) {
      return fail(Failure::Kind::internal, "the upload id of the service is not a UUID");
    }
    names.push_back(file_of(upload.started.upload_id).filename().string());
    all.push_back(to_json(upload));
  }
  // One file for all, flushed once, with a name for each: what is forgotten loses its name.
  const std::string text = dump({{"v", 2}, {"uploads", std::move(all)}}, 2) + "\n";
  NewFile file(folder.get(), names.front());
  if (!file.write(text) || !file.flush() || !file.take_name()) return cannot_write(folder_ / names.front());
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (!file.add_name(names[i], text)) return cannot_write(folder_ / names[i]);
  }
  if (::fsync(folder.get()) != 0) return cannot_write(folder_);
  return {};
}

Result<PendingUpload> PendingUploads::load(std::string_view upload_id) const {
  auto text = is_uuid(upload_id) ? read_file(file_of(upload_id), max_record_bytes)
                                 : Result<std::string>(fail(Failure::Kind::not_found, ""));
  if (!text && text.error().kind == Failure::Kind::not_found) {
    return fail(Failure::Kind::not_found, "no upload " + std::string(upload_id) + " is pending here");
  }
  if (!text) return fail(text.error());
  const auto value = parse_bounded(*text);
  const Json* const uploads = value ? ws::find(*value, "uploads") : nullptr;
  if (uploads != nullptr && uploads->is_array()) {
    for (const Json& each : *uploads) {
      if (find_text(each, "upload_id") == upload_id) return upload_from_json(each);
    }
  }
  return fail(Failure::Kind::disk, file_of(upload_id).string() + " is damaged");
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
                                                  const Uploader& who,
                                                  Time now) {
  for (const PendingUpload& upload : listed) {
    const bool in_doubt = upload.started.state == UploadState::finishing;
    const bool usable = in_doubt || !has_lapsed(upload, now);
    const bool is_theirs = upload.base_url == base_url && is_same_uploader(upload.who, who);
    if (usable && is_theirs && is_of_file(upload, file)) return upload;
  }
  return std::nullopt;
}

namespace {

constexpr std::chrono::hours finished_ones_stay{24};
constexpr std::string_view turns_file = "turns";

}  // namespace

FinishedUploads::FinishedUploads(const fs::path& state_folder, std::string origin, Time now, bool is_waited_for)
    : folder_(state_folder / "uploaded"), origin_(std::move(origin)), now_(now), is_waited_for_(is_waited_for) {}

bool FinishedUploads::take_turn(const UploadFile& file) {
  if (!is_waited_for_) return true;
  if (!turns_) {
    static_cast<void>(make_folders(folder_, 0700));
    auto opened = open_own_file(folder_ / turns_file, O_RDWR, 0600);
    is_waited_for_ = opened.has_value();
    if (!opened) return true;
    turns_ = std::move(*opened);
  }
  // 60 bits of the hash: two files that have them in common only wait for each other.
  const std::uint64_t place = std::stoull(start_of(file).substr(0, 15), nullptr, 16);
  return lock_byte(turns_.get(), place) || (errno != EAGAIN && errno != EACCES);
}

void FinishedUploads::end_turns() { turns_ = Descriptor(); }

void FinishedUploads::read() {
  names_.clear();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().filename() == turns_file) continue;
    const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
    if (age > finished_ones_stay) {
      fs::remove(entry.path(), error);
    } else {
      names_.insert(entry.path().filename().string());
    }
  }
}

/// "KEY-HASH-ASSET.json": of server, name, type and size; of the bytes; of the Asset, for --again makes another.
std::string FinishedUploads::start_of(const UploadFile& file) const {
  const Json key = {origin_, file.file_name, file.mime_type, file.stamp.size_bytes};
  return Sha256::of(dump(key)).hex().substr(0, 32) + "-";
}

bool FinishedUploads::may_know(const UploadFile& file) const {
  const std::string start = start_of(file);
  const auto found = names_.lower_bound(start);
  return found != names_.end() && found->starts_with(start);
}

std::optional<Json> FinishedUploads::take(const UploadFile& file, const Uploader& who) const {
  if (!may_know(file)) return std::nullopt;
  const auto hash = hash_of(file);
  if (!hash) return std::nullopt;
  const std::string begin = start_of(file) + hash->hex() + "-";
  for (auto name = names_.lower_bound(begin); name != names_.end() && name->starts_with(begin); ++name) {
    const auto text = read_file(folder_ / *name);
    const auto value = text ? parse_bounded(*text) : Result<Json>(fail(text.error()));
    if (!value || !is_same_uploader(uploader_from_json(*value), who)) continue;
    const auto at = parse_rfc3339(find_text(*value, "at").value_or(""));
    const Json* const asset = find(*value, "asset");
    if (!at || now_ - *at > finished_ones_stay || asset == nullptr || !asset->is_object()) continue;
    return *asset;
  }
  return std::nullopt;
}

Result<void> FinishedUploads::keep(const UploadFile& file, const Json& asset, const Uploader& who) const {
  const auto told = Sha256::from_hex(find_text(asset, "content_sha256").value_or(""));
  const auto hash = told ? told : hash_of(file);
  if (!hash) return {};
  std::error_code ignored;
  if (!fs::is_directory(folder_, ignored)) WS_TRY(make_folders(folder_, 0700));
  const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return cannot_write(folder_);
  const std::string made = find_text(asset, "id").value_or("");
  const std::string name = start_of(file) + hash->hex() + "-" + sync::file_name(sync::NamedBy::id, made, ".json");
  NewFile record(folder.get(), name);
  const Json kept = {{"v", 2}, {"at", to_rfc3339(now_)}, {"key", who.key}, {"account", who.account}, {"asset", asset}};
  if (record.write(dump(kept) + "\n") && record.take_name()) return {};
  return cannot_write(folder_ / name);
}

void FinishedUploads::flush() const {
  const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) static_cast<void>(::syncfs(folder.get()));
}

}  // namespace ws::cli
