/// Documents and pictures as files of a folder, and the manifest that says which file holds which revision.
///
/// A file is replaced as a whole or not at all. A file that somebody changed since it was exported is kept, and so is
/// any file that is not in the manifest. The manifest is written now and then; until then a journal holds a line for
/// each file, written before the file is: an export that was killed goes on as if it had not been. Every name resolves
/// beneath the folder and through no link.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/own_file.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "sync-engine/disk/root_folder.hpp"

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

/// Whether the file is one that `ws` keeps in the folder for itself: nothing is exported to such a place.
bool is_export_own(std::string_view path);

struct ExportedFile {
  std::string name = {};  ///< from the folder, `/` between parts
  std::int64_t revision = 0;
  Sha256 hash = {};
  std::string source = {};  ///< the id of the source that gave its place; empty: it lies flat, by its title
};

/// The bytes of an Asset, by the name of their file.
struct ExportedPicture {
  std::string asset = {};
  Sha256 hash = {};
  std::string source = {};

  /// What a partial download of it is known by.
  std::string identity() const { return asset + " " + hash.hex(); }
  bool operator==(const ExportedPicture&) const = default;
};

/// Where a document is to lie, and the source that says so. A document without one lies flat, by its title.
struct ExportPlace {
  std::string path = {};
  std::string source = {};
};

/// A document as it is to be exported.
struct ExportText {
  std::string id = {};
  std::int64_t revision = 0;
  std::string title = {};
  std::string content = {};
  std::optional<ExportPlace> place = {};
};

/// What became of one document or picture.
enum class ExportState { created, updated, unchanged, kept, unlisted, removed, not_visible };
std::string_view name(ExportState state);

class ExportFolder {
 public:
  /// Makes the folder and locks it; with `dry_run` nothing is ever written. Fails with `disk` (code `locked`: another
  /// `ws` exports into it), or `usage` where its manifest is of another service, Workspace or person.
  static Result<ExportFolder> open(const std::filesystem::path& folder, ExportOwner owner, bool dry_run);

  /// Whether the file of a document is there, unchanged, with that revision.
  bool has_text(const std::string& id, std::int64_t revision) const;
  /// Whether it also lies where it should.
  bool is_in_place(const std::string& id, const std::string& title, const std::optional<ExportPlace>& place) const;
  /// Whether somebody changed the file of a document since it was exported.
  bool is_changed_here(const std::string& id) const;
  /// Whether nothing lies there but, perhaps, the file of that document.
  bool is_free_for(const std::string& id, const std::string& path) const;
  /// From now on the places are free for their documents alone; files of others that lie there step aside. Fails with
  /// `disk`.
  Result<void> make_room(const std::map<std::string, ExportPlace>& places);
  /// Writes a document's file, at its place or under the name that its title gives. Fails with `disk`.
  Result<ExportState> put(const ExportText& text, bool replace_changed);
  /// Renames the unchanged file of a document to where it is to lie. Fails with `disk`.
  Result<void> move(const std::string& id, const std::string& title, const std::optional<ExportPlace>& place);
  /// Forgets a document that is gone, and removes its file if nobody changed it. Fails with `disk`.
  Result<ExportState> remove(const std::string& id);

  /// What has to be done to have these bytes there: `created` and `updated` are due, the others are done.
  ExportState need_of_picture(const std::string& name, const Sha256& hash, bool replace_changed) const;
  /// Takes equal bytes that lie elsewhere in the folder: `may_go` says which of these files need not stay there. False:
  /// there are none. Fails with `disk`.
  Result<bool> take_equal(const std::string& name,
                          const ExportedPicture& picture,
                          const std::function<bool(const std::string& name)>& may_go);
  /// The open folder that a file is to be written into, made where it is missing. Fails with `disk`.
  Result<Descriptor> folder_for(const std::string& name) const;
  /// Its file holds these bytes now. Fails with `disk`.
  Result<void> note_picture(const std::string& name, const ExportedPicture& picture);
  /// The same as `remove`.
  Result<ExportState> remove_picture(const std::string& name);

  /// The list of attachments of a source is left out. With its revision, so that it is not read again.
  void leave_out(const std::string& id, std::int64_t revision);
  bool is_left_out(const std::string& id, std::int64_t revision) const;

  Result<void> save() const;

  const std::filesystem::path& path() const { return folder_; }
  const std::string& base_url() const { return owner_.base_url; }
  bool is_dry_run() const { return dry_run_; }
  const std::map<std::string, ExportedFile>& files() const { return files_; }
  const std::map<std::string, ExportedPicture>& pictures() const { return pictures_; }
  /// The folders that sources have here, by the source's id: empty, or ending in `/`.
  std::map<std::string, std::string> source_folders = {};

 private:
  ExportFolder(std::filesystem::path folder, ExportOwner owner, bool dry_run)
      : folder_(std::move(folder)), owner_(std::move(owner)), dry_run_(dry_run) {}

  Result<void> check_owner(const Json& manifest);
  Result<void> read_manifest();
  Result<void> read_journal();
  /// Removes what a killed write left beside a file: `process` is the one that wrote.
  void remove_temporary(const std::string& name, const std::string& process) const;
  void remove_renamed(const ExportedFile& old);
  /// Empty: none is free. A file with that very text is free to be taken over.
  std::string free_name(const ExportText& text, const Sha256& hash) const;
  Result<void> rename(const std::string& id, const std::string& target, const std::string& source);
  Result<void> rename_file(const std::string& from, const std::string& to) const;
  Result<void> copy_file(const std::string& from, const std::string& to, const ExportedPicture& picture) const;
  Result<void> note(Json line) const;
  Result<void> write(const std::string& name, const std::string& content) const;
  /// And the folders above it in which nothing is left.
  Result<void> remove_file(const std::string& name) const;
  void remove_empty_folders(const std::string& name) const;
  std::optional<Sha256> hash_now(const std::string& name) const;
  bool is_there(const std::string& name) const;
  bool is_beneath_file(const std::string& name) const;
  bool is_taken_from(const std::string& id, const std::string& path) const;

  std::filesystem::path folder_;
  ExportOwner owner_;
  bool dry_run_;
  bool is_bound_ = false;  ///< the manifest names this owner already
  std::unique_ptr<LockFile> lock_;
  std::optional<sync::RootFolder> root_;             ///< empty: there is no folder, and none is made
  std::map<std::string, ExportedFile> files_;        ///< by the document's id
  std::map<std::string, ExportedPicture> pictures_;  ///< by name
  std::map<std::string, std::int64_t> left_out_;     ///< revisions, by the document's id
  std::map<std::string, std::string> reserved_;      ///< documents, by the folded place that is theirs
  std::set<std::string> taken_;                      ///< names of both, folded
};

}  // namespace ws::cli
