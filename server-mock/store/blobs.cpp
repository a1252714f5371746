#include "server-mock/store/blobs.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/files.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view half_written = ".part";
/// Starts writeback early, so that the final fsync is short: it blocks the server's only thread.
constexpr std::uint64_t flush_bytes = std::uint64_t{8} << 20U;

tl::unexpected<Failure> disk(std::string_view what) {
  return fail(Failure::Kind::disk, fmt::format("cannot {}: {}", what, std::generic_category().message(errno)));
}

Result<void> sync_folder(const std::string& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0 || ::fsync(opened.get()) != 0) return disk("write " + folder);
  return {};
}

}  // namespace

Result<std::size_t> BlobReader::read(std::uint64_t at, std::span<char> room) const {
  std::size_t filled = 0;
  while (filled < room.size()) {
    const ssize_t count =
        read_some_at(file_->get(), room.data() + filled, room.size() - filled, static_cast<off_t>(at + filled));
    if (count < 0) return disk("read a file's bytes");
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

BlobWriter::BlobWriter(BlobWriter&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      file_(std::move(other.file_)),
      size_bytes_(other.size_bytes_),
      on_its_way_(other.on_its_way_) {}

BlobWriter::~BlobWriter() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Result<void> BlobWriter::write(std::string_view piece) {
  if (!write_all_at(file_->get(), piece, static_cast<off_t>(size_bytes_))) return disk("write a file's bytes");
  size_bytes_ += piece.size();
  if (!path_.empty() && size_bytes_ - on_its_way_ >= flush_bytes) {
    ::sync_file_range(file_->get(),
                      static_cast<off_t>(on_its_way_),
                      static_cast<off_t>(size_bytes_ - on_its_way_),
                      SYNC_FILE_RANGE_WRITE);
    on_its_way_ = size_bytes_;
  }
  return {};
}

Blobs::Blobs(const std::string& data) : folder_(data == ":memory:" ? std::string() : data + ".assets") {}

Result<BlobWriter> Blobs::begin() {
  if (!folder_.empty()) {
    WS_TRY(make_folders(folder_, 0700));
    std::string path = path_of(fmt::format("{}{}", ++begun_, half_written));
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) return disk("write " + path);
    return BlobWriter(std::move(path), std::make_shared<const Descriptor>(file));
  }
  WS_LET(Descriptor file, open_nameless_file());
  return BlobWriter({}, std::make_shared<const Descriptor>(std::move(file)));
}

Result<void> Blobs::keep(BlobWriter& writer, const std::string& name) {
  if (writer.path_.empty()) {
    nameless_.insert_or_assign(name, writer.file_);
    return {};
  }
  const std::string path = path_of(name);
  if (::fsync(writer.file_->get()) != 0 || std::rename(writer.path_.c_str(), path.c_str()) != 0) {
    return disk("keep " + path);
  }
  writer.path_.clear();
  return sync_folder(folder_);
}

Result<BlobReader> Blobs::open(const std::string& name) const {
  if (folder_.empty()) {
    const auto found = nameless_.find(name);
    if (found == nameless_.end()) return fail(Failure::Kind::not_found, "the bytes of a file are missing");
    return BlobReader(found->second);
  }
  const std::string path = path_of(name);
  auto file = std::make_shared<const Descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file->get() < 0) return disk("read " + path);
  return BlobReader(std::move(file));
}

void Blobs::remove(const std::string& name) {
  if (name.empty()) return;
  if (folder_.empty()) {
    nameless_.erase(name);
  } else {
    ::unlink(path_of(name).c_str());
  }
}

Result<void> Blobs::keep_only(const std::set<std::string>& names) {
  std::erase_if(nameless_, [&](const auto& blob) { return !names.contains(blob.first); });
  if (folder_.empty()) return {};
  std::error_code error;
  std::filesystem::directory_iterator entries(folder_, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (!names.contains(name)) ::unlink(path_of(name).c_str());
  }
  if (error) return fail(Failure::Kind::disk, fmt::format("cannot read {}: {}", folder_, error.message()));
  return {};
}

}  // namespace ws::mock
