/// The texts of an open conflict, where people and programs find them: `.ws/conflicts/ID/{base,local,remote}.md`.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

struct ThreeTexts {
  std::optional<std::string> base = {};
  std::optional<std::string> local = {};
  std::optional<std::string> remote = {};
};

/// Writes the files, and the texts to the history.
Result<void> write_conflict_texts(Session& session, const std::string& id, const ThreeTexts& texts);
/// The same for many conflicts, by id: data, one barrier, renames, one barrier, whatever their number.
Result<void> write_conflict_texts(Session& session, const std::map<std::string, ThreeTexts>& by_id);
ThreeTexts read_conflict_texts(const RootFolder& root, const std::string& id);
/// A marker file: the working file holds both texts for the user to merge. It is removed with the conflict's files.
Result<void> mark_merging_by_hand(const RootFolder& root, const std::string& id);
bool is_merging_by_hand(const RootFolder& root, const std::string& id);
/// The branch of the history that holds them: "conflicts/ID".
std::string conflict_branch(const std::string& id);
/// The files alone; the history keeps the texts.
void remove_conflict_files(const RootFolder& root, const std::string& id);

}  // namespace ws::sync
