/// The ids that `ws` lately showed to this user on a terminal, so that the ending of one is enough to name it, and the
/// document that was read or written last.
///
/// A convenience: what cannot be written is not remembered. One file a server, 0600, at most 2,000 ids.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ws::cli {

class ShownIds {
 public:
  /// `state`: `Paths::state`. `server`: the base URL.
  ShownIds(const std::filesystem::path& state, std::string_view server);

  /// Adds them as the newest.
  void keep(const std::vector<std::string>& ids) const;
  /// All that end with `ending`, the newest first. `ending` has at least 4 characters, else there are none.
  std::vector<std::string> ending_with(std::string_view ending) const;

  void keep_last_document(std::string_view id) const;
  std::optional<std::string> last_document() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ws::cli
