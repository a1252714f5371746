#include "cli/output/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"

namespace ws::cli {
namespace {

Failure is_there(const std::string& file) {
  return {
      .kind = Failure::Kind::disk, .what = "the file " + file + " exists already", .hint = "add --force to replace it"};
}

tl::unexpected<Failure> cannot_write(const std::string& file, const std::string& why) {
  return fail(Failure::Kind::disk, "cannot write " + file + ": " + why);
}

}  // namespace

Result<void> OutputFile::check() const {
  if (is_stream(path_)) {
    return may_open_stream(path_) ? Result<void>() : cannot_write(path_, std::strerror(errno));
  }
  std::error_code error;
  const auto there = std::filesystem::symlink_status(path_, error);
  if (there.type() == std::filesystem::file_type::none) return cannot_write(path_, error.message());
  if (std::filesystem::is_directory(there)) return fail(Failure::Kind::disk, path_ + " is a folder");
  if (std::filesystem::exists(there) && overwrite_ == Overwrite::no) return fail(is_there(path_));
  WS_LET(const std::filesystem::path target, follow_link(path_));
  if (std::filesystem::is_directory(target, error)) return fail(Failure::Kind::disk, path_ + " is a folder");
  const std::filesystem::path folder = target.parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0) return {};
  return cannot_write(path_, std::strerror(errno));
}

Result<void> OutputFile::write_stream(const Terminal& terminal, std::string_view text) const {
  const Descriptor stream = open_stream(path_);
  const Controls controls = stream && ::isatty(stream.get()) == 1 ? Controls::clean : Controls::keep;
  if (stream && write_all(stream.get(), terminal.rendered(text, controls))) return {};
  return cannot_write(path_, std::strerror(errno));
}

Result<void> OutputFile::write(const Terminal& terminal, std::string_view text) const {
  if (is_stream(path_)) return write_stream(terminal, text);
  WS_TRY(check());
  WS_LET(const std::filesystem::path target, follow_link(path_));
  const std::string bytes = terminal.rendered(text, Controls::keep);
  std::error_code ignored;
  if (overwrite_ == Overwrite::only_same && std::filesystem::exists(target, ignored)) {
    const auto there = read_file(target, bytes.size());
    return there && *there == bytes ? Result<void>() : fail(is_there(path_));
  }
  return write_file(target, bytes, mode_);
}

}  // namespace ws::cli
