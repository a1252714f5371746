/// `.ws/`: where it is, what it says, how it is made.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "api-client/base/clock.hpp"
#include "api-client/base/random.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/binding/tree_config.hpp"
#include "sync-engine/binding/ws_folder.hpp"
#include "sync-engine/remote/remote.hpp"

namespace ws::sync {

/// Who works in a tree: a person or an agent in a Workspace, as the service names them.
struct Account {
  std::string id = {};              ///< of the person or agent; empty: the service names nobody
  std::string name = {};            ///< "Mara Lindqvist", "@scribe"
  std::string signs_as = {};        ///< how the service names it in what it wrote, where that is not `name`: "Scribe"
  std::string workspace_id = {};    ///< empty: a key for all of a person's Workspaces
  std::string workspace_name = {};  ///< "Harbour"
  bool operator==(const Account&) const = default;
};

/// The binding of a tree to a source of the service: `.ws/source.json`.
struct TreeBinding {
  std::string source_id = {};
  std::string client_id = {};
  std::string name = {};
  std::string base_url = {};
  std::string origin = {};              ///< compared before anything is sent
  std::optional<Account> account = {};  ///< whose folder it is; empty: not known yet
  std::string profile = {};             ///< whose key tied it; empty: one of the environment
  bool is_shared = false;               ///< from here its page was moved into a Project; the service does not tell
  std::string kept_aside = {};          ///< of `init`: the folder that holds the `.ws` of an older format; not stored
  bool operator==(const TreeBinding&) const = default;
};

/// The nearest folder upward from `start` that has a `.ws`, whatever that is and whoever owns it: opening it tells.
/// Fails with `usage` where there is none.
Result<std::filesystem::path> find_root(const std::filesystem::path& start);
/// Fails with `disk`: code `marker_missing`, `newer_format` for one that a later version wrote, or as `WsFolder::open`.
Result<TreeBinding> read_binding(const std::filesystem::path& root, const TrustedFolders& trusted = {});
Result<TreeBinding> read_binding(const WsFolder& folder);

/// Fails with `disk`.
Result<void> write_binding(const WsFolder& own, const TreeBinding& binding);
/// Remembers that the source was shared from here. Fails as `read_binding` and `write_binding` do.
Result<void> mark_shared(const std::filesystem::path& root, const TrustedFolders& trusted = {});
/// Makes the tree the account's from now on. Fails as `read_binding` and `write_binding` do.
Result<void> bind_account(const std::filesystem::path& root,
                          const Account& account,
                          const std::string& profile,
                          const TrustedFolders& trusted = {});

struct InitOptions {
  std::filesystem::path folder = {};
  std::string base_url = {};
  std::string origin = {};
  std::optional<Account> account = {};
  std::string profile = {};
  std::string name = {};        ///< empty: the folder's
  std::string project_id = {};  ///< at most one of project, root and source
  std::string root_node_id = {};
  std::string source_id = {};                           ///< joins this source instead of making one
  AttachmentMode attachments = AttachmentMode::linked;  ///< of a tree without a config
  TrustedFolders trusted = {};
};

/// Makes `.ws/`; sends no content. One of an older format is moved aside, never deleted, and its source is joined again
/// unless another is named. Fails with `usage` (code `already_tied`) for a tree that is tied or lies in one.
Result<TreeBinding> init(const InitOptions& options, Remote& remote, const Clock& clock, Random& random);

/// Takes `.ws/` away, the local history with it; every other file stays, and the service is told nothing. Fails with
/// `disk`, also while another process works in the tree.
Result<void> untie(const std::filesystem::path& root, const TrustedFolders& trusted = {});

}  // namespace ws::sync
