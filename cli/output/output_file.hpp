/// A file that a person named for what a command puts out: `--output`, `--junit`, `--secret-out`.
///
/// It is replaced whole or not at all, a link's target in place of the link. A device, a pipe and the name of an open
/// file (/dev/stdout) are written into, and never replaced.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// What becomes of a file that is there already; `only_same`: it may be, if it holds just what would be written.
enum class Overwrite { no, only_same, yes };

class OutputFile {
 public:
  /// `mode`: as of `write_file`.
  OutputFile(std::string path, Overwrite overwrite, std::optional<unsigned> mode = std::nullopt)
      : path_(std::move(path)), overwrite_(overwrite), mode_(mode) {}

  const std::string& path() const { return path_; }
  /// Whether it may be written, as far as that can be told beforehand: fails with `disk` where its folder cannot be
  /// written to, or where it is there already and may not be. To be asked before anything is sent.
  Result<void> check() const;
  /// `text` as for `terminal`, with its marks. Fails with `disk`.
  Result<void> write(const Terminal& terminal, std::string_view text) const;

 private:
  Result<void> write_stream(const Terminal& terminal, std::string_view text) const;

  std::string path_;
  Overwrite overwrite_;
  std::optional<unsigned> mode_;
};

}  // namespace ws::cli
