/// Where the documents and pictures of sources lie in an export: as in the folders that are synced with them.
///
/// No operation reads a node's title, so the paths come from pulls. What these said is kept beside the manifest; the
/// next export asks only for what changed since. It may be lost: then everything is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "cli/commands/docs/export_folder.hpp"
#include "cli/commands/shared/session.hpp"
#include "sync-engine/model/attachment.hpp"
#include "sync-engine/remote/remote.hpp"

namespace ws::cli {

/// What pulls of a source have said so far.
inline constexpr const char* export_sources = ".ws-export.sources.json";

struct WantedSource {
  std::string id = {};
  std::string name = {};  ///< as far as it is known here
  bool is_named = false;  ///< by `--source`
};

/// Those that `--source` names, that this user's register knows, and that lie in the folder already. Fails with `usage`
/// where a name is none.
Result<std::vector<WantedSource>> wanted_sources(const Session& session, const ExportFolder& folder);

/// A file beside the documents, where it is to lie.
struct WantedPicture {
  sync::Attachment file = {};
  std::string source = {};
};

class ExportedSources {
 public:
  /// A document of a source that changed, with its text where that came along.
  using Visit = std::function<Result<void>(const sync::PulledItem& item, const ExportPlace& place)>;

  explicit ExportedSources(ExportFolder& folder) : folder_(folder) {}

  /// Pulls the sources one after another. One line names those that this key may not read; their documents get no
  /// place. Fails as a pull or `visit` does.
  Result<void> read(Session& session, Client& client, const std::vector<WantedSource>& wanted, const Visit& visit);
  /// Keeps what they said for the next export. Fails with `disk`.
  Result<void> save() const;

  std::optional<ExportPlace> place_of(const std::string& document) const;
  const std::map<std::string, ExportPlace>& places() const { return places_; }
  bool is_read(const std::string& source) const { return read_.contains(source); }
  /// The parts of the lists of attachments; they are not exported.
  const std::set<std::string>& lists() const { return lists_; }
  /// By the name of the file.
  const std::map<std::string, WantedPicture>& pictures() const { return pictures_; }
  bool is_named(const std::string& source) const { return named_.contains(source); }
  /// One that `--source` named could not be read.
  bool lacks_named() const { return lacks_named_; }

 private:
  /// What the pulls of one source say.
  struct Told {
    std::uint64_t revision = 0;
    std::map<std::string, std::string> paths = {};  ///< by the document's id
    std::map<std::string, std::string> lists = {};  ///< texts, by the document's id
  };

  void read_told();
  /// Gives each source that has none its folder, and leaves out those that cannot be read.
  Result<std::vector<WantedSource>> settle_folders(sync::Remote& remote,
                                                   const std::vector<WantedSource>& wanted,
                                                   std::vector<std::string>& refused);
  void refuse(const WantedSource& source, const Failure& why, std::vector<std::string>& refused);
  std::string folder_for(const WantedSource& source, bool is_only) const;
  Result<void> read_one(sync::Remote& remote, const WantedSource& source, const Visit& visit);
  Result<Told> pull(sync::Remote& remote, const std::string& source, const Told& known, const Visit& visit) const;
  std::optional<ExportPlace> place_in(const std::string& source, const std::string& path) const;
  void take(const std::string& source, const Told& told);

  ExportFolder& folder_;
  std::map<std::string, Told> told_ = {};  ///< by source
  std::set<std::string> read_ = {};
  std::set<std::string> named_ = {};
  bool lacks_named_ = false;
  bool lacks_scope_ = false;
  std::map<std::string, ExportPlace> places_ = {};
  std::set<std::string> lists_ = {};
  std::map<std::string, WantedPicture> pictures_ = {};
};

/// 403, 404 or 410: with this key there is nothing to be seen.
bool is_out_of_sight(const Failure& failure);

}  // namespace ws::cli
