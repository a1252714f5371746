#include "sync-engine/attachments/shown_files.hpp"

#include <algorithm>
#include <utility>

#include "api-client/base/utf8.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/links/references.hpp"
#include "sync-engine/survey/link_index.hpp"

namespace ws::sync {
namespace {

/// A key of `TargetMarks`, and that of the wiki link that led to a file.
struct TargetKey {
  std::string target = {};
  std::string wiki = {};
};

std::string wiki_key_of(const links::Reference& reference) {
  return reference.is_wiki() ? "[[" + utf8::fold_key(reference.path) : std::string();
}

/// Empty: it names no file that could be an attachment. One that is not here has to look like a file's name; a folder
/// may be in its place.
std::optional<TargetKey> key_of(const RelativePath& note,
                                const links::Reference& reference,
                                const links::TreeFiles& tree,
                                const OtherFiles& files) {
  using State = links::Resolution::State;
  if (reference.path.empty()) return std::nullopt;
  const links::Resolution found = tree.resolve(note.text(), reference);
  if (found.state == State::file) {
    const auto file = RelativePath::parse(utf8::nfc(found.path));
    if (!file || !files.has(*file)) return std::nullopt;
    return TargetKey{.target = file->string(), .wiki = wiki_key_of(reference)};
  }
  const bool is_folder = found.state == State::folder;
  const bool is_missing = is_folder || found.state == State::none || found.state == State::ambiguous;
  const std::string& named = is_folder ? found.path : reference.path;
  if (!is_missing || is_markdown(named) || last_part(named).find('.') == std::string_view::npos) return std::nullopt;
  if (reference.is_wiki()) return TargetKey{.target = wiki_key_of(reference)};
  const auto path = links::joined(parent_folder(note.text()), reference.path);
  if (!path || path->empty() || path->find('\0') != std::string::npos) return std::nullopt;
  return TargetKey{.target = utf8::nfc(*path)};
}

using TargetKeys = std::map<std::string, std::string>;  ///< with the key of the wiki link

void add_keys(TargetKeys& keys,
              const RelativePath& note,
              const std::vector<links::Reference>& references,
              const links::TreeFiles& tree,
              const OtherFiles& files) {
  for (const links::Reference& reference : references) {
    auto key = key_of(note, reference, tree, files);
    if (!key) continue;
    std::string& wiki = keys[std::move(key->target)];
    if (wiki.empty()) wiki = std::move(key->wiki);
  }
}

/// What both sides agreed on about the notes that were edited here. A note that is in neither is as agreed.
class AgreedTexts {
 public:
  struct Agreed {
    RelativePath path;
    Sha256 hash = {};
    git::ObjectId blob = {};
  };

  explicit AgreedTexts(const Survey& survey) {
    for (const auto& [path, hash] : survey.local.created) edited_.emplace(path, std::nullopt);
    for (const auto& [document, entry] : survey.local.tracked) {
      const auto base = survey.base_rows.find(document);
      if (base == survey.base_rows.end() || base->second.entry.hash == entry.hash) continue;
      edited_.emplace(
          entry.path,
          Agreed{.path = base->second.entry.path, .hash = base->second.entry.hash, .blob = base->second.blob});
    }
  }

  /// Null: the note is as agreed; an empty one: nothing was agreed about it.
  const std::optional<Agreed>* find(const RelativePath& note) const {
    const auto found = edited_.find(note);
    return found == edited_.end() ? nullptr : &found->second;
  }

 private:
  std::map<RelativePath, std::optional<Agreed>> edited_;
};

class NoteReaderOfTree {
 public:
  NoteReaderOfTree(Session& session, const Survey& survey, const OtherFiles& files)
      : session_(session), survey_(survey), files_(files), agreed_(survey), tree_(all_paths(survey)) {}

  ShownFiles read(bool may_write, bool any_synced) {
    std::ranges::sort(notes_);
    const bool reads_all = files_.size() > 0 || any_synced;
    if (reads_all) index_ = LinkIndex::load(session_, survey_.scan, may_write ? IndexFile::update : IndexFile::leave);
    shown_.is_whole = reads_all;
    for (const RelativePath& note : notes_) {
      if (reads_all || agreed_.find(note) != nullptr) take(note);
    }
    if (any_synced) add_unnamed_by_deleted();
    for (const std::string& target : named_now_) shown_.unnamed.erase(target);
    return std::move(shown_);
  }

 private:
  std::vector<std::string> all_paths(const Survey& survey) {
    std::vector<std::string> paths;
    survey.scan.each_other([&](const std::string& path) { paths.push_back(path); });
    survey.scan.each_file([&](const std::string& path, const CachedEntry&) {
      paths.push_back(path);
      if (auto parsed = RelativePath::parse(path)) notes_.push_back(std::move(*parsed));
    });
    return paths;
  }

  void take(const RelativePath& note) {
    const std::optional<links::NoteLinks> links = links_of(note);
    if (!links) {
      shown_.is_whole = false;
      return;
    }
    if (links->is_cut) shown_.cut.push_back(note.string());
    add_shown(shown_, note, links->references, tree_, files_);
    add_targets(note, links->references);
  }

  /// Empty: it cannot be read now.
  std::optional<links::NoteLinks> links_of(const RelativePath& note) {
    if (index_ && is_markdown(note.text())) return index_->find_links(note.string());
    const auto text = reader_.read(note.string());
    return text ? std::optional(links::read_note(*text)) : std::nullopt;
  }

