/// The pictures of an export: the Assets that the lists of attachments name, each content downloaded once, and none
/// whose bytes lie in the folder already.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/client/client.hpp"
#include "cli/commands/docs/export_folder.hpp"
#include "cli/commands/docs/exported_sources.hpp"
#include "cli/commands/shared/session.hpp"
#include "cli/terminal/progress.hpp"
#include "sync-engine/remote/assets.hpp"

namespace ws::cli {

/// No key, no network, a signal: what comes next fares no better.
bool ends_export(const Failure& failure);

class ExportedPictures {
 public:
  /// What became of one; `why`: only of one that failed.
  using Tell = std::function<void(
      const std::string& name, const std::string& asset, std::string_view state, const Failure* why)>;

  ExportedPictures(Session& session, Client& client, ExportFolder& folder, const ExportedSources& sources, Tell tell)
      : session_(session), client_(client), folder_(folder), sources_(sources), tell_(std::move(tell)) {}

  /// Those of the sources. What ends the whole export is its failure.
  Result<void> take(const std::set<std::string>& of_sources, ProgressLine& line);
  /// Those of the manifest that no list names any more. With `remove` each is asked for by its id. Fails as a call
  /// does.
  Result<void> take_unlisted(bool remove, ProgressLine& line);
  /// The names of these.
  std::vector<std::string> unlisted() const;
  /// The key may read no Assets, and `--source` named a source of which some are missing now.
  bool lacks_named() const { return lacks_named_; }

 private:
  struct Due {
    std::vector<std::string> names = {};  ///< where the same bytes are to lie
    WantedPicture picture = {};
  };

  Result<void> look_at(const std::string& name, const WantedPicture& picture);
  Result<void> download(ProgressLine& line);
  Result<void> start(sync::Assets& assets, const Due& due, ProgressLine& line);
  void end(const Due& due, const std::string& to, Result<void> ended);
  Result<void> put_at_all(const Due& due);
  void tell_failed(const Due& due, const Failure& why);
  Result<void> take_missing(const std::string& name, const Result<Reply>& reply);

  Session& session_;
  Client& client_;
  ExportFolder& folder_;
  const ExportedSources& sources_;
  Tell tell_;
  std::map<Sha256, Due> due_ = {};
  std::map<std::string, ExportState> states_ = {};  ///< of those that are due, by name
  std::map<Sha256, std::uint64_t> received_ = {};
  std::size_t under_way_ = 0;
  bool may_fetch_ = true;
  bool lacks_named_ = false;
  std::optional<Failure> ended_by_ = {};
};

}  // namespace ws::cli
