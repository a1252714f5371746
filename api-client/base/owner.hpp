/// Checks who owns a folder before `ws` follows the settings in it.
///
/// A `.ws/` or `.ws.yaml` names a server, a Workspace and the files to write. If another user has created it, in /tmp
/// or on a share, it is refused, as git refuses such a repository (`safe.directory`). Like git, root accepts its own
/// files and those of the user who called sudo.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"

struct stat;

namespace ws {

/// Folders that are trusted whoever owns them. They can be set only in the user's own settings and environment.
struct TrustedFolders {
  std::vector<std::string> folders = {};   ///< absolute; `DIR/*`: everything below DIR; `*`: all
  std::optional<unsigned> sudo_user = {};  ///< SUDO_UID; used only when running as root

  /// `list` separates folders by `:`, as PATH does. A `sudo_uid` that is not a number is ignored.
  static TrustedFolders parse(std::string_view list, std::string_view sudo_uid);
  bool holds(const std::filesystem::path& folder) const;
};

/// `found` is the stat of `path`, which lies in `folder`. Fails with `disk` and code `foreign_owner`, naming the owner.
Result<void> check_owner(const struct stat& found,
                         const std::filesystem::path& path,
                         const std::filesystem::path& folder,
                         const TrustedFolders& trusted);

/// Reads a configuration file that controls what `ws` does: it must be a regular file, not a link, with a trusted
/// owner. Fails with `not_found`, `disk`, or `invalid` if it is larger than `max_bytes`.
Result<std::string> read_trusted_file(const std::filesystem::path& path,
                                      std::size_t max_bytes,
                                      const TrustedFolders& trusted);

}  // namespace ws
