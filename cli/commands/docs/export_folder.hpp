/// Documents as files of a folder, and the manifest that says which file holds which revision.
///
/// A file is replaced as a whole or not at all. A file that somebody changed since it was exported is kept, and so is
/// any file that is not in the manifest. The manifest is written now and then; until then a journal holds a line for
/// each file, written before the file is: an export that was killed goes on as if it had not been.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "api-client/base/json.hpp"
#include "api-client/base/own_file.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"

namespace ws::cli {

/// The name of the manifest in the folder.
inline constexpr const char* export_manifest = ".ws-export.json";
/// The files since the manifest was last written, a JSON object a line.
inline constexpr const char* export_journal = ".ws-export.log";
/// There while a `ws` exports into the folder.
inline constexpr const char* export_lock = ".ws-export.lock";

/// Whose documents a folder holds. The ids are empty where the service does not say them.
struct ExportOwner {
  std::string base_url = {};
  std::string workspace_id = {};
  std::string owner_id = {};  ///< of the person or the agent whose key it is
};

struct ExportedFile {
  std::string name = {};
  std::int64_t revision = 0;
  Sha256 hash = {};
};

/// What became of one document.
enum class ExportState { created, updated, unchanged, kept, unlisted, removed, not_visible };
std::string_view name(ExportState state);

class ExportFolder {
 public:
  /// Makes the folder and locks it; with `dry_run` nothing is ever written. Fails with `disk` (code `locked`: another
  /// `ws` exports into it), or `usage` where its manifest is of another service, Workspace or person.
  static Result<ExportFolder> open(const std::filesystem::path& folder, ExportOwner owner, bool dry_run);

  /// Whether the file of a document is there, unchanged, with that revision and title.
  bool is_current(const std::string& id, std::int64_t revision, const std::string& title) const;
  /// Whether somebody changed the file of a document since it was exported.
  bool is_changed_here(const std::string& id) const;
  /// Writes a document's file, under the name that its title gives. Fails with `disk`.
  Result<ExportState> put(const std::string& id,
                          std::int64_t revision,
                          const std::string& title,
                          const std::string& content,
                          bool replace_changed);
  /// Forgets a document that is gone, and removes its file if nobody changed it. Fails with `disk`.
  Result<ExportState> remove(const std::string& id);
  Result<void> save() const;

  const std::map<std::string, ExportedFile>& files() const { return files_; }

 private:
  ExportFolder(std::filesystem::path folder, ExportOwner owner, bool dry_run)
      : folder_(std::move(folder)), owner_(std::move(owner)), dry_run_(dry_run) {}

  Result<void> check_owner(const Json& manifest);
  Result<void> read_manifest();
  Result<void> read_journal();
  /// Removes what a killed `write_file` left: `start` is ".NAME.PROCESS-".
  void remove_temporary(const std::string& start) const;
  void remove_renamed(const ExportedFile& old);
  std::string free_name(const std::string& id, const std::string& title) const;
  std::optional<Sha256> hash_now(const std::string& name) const;

  std::filesystem::path folder_;
  ExportOwner owner_;
  bool dry_run_;
  bool is_bound_ = false;  ///< the manifest names this owner already
  std::unique_ptr<LockFile> lock_;
  std::map<std::string, ExportedFile> files_;  ///< by the document's id
  std::set<std::string> taken_;                ///< their names, folded
};

}  // namespace ws::cli
