/// Reads and writes small files whole: settings, credentials. (For synced files: `sync-engine/disk/safe_write`.)
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"

namespace ws {

/// Which kinds of files may be read. `regular`: only regular files; everything else is refused without blocking (a FIFO
/// would hang the reader). `connected`: also a pipe that another process holds open for writing, such as `<(command)`.
/// `anything`: whatever the user named on the command line, however long reading takes.
enum class Source { regular, connected, anything };

/// Follows links. Fails with `not_found`, `disk` (the system's reason), or `invalid` if over `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t max_bytes = std::size_t{64} << 20U,
                              Source source = Source::regular);

/// Whether a device or a pipe has the name, or it is that of an open file, like /dev/stdout: it is written into, and
/// not replaced.
bool is_stream(const std::filesystem::path& path);
/// Whether it may be opened for writing; opening a pipe to find out would end it for its reader. False: `errno` tells
/// why.
bool may_open_stream(const std::filesystem::path& path);
/// For writing. Empty: `errno` tells why.
Descriptor open_stream(const std::filesystem::path& path);

/// Reads an open file from its current offset to the end; `name` is used in messages. Fails as `read_file`.
Result<std::string> read_open_file(int file, const std::filesystem::path& name, std::size_t max_bytes);

/// Replaces the file atomically: temporary file beside it, fsync, rename, fsync of the folder. Fails with `disk`.
///
/// A new file gets mode 0666 less the umask, an existing one keeps its mode; `mode` sets exactly that mode.
Result<void> write_file(const std::filesystem::path& path,
                        std::string_view text,
                        std::optional<unsigned> mode = std::nullopt);

/// Writes what a flag names for output: into a stream, cleaned where it is a terminal; over the target of a link;
/// otherwise as `write_file`. Fails with `disk`.
Result<void> write_named_file(const std::filesystem::path& path, std::string_view text);

/// Appends to a file, which is made where it is missing, and taken only if it is ours (`own_file.hpp`). Not flushed to
/// the disk. Fails with `disk`.
Result<void> append_file(const std::filesystem::path& path, std::string_view text);

/// Creates the folder and its missing parents with `mode` less the umask. Fails with `disk`.
Result<void> make_folders(const std::filesystem::path& path, unsigned mode = 0777);

/// As `write_file`, in an open folder (AT_FDCWD: the working directory). `name` is a single path component; `shown` is
/// used in messages. An existing link at `name` is replaced, not followed.
Result<void> write_file_at(int folder,
                           const std::string& name,
                           std::string_view text,
                           std::optional<unsigned> mode,
                           const std::filesystem::path& shown);

/// A path that goes through an open folder (`/proc/self/fd/N`), for libraries that open files by path: it keeps
/// referring to that folder even if the folder is renamed or replaced. Returns the real path if there is no /proc.
std::filesystem::path path_through(int folder, const std::filesystem::path& real);
/// Converts such a path to the folder's current name, for messages.
std::string shown_path(const std::filesystem::path& path);

/// A file without a name, which is gone when it is closed, for reading and writing: in $TMPDIR, else in /var/tmp or
/// where else one can be made (/tmp may be a file system in memory). Fails with `disk`.
Result<Descriptor> open_nameless_file();

/// Returns the file to write for `path`: the target if `path` is a link, as editors do, otherwise `path` itself. Fails
/// with `disk` if the link is dangling.
Result<std::filesystem::path> follow_link(const std::filesystem::path& path);

/// Gives the open file the mode and group of the file at `path`, if it exists. If the group cannot be set, the group
/// permissions are removed. Fails with `disk`.
Result<void> copy_mode_and_group(int fd, const std::filesystem::path& path);

}  // namespace ws
