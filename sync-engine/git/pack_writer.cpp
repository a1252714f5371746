#include "sync-engine/git/pack_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"

namespace ws::sync::git {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} << 10U;

tl::unexpected<Failure> disk(std::string_view what, const std::string& path) {
  return fail(Failure::Kind::disk, fmt::format("cannot {} {}: {}", what, shown_path(path), std::strerror(errno)));
}

void append_u32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>((value >> static_cast<unsigned>(shift)) & 0xFFU);
}

/// Type and size as a pack entry begins.
std::string entry_header(ObjectType type, std::size_t size) {
  std::string out;
  auto byte = static_cast<unsigned>((static_cast<unsigned>(type) << 4U) | (size & 0x0FU));
  for (size >>= 4U; size != 0; size >>= 7U) {
    out += static_cast<char>(byte | 0x80U);
    byte = static_cast<unsigned>(size & 0x7FU);
  }
  out += static_cast<char>(byte);
  return out;
}

}  // namespace

int close_file(std::FILE* file) noexcept { return std::fclose(file); }

void close_deflate(z_stream* stream) noexcept {
  deflateEnd(stream);
  delete stream;
}

PackWriter::PackWriter(std::filesystem::path folder, std::string temporary, std::FILE* file)
    : folder_(std::move(folder)), temporary_(std::move(temporary)), file_(file), deflate_(new z_stream{}) {
  // Nothing is searched for where nothing is compressed: with the usual memory 64 KiB are cleared for each object.
  constexpr int least_memory = 1;
  if (deflateInit2(deflate_.get(), Z_NO_COMPRESSION, Z_DEFLATED, MAX_WBITS, least_memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

PackWriter::~PackWriter() {
  if (file_ != nullptr && !temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<PackWriter> PackWriter::create(const std::filesystem::path& objects) {
  const std::filesystem::path folder = objects / "pack";
  WS_TRY(make_folders(folder));
  // Not mkostemp: that would set a mode of its own, and packs have what the umask leaves of git's 0444.
  std::string temporary;
  int descriptor = -1;
  for (unsigned next = 0; descriptor < 0; ++next) {
    temporary = (folder / fmt::format("tmp_pack_{}-{}", ::getpid(), next)).string();
    descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
    if (descriptor < 0 && errno != EEXIST) return disk("write below", folder.string());
  }
  std::FILE* file = ::fdopen(descriptor, "w+");
  if (file == nullptr) {
    ::close(descriptor);
    return disk("write", temporary);
  }
  PackWriter writer(folder, std::move(temporary), file);
  std::string header = "PACK";
  append_u32(header, 2);
  append_u32(header, 0);  // the number of objects, known at the end
  WS_TRY(writer.write(header));
  return writer;
}

Result<void> PackWriter::write(std::string_view bytes) {
  offset_ += bytes.size();
  buffer_ += bytes;
  return buffer_.size() < buffer_bytes ? Result<void>() : write_buffer();
}

// glibc makes no larger buffer for a stream than a block of the disk, whatever setvbuf asks for.
Result<void> PackWriter::write_buffer() {
  if (!write_all(::fileno(file_.get()), buffer_)) return disk("write", temporary_);
  buffer_.clear();
  return {};
}

/// Appends the data as zlib packs it without compression.
void PackWriter::append_stored(std::string& out, std::string_view data) {
  z_stream& stream = *deflate_;
  deflateReset(&stream);
  const std::size_t begin = out.size();
  out.resize(begin + deflateBound(&stream, data.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + begin);
  stream.avail_out = static_cast<uInt>(out.size() - begin);
  deflate(&stream, Z_FINISH);
  out.resize(begin + stream.total_out);
}

Result<void> PackWriter::add(const ObjectId& id, ObjectType type, std::string_view data) {
  if (!known_.insert(id).second) return {};
  std::string entry = entry_header(type, data.size());
  append_stored(entry, data);
  const uLong crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(entry.data()), entry.size());
  index_.push_back({id, static_cast<std::uint32_t>(crc), offset_});
  return write(entry);
}

/// Of all that was written so far, read back piece by piece: the pack may be larger than memory.
Result<Sha1Stream::Bytes> PackWriter::hash_pack() const {
  Sha1Stream stream;
  std::string piece(buffer_bytes, '\0');
  for (std::uint64_t place = 0; place < offset_;) {
    const ssize_t count = read_some_at(::fileno(file_.get()), piece.data(), piece.size(), static_cast<off_t>(place));
    if (count <= 0) return disk("read", temporary_);
    stream.update(std::string_view(piece).substr(0, static_cast<std::size_t>(count)));
    place += static_cast<std::uint64_t>(count);
  }
  return stream.finish();
}

/// Fills in the number of objects, appends the checksum of it all, and waits for the disk.
Result<Sha1Stream::Bytes> PackWriter::finish_pack() {
  std::string count;
  append_u32(count, static_cast<std::uint32_t>(index_.size()));
  std::FILE* file = file_.get();
  WS_TRY(write_buffer());
  if (::pwrite(::fileno(file), count.data(), count.size(), 8) != 4) return disk("write", temporary_);
  WS_LET(const Sha1Stream::Bytes checksum, hash_pack());
  WS_TRY(write({reinterpret_cast<const char*>(checksum.data()), checksum.size()}));
  WS_TRY(write_buffer());
  if (::fsync(::fileno(file)) != 0) return disk("flush", temporary_);
  return checksum;
}

std::string PackWriter::render_index(const Sha1Stream::Bytes& pack_checksum) {
  std::sort(index_.begin(), index_.end(), [](const Indexed& a, const Indexed& b) { return a.id < b.id; });
  std::string out = "\377tOc";
  append_u32(out, 2);
  std::size_t place = 0;
  for (unsigned first = 0; first < 256; ++first) {
    while (place < index_.size() && index_[place].id.bytes[0] <= first) ++place;
    append_u32(out, static_cast<std::uint32_t>(place));
  }
  for (const Indexed& entry : index_) out.append(reinterpret_cast<const char*>(entry.id.bytes.data()), 20);
  for (const Indexed& entry : index_) append_u32(out, entry.crc);
  std::string large;
  std::uint32_t large_count = 0;
  for (const Indexed& entry : index_) {
    if (entry.offset < 0x8000'0000U) {
      append_u32(out, static_cast<std::uint32_t>(entry.offset));
      continue;
    }
    append_u32(out, 0x8000'0000U | large_count++);
    append_u32(large, static_cast<std::uint32_t>(entry.offset >> 32U));
    append_u32(large, static_cast<std::uint32_t>(entry.offset & 0xFFFF'FFFFU));
  }
  out += large;
  out.append(reinterpret_cast<const char*>(pack_checksum.data()), pack_checksum.size());
  Sha1Stream stream;
  stream.update(out);
  const Sha1Stream::Bytes checksum = stream.finish();
  out.append(reinterpret_cast<const char*>(checksum.data()), checksum.size());
  return out;
}

Result<void> PackWriter::finish() {
  if (index_.empty()) return {};
  WS_LET(const Sha1Stream::Bytes checksum, finish_pack());
  const std::string name = "pack-" + ObjectId{checksum}.hex();
  const std::string pack = (folder_ / (name + ".pack")).string();
  if (::rename(temporary_.c_str(), pack.c_str()) != 0) return disk("name", pack);
  temporary_.clear();
  // The index comes last: git sees a pack by its index, and by then the pack is whole.
  struct stat packed {};
  if (::fstat(::fileno(file_.get()), &packed) != 0) return disk("look at", pack);
  return write_file(folder_ / (name + ".idx"), render_index(checksum), packed.st_mode & 0777U);
}

}  // namespace ws::sync::git
