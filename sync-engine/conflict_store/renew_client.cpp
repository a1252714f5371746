#include "sync-engine/conflict_store/renew_client.hpp"

#include <vector>

#include "api-client/base/uuid.hpp"
#include "sync-engine/binding/ws_folder.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/state/state_store.hpp"

namespace ws::sync {
namespace {

/// Drops the staged commit and the recorded conflicts: they belong to the tree that this one was copied from.
Result<void> forget_the_others(const RootFolder& root, const WsFolder& own) {
  if (!own.has("state.db") || own.is_empty_file("state.db")) return {};
  WS_LET(StateStore state, StateStore::open(own.through("state.db")));
  WS_LET(const std::vector<Conflict> conflicts, state.conflicts());
  WS_LET(sqlite::Transaction transaction, state.begin());
  WS_TRY(state.clear_staged());
  for (const Conflict& conflict : conflicts) {
    if (!conflict.is_here_only()) WS_TRY(state.drop_conflict(conflict.id));
  }
  WS_TRY(transaction.commit());
  for (const Conflict& conflict : conflicts) {
    if (!conflict.is_here_only()) remove_conflict_files(root, conflict.id);
  }
  return {};
}

}  // namespace

Result<TreeBinding> renew_client(const std::filesystem::path& root,
                                 const Clock& clock,
                                 Random& random,
                                 const TrustedFolders& trusted) {
  WS_LET(const RootFolder folder, RootFolder::open(root));
  WS_LET(const WsFolder own, WsFolder::open(folder, trusted));
  WS_LET(TreeBinding binding, read_binding(own));
  WS_TRY(forget_the_others(folder, own));
  binding.client_id = make_uuid_v7(clock.now(), random);
  WS_TRY(write_binding(own, binding));
  return binding;
}

}  // namespace ws::sync
