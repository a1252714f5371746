/// Names in place of ids.
///
/// A document: its id, the path of a file in a synced folder, the ending of an id that was shown lately, or its title
/// where no other document has it. An agent: its id or its handle. A source: its id, the ending or the name of one that
/// a folder of this user is synced with. Anything else: its id, or the ending of one that was shown lately. `last`:
/// what a command of this user made or printed last of that kind.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// Replaces the names among the command's words and flags by the ids that they stand for; an id stays, and with
/// --no-validate everything does. Only a title or a handle is asked of the service. Fails with `usage` where nothing,
/// or more than one thing, has the name; as the service does otherwise.
Result<void> resolve_names(Session& session);

/// The same for a line of stdin, which stands for the command's only argument.
Result<std::string> resolve_line(Session& session, const std::string& given);
/// Whether the name is at fault, not the key or the network: in a batch its row fails, and the others go on.
bool names_nothing(const Failure& failure);

/// "did you mean `notes/tides.md`?" of a path where there is nothing, or empty: what lies beside it and is like it.
std::string nearest_file(const std::filesystem::path& given);

struct SyncedFile {
  std::filesystem::path folder = {};
  std::string path = {};  ///< in the folder
};
/// Of these documents, those that are files of a synced folder of this user, by id. Folders that cannot be read are
/// left out.
std::map<std::string, SyncedFile> synced_files(Session& session, const std::vector<std::string>& ids);

}  // namespace ws::cli
