/// What every step of a sync works with, and the text of a document as the service has it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sync-engine/binding/tree_binding.hpp"
#include "sync-engine/binding/tree_config.hpp"
#include "sync-engine/binding/ws_folder.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/model/options.hpp"
#include "sync-engine/remote/remote.hpp"
#include "sync-engine/state/attachment_store.hpp"
#include "sync-engine/state/history.hpp"
#include "sync-engine/state/state_store.hpp"
#include "sync-engine/tree/file_kinds.hpp"

namespace ws::sync {

/// A text in the history that becomes a new document.
struct NewText {
  RelativePath path;
  Sha256 hash = {};
  git::ObjectId blob = {};
};

/// What is staged on the service before its commit is planned.
struct PushedAhead {
  SourceRevision revision = {};  ///< of the source when it was staged
  std::string plan_id = {};
  std::vector<std::string> push_ids = {};
  std::vector<NewText> texts = {};
};

struct Session {
  RootFolder root;
  WsFolder ws;
  TreeBinding binding;
  TreeConfig config;
  FileKinds kinds;
  FileKinds excluded;  ///< see `excludes`
  StateStore state;
  History history;
  Remote* remote = nullptr;
  EngineOptions options = {};
  bool met_attachments = false;  ///< see `knows_attachments`
  std::optional<PushedAhead> pushed_ahead = {};
  /// Notes were written by this call: what they name from now on is nobody's wish here.
  bool wrote_notes = false;
  /// Who wrote the texts that this call received, by the path of the note.
  std::map<RelativePath, std::string> writers = {};
  /// Another round follows this one: the service stored a text in a form of its own, or a file is not as it was sent.
  bool pulls_again = false;

  /// For what opens by path; see `WsFolder::through`.
  std::filesystem::path own(const char* name) const { return ws.through(name); }
  /// Whether `attachments_exclude:` names this file.
  bool excludes(std::string_view path) const { return !config.attachments_exclude.empty() && excluded.takes(path); }
  /// Whether this tree has, or had, attachments.
  bool knows_attachments();
  AttachmentStore attachments() { return state.attachments(); }
  /// Null: the service cannot be asked, or keeps none.
  Assets* assets() const { return remote == nullptr ? nullptr : remote->assets(); }
  void progress(Stage stage, std::uint64_t done, std::uint64_t total) const {
    if (options.progress) options.progress({stage, done, total});
  }
  /// Fails with `cancelled` after a signal. Called between steps, never within one.
  Result<void> check_cancelled() const;
};

/// A failure that ends the whole call, not just one row: no key, no network, no disk, a signal.
bool ends_everything(const Failure& failure);
/// A failure that concerns one document or conflict: others may still succeed.
bool is_about_one(const Failure& failure);

/// The text with that hash where the history keeps it under that blob. `blob` may be empty.
std::optional<std::string> find_kept_text(Session& session, const git::ObjectId& blob, const Sha256& wanted);

/// The failure where the service would be needed and is not available.
Failure service_needed();

/// As `find_kept_text`; where it is not kept, it is read from the service. Empty: the service has another text by now,
/// or none. Fails with `usage` where there is no service, otherwise as the service does.
Result<std::optional<std::string>> fetch_remote_text(Session& session,
                                                     const DocumentId& document,
                                                     const git::ObjectId& blob,
                                                     const Sha256& wanted);

}  // namespace ws::sync
