/// Whole small files: settings, credentials, ready files. (A synced file is written by `sync-engine/disk/safe_write`.)
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws {

/// What may be read. `regular`: anything else is refused, and nothing is waited for (a FIFO would hang the reader).
/// `connected`: also a pipe that somebody holds open for writing, as `<(command)` is. `anything`: what the user named
/// on the command line, however long it takes.
enum class Source { regular, connected, anything };

/// Fails with `not_found`, or `disk` with the system's reason; over `max_bytes` with `invalid`. Links are followed.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t max_bytes = std::size_t{64} << 20U,
                              Source source = Source::regular);

/// All of an open file from where it stands; `name` is for messages. Fails as `read_file`.
Result<std::string> read_open_file(int file, const std::filesystem::path& name, std::size_t max_bytes);

/// All or nothing: temporary file beside it, fsync, rename, fsync of the folder. Fails with `disk`.
///
/// A new file gets what the umask leaves of 0666, a replaced one keeps its mode; `mode` sets another, exactly.
Result<void> write_file(const std::filesystem::path& path,
                        std::string_view text,
                        std::optional<unsigned> mode = std::nullopt);

/// Makes the folder and those above it, the new ones with what the umask leaves of `mode`. Fails with `disk`.
Result<void> make_folders(const std::filesystem::path& path, unsigned mode = 0777);

/// The same beneath an open folder (AT_FDCWD: the working one). `name` is one part; `shown` is for messages. What
/// stands at `name` is replaced, never followed.
Result<void> write_file_at(int folder,
                           const std::string& name,
                           std::string_view text,
                           std::optional<unsigned> mode,
                           const std::filesystem::path& shown);

/// A path through an open folder, for libraries that open by path: it stays with that folder, whatever its name comes
/// to mean. The real path where there is no /proc.
std::filesystem::path path_through(int folder, const std::filesystem::path& real);
/// For messages: such a path as the folder's name is now.
std::string shown_path(const std::filesystem::path& path);

}  // namespace ws
