/// The ids that `ws` recently showed to this user on a terminal, so that the last characters of an id identify it, and
/// of each kind the object that a command made or printed last, in pipes too. Also the titles of Projects that it
/// created: the API does not list them.
///
/// A convenience: write errors are ignored. One file per server, mode 0600, at most 2,000 ids.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ws::cli {

class ShownIds {
 public:
  /// `state` is `Paths::state`. `server` is the base URL.
  ShownIds(const std::filesystem::path& state, std::string_view server);

  /// Adds the ids as the most recent ones.
  void keep(const std::vector<std::string>& ids) const;
  /// All ids that end with `ending`, newest first; none if `ending` has fewer than 4 characters.
  std::vector<std::string> ending_with(std::string_view ending) const;

  void keep_project(const std::string& id, std::string_view title) const;
  /// The ids of the Projects that had this title when they were last seen.
  std::vector<std::string> projects_titled(std::string_view title) const;

  std::vector<std::string> project_titles() const;

  /// `kind`: "document", "asset" and the like, without a blank.
  void keep_last(std::string_view kind, std::string_view id) const;
  std::optional<std::string> last(std::string_view kind) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ws::cli
