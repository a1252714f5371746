#include "cli/output/spool.hpp"

#include <cerrno>
#include <cstring>

#include "api-client/base/files.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t kept_bytes = std::size_t{256} << 10U;

tl::unexpected<Failure> cannot(std::string_view what) {
  return fail(Failure::Kind::disk,
              "cannot " + std::string(what) + " a temporary file: " + std::strerror(errno),
              "TMPDIR names the folder of temporary files");
}

}  // namespace

Result<void> Spool::write_out() {
  if (!file_) {
    WS_LET(file_, open_nameless_file());
  }
  if (!write_all(file_.get(), waiting_)) return cannot("write");
  waiting_.clear();
  return {};
}

Result<void> Spool::add(std::string_view text) {
  waiting_ += text;
  return waiting_.size() < kept_bytes ? Result<void>() : write_out();
}

Result<void> Spool::drain(const std::function<void(std::string_view)>& take) {
  std::string piece(file_ ? kept_bytes : 0, '\0');
  for (off_t place = 0; file_;) {
    const ssize_t count = read_some_at(file_.get(), piece.data(), piece.size(), place);
    if (count < 0) return cannot("read");
    if (count == 0) break;
    take({piece.data(), static_cast<std::size_t>(count)});
    place += count;
  }
  take(waiting_);
  waiting_.clear();
  file_ = Descriptor();
  return {};
}

}  // namespace ws::cli
