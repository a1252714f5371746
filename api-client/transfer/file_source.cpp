#include "api-client/transfer/file_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws {
namespace {

constexpr std::int64_t nanoseconds_of_a_second = 1'000'000'000;

FileStamp stamp_from(const struct stat& status) {
  return {.size_bytes = static_cast<std::uint64_t>(status.st_size),
          .changed_ns = status.st_mtim.tv_sec * nanoseconds_of_a_second + status.st_mtim.tv_nsec};
}

auto disk(const std::filesystem::path& path, std::string_view reason) {
  return fail(Failure::Kind::disk, fmt::format("cannot read {}: {}", path.string(), reason));
}

auto changed(const std::filesystem::path& path) {
  return fail(
      Failure::Kind::disk, fmt::format("{} changed while it was sent", path.string()), "run the same command again");
}

}  // namespace

Result<FileStamp> stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return disk(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return disk(path, S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file");
  return stamp_from(status);
}

Result<std::unique_ptr<FileSource>> FileSource::open(const std::filesystem::path& path, const FileStamp& expected) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!descriptor) return disk(path, std::strerror(errno));
  std::unique_ptr<FileSource> source(new FileSource(std::move(descriptor), path, expected));
  struct stat status {};
  if (::fstat(source->descriptor_.get(), &status) != 0) return disk(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode) || stamp_from(status) != expected) return changed(path);
  return source;
}

Result<std::size_t> FileSource::read(char* buffer, std::size_t capacity) {
  const std::size_t wanted = static_cast<std::size_t>(
      std::min<std::uint64_t>(capacity, stamp_.size_bytes - std::min(offset_, stamp_.size_bytes)));
  if (wanted == 0) return std::size_t{0};
  const ssize_t count = read_some_at(descriptor_.get(), buffer, wanted, static_cast<off_t>(offset_));
  if (count < 0) return disk(path_, std::strerror(errno));
  if (count == 0) return changed(path_);
  const auto got = static_cast<std::size_t>(count);
  stream_.update({buffer, got});
  offset_ += got;
  if (offset_ < stamp_.size_bytes) return got;
  // Check before the last bytes are sent: a mix of two states of the file must not become an Asset.
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0 || stamp_from(status) != stamp_) return changed(path_);
  hash_ = stream_.finish();
  return got;
}

}  // namespace ws
