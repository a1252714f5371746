/// Whose folders may tell `ws` what to do.
///
/// A `.ws/` or `.ws.yaml` names a server, a Workspace and the files that are written. One that another user put in the
/// way, in /tmp or on a share, is refused, as git refuses such a repository (`safe.directory`). Like git, root takes
/// its own files and those of the user who called sudo.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"

struct stat;

namespace ws {

/// The folders whose owner does not matter. Only the user's own settings and environment may name them.
struct TrustedFolders {
  std::vector<std::string> folders = {};   ///< absolute; `DIR/*`: everything below DIR; `*`: all
  std::optional<unsigned> sudo_user = {};  ///< SUDO_UID: counts only for root

  /// `list` has `:` between its folders, as PATH does. A text that is no number is no user.
  static TrustedFolders parse(std::string_view list, std::string_view sudo_uid);
  bool holds(const std::filesystem::path& folder) const;
};

/// `found` is of `path`, which lies in `folder`. Fails with `disk`, code `foreign_owner`, naming the owner.
Result<void> check_owner(const struct stat& found,
                         const std::filesystem::path& path,
                         const std::filesystem::path& folder,
                         const TrustedFolders& trusted);

/// Reads a file that may steer: a regular one, not through a link, with a trusted owner. Fails with `not_found`,
/// `disk`, or `invalid` for one over `max_bytes`.
Result<std::string> read_trusted_file(const std::filesystem::path& path,
                                      std::size_t max_bytes,
                                      const TrustedFolders& trusted);

}  // namespace ws
