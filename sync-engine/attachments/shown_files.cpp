#include "sync-engine/attachments/shown_files.hpp"

#include <algorithm>
#include <utility>

#include "api-client/base/utf8.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/links/references.hpp"
#include "sync-engine/state/columns.hpp"

namespace ws::sync {
namespace {

constexpr const char* targets_cache = "targets.cache";
constexpr std::string_view targets_magic = "WStargets1\n";

/// What each text refers to, by its hash: a note is read again only when it changed. Disposable.
class TargetCache {
 public:
  using References = std::vector<links::Reference>;

  explicit TargetCache(const Session& session) : session_(session) { load(); }

  const References* find(const Sha256& hash) {
    const auto known = known_.find(hash);
    if (known == known_.end()) return nullptr;
    return &used_.insert(known_.extract(known)).position->second;
  }
  const References* find_used(const Sha256& hash) const {
    const auto used = used_.find(hash);
    return used == used_.end() ? nullptr : &used->second;
  }
  const References& add(const Sha256& hash, References references) {
    is_same_ = false;
    // Where they stand is of no use here: a resolver needs kind and path.
    std::erase_if(references, [](const links::Reference& each) { return each.path.empty(); });
    return used_.insert_or_assign(hash, std::move(references)).first->second;
  }

  void save() const {
    if (is_same_ && known_.empty()) return;
    std::string bytes;
    for (const auto& [hash, references] : used_) {
      bytes += bytes_of(hash);
      put_bytes(bytes, static_cast<std::uint32_t>(references.size()));
      for (const links::Reference& each : references) {
        bytes += static_cast<char>(each.kind);
        put_bytes(bytes, static_cast<std::uint32_t>(each.path.size()));
        bytes += each.path;
      }
    }
    session_.ws.write_cache(targets_cache, targets_magic, bytes);
  }

 private:
  void load() {
    const auto cached = session_.ws.read_cache(targets_cache, targets_magic);
    std::string_view bytes = cached ? std::string_view(*cached) : std::string_view();
    Sha256::Bytes hash{};
    while (take_bytes(bytes, hash)) {
      References references;
      if (!read_references_of(bytes, references)) return known_.clear();
      known_.emplace(Sha256(hash), std::move(references));
    }
  }

  static bool read_references_of(std::string_view& bytes, References& references) {
    std::uint32_t count = 0;
    if (!take_bytes(bytes, count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t size = 0;
      if (bytes.empty()) return false;
      links::Reference reference{.kind = static_cast<links::Reference::Kind>(bytes.front())};
      bytes.remove_prefix(1);
      if (!take_bytes(bytes, size) || bytes.size() < size) return false;
      reference.path = bytes.substr(0, size);
      bytes.remove_prefix(size);
      references.push_back(std::move(reference));
    }
    return true;
  }

  const Session& session_;
  std::map<Sha256, References> known_;  ///< of the last time, less what was used
  std::map<Sha256, References> used_;
  bool is_same_ = true;
};

}  // namespace

void OtherFiles::add(const std::string& disk) { by_path_.emplace(utf8::nfc(disk), disk); }

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

Result<ShownFiles> shown_in_notes(Session& session, const Survey& survey, const OtherFiles& files, bool may_write) {
  ShownFiles shown;
  if (files.size() == 0) return shown;
  std::vector<std::pair<RelativePath, Sha256>> notes;
  std::vector<std::string> paths;
  survey.scan.each_other([&](const std::string& path) { paths.push_back(path); });
  survey.scan.each_file([&](const std::string& path, const CachedEntry& file) {
    paths.push_back(path);
    if (auto parsed = RelativePath::parse(path)) notes.emplace_back(std::move(*parsed), file.hash);
  });
  const links::TreeFiles tree(std::move(paths));
  std::ranges::sort(notes);
  TargetCache cache(session);
  std::optional<SafeWriter> reader;
  for (const auto& [note, hash] : notes) {
    const auto* known = cache.find_used(hash);
    if (known == nullptr) known = cache.find(hash);
    if (known == nullptr) {
      if (!reader) {
        WS_LET(reader, SafeWriter::open(session.root));
      }
      const auto text = reader->read(note);
      if (!text) continue;
      auto references = links::read_references(*text);
      // One that changed since it was hashed is read again by the next look.
      const bool is_as_hashed = Sha256::of(*text) == hash;
      if (!is_as_hashed) {
        add_shown(shown, note, references, tree, files);
        continue;
      }
      known = &cache.add(hash, std::move(references));
    }
    add_shown(shown, note, *known, tree, files);
  }
  if (may_write) cache.save();
  return shown;
}

}  // namespace ws::sync
