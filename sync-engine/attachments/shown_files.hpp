/// Which files the notes of a tree show or link to.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sync-engine/links/resolve.hpp"
#include "sync-engine/model/entry.hpp"
#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// The files that could be attachments, by path in NFC. Of names that differ only in their normal form the bytewise
/// smaller one stands for the path, until another is preferred.
class OtherFiles {
 public:
  /// `disk`: as the disk spells it.
  void add(const std::string& disk);
  /// Lets `disk`, one of the twins of `path`, stand for it.
  void prefer(const RelativePath& path, const std::string& disk);
  /// The other names on disk, by path.
  const std::multimap<RelativePath, std::string>& twins() const { return twins_; }
  bool has(const RelativePath& path) const { return by_path_.contains(path.string()); }
  /// Empty: there is none.
  std::string disk_path(const RelativePath& path) const;
  std::size_t size() const { return by_path_.size(); }
  std::vector<RelativePath> all() const;

 private:
  std::unordered_map<std::string, std::string> by_path_;
  std::multimap<RelativePath, std::string> twins_;
};

/// Who names a file, in the texts as they are on disk.
struct NamedTarget {
  std::vector<RelativePath> here = {};       ///< notes that name it by what was written since both sides agreed
  std::vector<RelativePath> elsewhere = {};  ///< notes whose agreed text names it
  std::string wiki_key = {};                 ///< its own mark while it was not here; see `TargetMarks`
};

struct ShownFiles {
  std::map<RelativePath, std::vector<RelativePath>> notes = {};  ///< of each file
  std::vector<Skipped> unclear = {};                             ///< names that several files have, none nearer
  std::set<std::string> nowhere = {};  ///< paths that the walk does not list: no file, or one not synced
  /// By the keys of `TargetMarks`, files that are not here (yet) among them; notes are none.
  std::map<std::string, NamedTarget> targets = {};
  std::set<std::string> unnamed = {};  ///< of these keys, those that agreed texts name and no text here does any more
  std::vector<std::string> cut = {};   ///< notes whose links could not all be read
  bool is_whole = false;               ///< every note was looked at, and could be read
};

/// Adds what one note shows. `tree`: all files, notes too, as the disk spells them.
void add_shown(ShownFiles& shown,
               const RelativePath& note,
               const std::vector<links::Reference>& references,
               const links::TreeFiles& tree,
               const OtherFiles& files);

/// Of the notes as they are on disk. Where there is no file that one could show, only those that were written here
/// since both sides agreed are read, and none by a mere look (`may_write` false). `any_synced`: files were synced, so
/// that all notes are read in any case.
ShownFiles shown_in_notes(
    Session& session, const Survey& survey, const OtherFiles& files, bool may_write, bool any_synced);

}  // namespace ws::sync
