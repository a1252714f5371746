/// What every note of a tree links to and shows, kept in `.ws/links.cache` and read again only for changed notes.
///
/// A note is known by the hash of its text, which the walk has anyway. The file is disposable: where it is missing,
/// damaged or of another version, the notes are read again, several at a time. The rest of the tree is only listed.
/// Of each note it has the number of its broken links: while no file comes or goes and no heading changes, only those
/// of changed notes are resolved. For few changed notes the file is not written: to read them again costs less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/links/references.hpp"
#include "sync-engine/links/resolve.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/tree/scan.hpp"

namespace ws::sync {

/// Whether the index may be written. `leave`: of a dry run.
enum class IndexFile { update, leave };

class LinkIndex {
 public:
  /// Brings it up to date with the walk (which has to list other files) and keeps it. A note that cannot be read, or
  /// was changed since the walk, has no links. Fails never: a cache that cannot be written costs time later.
  static LinkIndex load(Session& session, const Scan& scan, IndexFile file = IndexFile::update);
  /// The same of a folder that is tied to nothing: every note is read, nothing is kept, and files that the rules of the
  /// walk leave out are none.
  static LinkIndex read(const RootFolder& root, const Scan& scan, unsigned threads);

  /// All files, the notes among them.
  const links::TreeFiles& files() const;
  /// In order of path.
  const std::vector<std::string>& notes() const { return notes_; }
  links::NoteLinks links_of(const std::string& note) const;
  /// Empty: it is no note, cannot be read, or was changed since the walk.
  std::optional<links::NoteLinks> find_links(const std::string& note) const;
  /// Where fragments of a link to `note` lead, in order of their place. Kept, for many links may ask.
  const std::vector<std::string>& anchors_of(const std::string& note) const { return anchors_in(note).in_order; }
  /// The notes whose links could not all be read; in order of path.
  std::vector<std::string> cut_notes() const;
  /// Whether a reference of `note` leads to a file or folder, and its fragment to a heading of it.
  bool is_broken(const std::string& note, const links::Reference& reference) const;
  /// How many links do not resolve. Known without a look at them where nothing changed.
  std::uint64_t broken() const { return broken_; }

 private:
  struct Entry {
    Sha256 hash = {};
    std::string_view links = {};  ///< packed, in `cached_` or `fresh_`
    std::uint64_t broken = 0;     ///< of the links
    bool is_known = false;        ///< the cache has it, perhaps of another text
  };

  struct Anchors {
    std::vector<std::string> in_order = {};
    std::unordered_set<std::string_view> names = {};  ///< the same
  };

  const Anchors& anchors_in(const std::string& note) const;
  enum class Others { all, not_ignored };
  void take_walk(const Scan& scan, Others others);
  void take_left_out(Session& session);
  bool read_cache(std::string_view text);
  void read_changed(const RootFolder& root, const Scan& scan, const std::vector<std::size_t>& places, unsigned threads);
  void save(Session& session) const;
  std::optional<std::size_t> place_of(std::string_view note) const;
  bool has_anchor(const std::string& note, std::string_view fragment) const;
  std::uint64_t count_broken(std::size_t place) const;

  mutable std::vector<std::string> others_ = {};        ///< the files that are no notes; sorted with `files_`
  mutable std::optional<links::TreeFiles> files_ = {};  ///< made when a link is first resolved
  std::vector<std::string> notes_ = {};
  std::vector<Entry> entries_ = {};  ///< of each note
  std::string cached_ = {};
  std::vector<std::string> fresh_ = {};  ///< packed links of notes that were read now
  mutable std::unordered_map<std::string, Anchors> anchors_ = {};
  std::uint64_t names_ = 0;  ///< of all files
  std::uint64_t texts_ = 0;  ///< of all notes
  std::uint64_t broken_ = 0;
};

/// The text of a note as it is now; empty: it cannot be read.
std::optional<std::string> text_of_note(const RootFolder& root, const std::string& path);

}  // namespace ws::sync