  void add_targets(const RelativePath& note, const std::vector<links::Reference>& references) {
    TargetKeys now;
    add_keys(now, note, references, tree_, files_);
    const std::optional<AgreedTexts::Agreed>* const edited = agreed_.find(note);
    TargetKeys before;
    bool is_known = true;
    if (edited != nullptr && *edited) is_known = add_keys_before(note, **edited, before);
    for (const auto& [target, wiki] : now) {
      named_now_.insert(target);
      NamedTarget& named = shown_.targets[target];
      const bool is_agreed = edited == nullptr || !is_known || before.contains(target);
      (is_agreed ? named.elsewhere : named.here).push_back(note);
      if (named.wiki_key.empty()) named.wiki_key = wiki;
    }
    // What somebody here took out of the text was still named there first.
    for (const auto& [target, wiki] : before) {
      if (now.contains(target)) continue;
      shown_.targets[target].elsewhere.push_back(note);
      shown_.unnamed.insert(target);
    }
  }

  /// What notes named that are here no more. A text that is not to be had names nothing.
  void add_unnamed_by_deleted() {
    for (const auto& [document, row] : survey_.base_rows) {
      if (survey_.local.tracked.contains(document) || survey_.local.unsyncable.contains(document)) continue;
      TargetKeys keys;
      const RelativePath& note = row.entry.path;
      add_keys_before(note, {.path = note, .hash = row.entry.hash, .blob = row.blob}, keys);
      for (const auto& [target, wiki] : keys) shown_.unnamed.insert(target);
    }
  }

  /// From where the note lay and from where it lies: a text that was only moved is not written anew. False: the agreed
  /// text is not to be had.
  bool add_keys_before(const RelativePath& note, const AgreedTexts::Agreed& agreed, TargetKeys& keys) {
    const auto text = find_kept_text(session_, agreed.blob, agreed.hash);
    if (!text) return false;
    const links::NoteLinks links = links::read_note(*text);
    add_keys(keys, note, links.references, tree_, files_);
    add_keys(keys, agreed.path, links.references, tree_, files_);
    return true;
  }

  Session& session_;
  const Survey& survey_;
  const OtherFiles& files_;
  AgreedTexts agreed_;
  std::vector<RelativePath> notes_;
  links::TreeFiles tree_;
  std::optional<LinkIndex> index_ = {};  ///< where all notes are read
  FilesInOrder reader_{session_.root};
  ShownFiles shown_;
  std::set<std::string> named_now_;
};

}  // namespace

void OtherFiles::add(const std::string& disk) {
  const auto [known, is_new] = by_path_.emplace(utf8::nfc(disk), disk);
  if (is_new || known->second == disk) return;
  const std::string smaller = std::min(known->second, disk);
  if (auto path = RelativePath::parse(known->first)) {
    twins_.emplace(*path, std::max(known->second, disk));
    known->second = smaller;
  }
}

void OtherFiles::prefer(const RelativePath& path, const std::string& disk) {
  const auto [first, last] = twins_.equal_range(path);
  const auto twin = std::find_if(first, last, [&](const auto& each) { return each.second == disk; });
  if (twin != last) std::swap(by_path_.at(path.string()), twin->second);
}

std::string OtherFiles::disk_path(const RelativePath& path) const {
  const auto found = by_path_.find(path.string());
  return found == by_path_.end() ? std::string() : found->second;
}

std::vector<RelativePath> OtherFiles::all() const {
  std::vector<RelativePath> paths;
  for (const auto& [path, disk] : by_path_) {
    if (auto parsed = RelativePath::parse(path)) paths.push_back(std::move(*parsed));
  }
  std::ranges::sort(paths);
  return paths;
}

void add_shown(ShownFiles& shown,
               const RelativePath& note,
               const std::vector<links::Reference>& references,
               const links::TreeFiles& tree,
               const OtherFiles& files) {
  using State = links::Resolution::State;
  for (const links::Reference& reference : references) {
    if (reference.path.empty()) continue;
    const links::Resolution found = tree.resolve(note.text(), reference);
    if (found.state == State::ambiguous && !is_markdown(reference.path) &&
        reference.path.find('.') != std::string::npos) {
      shown.unclear.push_back({.path = reference.path, .reason = SkipReason::ambiguous_name});
    }
    const bool may_be_hidden = found.state == State::none || found.state == State::outside;
    if (may_be_hidden && !reference.is_wiki() && !reference.is_guess() && !is_markdown(reference.path)) {
      auto path = links::joined(parent_folder(note.text()), reference.path);
      if (path && path->find('\0') == std::string::npos) {
        shown.nowhere.insert(std::move(*path));
      }
    }
    if (found.state != State::file) continue;
    const auto file = RelativePath::parse(utf8::nfc(found.path));
    if (!file || !files.has(*file)) continue;
    std::vector<RelativePath>& notes = shown.notes[*file];
    if (notes.empty() || notes.back() != note) notes.push_back(note);
  }
}

ShownFiles shown_in_notes(
    Session& session, const Survey& survey, const OtherFiles& files, bool may_write, bool any_synced) {
  if (files.size() == 0 && !may_write && !any_synced) return ShownFiles{};
  return NoteReaderOfTree(session, survey, files).read(may_write, any_synced);
}

}  // namespace ws::sync
