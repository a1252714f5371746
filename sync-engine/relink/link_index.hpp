/// What every note of a tree links to and shows, kept in `.ws/links.cache` and read again only for changed notes.
///
/// A note is known by the hash of its text, which the walk has anyway. The file is disposable: where it is missing,
/// damaged or of another version, the notes are read again. The rest of the tree (`files`) is only listed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/links/references.hpp"
#include "sync-engine/links/resolve.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/tree/scan.hpp"

namespace ws::sync {

class LinkIndex {
 public:
  /// Brings it up to date with the walk (which has to list other files) and keeps it. A note that cannot be read, or
  /// was changed since the walk, has no links. Fails never: a cache that cannot be written costs time later.
  static LinkIndex load(Session& session, const Scan& scan);

  /// All files, the notes among them.
  const links::TreeFiles& files() const { return files_; }
  /// In order of path.
  const std::vector<std::string>& notes() const { return notes_; }
  links::NoteLinks links_of(const std::string& note) const;
  /// Every reference of the tree, in order of note and place.
  void each(const std::function<void(const std::string& note, const links::Reference& reference)>& visit) const;
  /// Whether a reference of `note` leads to a file or folder, and its fragment to a heading of it.
  bool is_broken(const std::string& note, const links::Reference& reference) const;
  /// How many links do not resolve. Known without a look at them where nothing changed.
  std::uint64_t broken() const { return broken_; }
  std::uint64_t notes_read() const { return notes_read_; }

 private:
  struct Known {
    std::string_view hash = {};
    std::string_view links = {};
  };
  bool read(std::string_view text);
  std::string write() const;
  bool has_anchor(const std::string& note, std::string_view fragment) const;
  std::uint64_t count_broken() const;

  links::TreeFiles files_{{}};
  std::vector<std::string> notes_ = {};
  std::string cached_ = {};
  std::unordered_map<std::string_view, Known> known_ = {};   ///< of the cache, in `cached_`
  std::unordered_map<std::string, std::string> fresh_ = {};  ///< links of notes that were read now
  std::vector<std::string> hashes_ = {};                     ///< of each note
  mutable std::unordered_map<std::string, std::vector<std::string>> anchors_ = {};
  std::uint64_t fingerprint_ = 0;
  std::uint64_t broken_ = 0;
  std::uint64_t notes_read_ = 0;
};

}  // namespace ws::sync
