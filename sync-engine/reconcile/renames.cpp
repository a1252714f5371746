#include "sync-engine/reconcile/renames.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <unordered_map>

namespace ws::sync {
namespace {

/// A file by its number; one that has two names is told by neither.
std::map<FileId, const FoundFile*> by_number(const std::vector<const FoundFile*>& files) {
  std::map<FileId, const FoundFile*> numbered;
  std::set<FileId> linked;
  for (const FoundFile* file : files) {
    if (file->id.inode != 0 && !numbered.emplace(file->id.number(), file).second) linked.insert(file->id.number());
  }
  for (const FileId& id : linked) numbered.erase(id);
  return numbered;
}

/// Which of the documents that are gone is which of the files that came with the same text. One and one are the same.
/// Of several the names tell: first the longest common end of the paths (the folder was renamed), then the folder (the
/// name was changed); what is left over is a rename where it is one and one. Where a name tells of two, neither is one.
class SameText {
 public:
  SameText(const BaseTree& base, std::vector<DocumentId> went, std::vector<const FoundFile*> came)
      : base_(base), went_(std::move(went)), came_(std::move(came)) {}

  void add_renames(RenamedDocuments& renames) {
    if (went_.size() > 1 || came_.size() > 1) {
      for (std::size_t parts = max_parts(); parts > 0 && !is_done(); --parts) {
        pair_by([&](std::string_view path) { return last_parts(path, parts); }, renames);
      }
      pair_by([](std::string_view path) { return std::optional(parent_folder(path)); }, renames);
    }
    pair_by([](std::string_view) { return std::optional(std::string_view()); }, renames);
  }

 private:
  using Key = std::optional<std::string_view>;

  bool is_done() const { return went_.empty() || came_.empty(); }
  std::string_view path_of(const DocumentId& document) const { return base_.disk_path(document).text(); }
  static std::string_view path_of(const FoundFile* file) { return file->path.text(); }

  std::size_t max_parts() const {
    std::size_t most = 0;
    for (const DocumentId& document : went_) most = std::max(most, parts_of(path_of(document)));
    return most;
  }
  static std::size_t parts_of(std::string_view path) {
    return static_cast<std::size_t>(std::ranges::count(path, '/')) + 1;
  }
  /// Empty: it has fewer.
  static Key last_parts(std::string_view path, std::size_t parts) {
    const std::size_t all = parts_of(path);
    if (all < parts) return std::nullopt;
    for (std::size_t above = all; above > parts; --above) path.remove_prefix(path.find('/') + 1);
    return path;
  }

  /// Pairs those whose key no other one has on its side, and takes them out.
  template <class KeyOf>
  void pair_by(const KeyOf& key_of, RenamedDocuments& renames) {
    const auto from = by_key(went_, key_of);
    const auto to = by_key(came_, key_of);
    std::set<DocumentId> paired;
    std::set<const FoundFile*> used;
    for (const auto& [key, document] : from) {
      const auto partner = to.find(key);
      if (document == nullptr || partner == to.end() || partner->second == nullptr) continue;
      renames.emplace_back(*document, *partner->second);
      paired.insert(*document);
      used.insert(*partner->second);
    }
    std::erase_if(went_, [&](const DocumentId& document) { return paired.contains(document); });
    std::erase_if(came_, [&](const FoundFile* file) { return used.contains(file); });
  }

  /// Null: several have it.
  template <class Item, class KeyOf>
  std::map<std::string_view, const Item*> by_key(const std::vector<Item>& items, const KeyOf& key_of) const {
    std::map<std::string_view, const Item*> found;
    for (const Item& item : items) {
      const Key key = key_of(path_of(item));
      if (!key) continue;
      const auto [place, is_new] = found.emplace(*key, &item);
      if (!is_new) place->second = nullptr;
    }
    return found;
  }

  const BaseTree& base_;
  std::vector<DocumentId> went_;
  std::vector<const FoundFile*> came_;
};

/// Matches documents and files of equal texts, and takes them out of both lists.
template <class TextOf>
RenamedDocuments equal_texts(const BaseTree& base,
                             const TextOf& text_of,
                             std::vector<DocumentId>& missing,
                             std::vector<const FoundFile*>& created) {
  std::map<Sha256, std::pair<std::vector<DocumentId>, std::vector<const FoundFile*>>> by_text;
  for (const DocumentId& document : missing) {
    if (const Sha256* const text = text_of(document)) by_text[*text].first.push_back(document);
  }
  for (const FoundFile* const file : created) {
    const auto known = by_text.find(file->hash);
    if (known != by_text.end()) known->second.second.push_back(file);
  }
  RenamedDocuments renames;
  for (auto& [text, items] : by_text) {
    if (!items.second.empty()) SameText(base, std::move(items.first), std::move(items.second)).add_renames(renames);
  }
  const std::map<DocumentId, const FoundFile*> matched(renames.begin(), renames.end());
  std::set<const FoundFile*> used;
  for (const auto& [document, file] : matched) used.insert(file);
  std::erase_if(missing, [&](const DocumentId& document) { return matched.contains(document); });
  std::erase_if(created, [&](const FoundFile* file) { return used.contains(file); });
  return renames;
}

struct Profiled {
  std::vector<LineProfile> documents;
  std::vector<LineProfile> files;
};

Profiled profile(const std::vector<DocumentId>& missing,
                 const std::vector<const FoundFile*>& created,
                 const RenameEvidence& evidence) {
  const auto of = [](const std::optional<std::string>& text) { return text ? LineProfile(*text) : LineProfile(); };
  Profiled profiled;
  for (const DocumentId& document : missing) profiled.documents.push_back(of(evidence.base_text(document)));
  for (const FoundFile* file : created) profiled.files.push_back(of(evidence.file_text(file->path)));
  return profiled;
}

/// For each file the documents that share a line with it, lines that everybody has aside.
class Candidates {
 public:
  explicit Candidates(const std::vector<LineProfile>& documents) {
    for (std::size_t i = 0; i < documents.size(); ++i) {
      for (const std::uint64_t line : documents[i].lines()) {
        std::vector<std::size_t>& places = by_line_[line];
        if (places.size() <= common && (places.empty() || places.back() != i)) places.push_back(i);
      }
    }
  }

  std::set<std::size_t> of(const LineProfile& file) const {
    std::set<std::size_t> found;
    for (const std::uint64_t line : file.lines()) {
      const auto places = by_line_.find(line);
      if (places == by_line_.end() || places->second.size() > common) continue;
      found.insert(places->second.begin(), places->second.end());
    }
    return found;
  }

 private:
  static constexpr std::size_t common = 64;  // a line of so many texts tells nothing, and would cost the square
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_line_;
};

RenamedDocuments similar_texts(const std::vector<DocumentId>& missing,
                               const std::vector<const FoundFile*>& created,
                               const RenameEvidence& evidence) {
  if (missing.empty() || created.empty() || !evidence.base_text || !evidence.file_text) return {};
  const Profiled profiled = profile(missing, created, evidence);
  const Candidates candidates(profiled.documents);
  std::vector<int> matches_of_document(missing.size(), 0);
  std::vector<std::pair<std::size_t, std::size_t>> only;  // file, its one document
  for (std::size_t i = 0; i < created.size(); ++i) {
    int matches = 0;
    std::size_t match = 0;
    for (const std::size_t document : candidates.of(profiled.files[i])) {
      if (!is_similar(profiled.documents[document], profiled.files[i])) continue;
      ++matches;
      ++matches_of_document[document];
      match = document;
    }
    if (matches == 1) only.emplace_back(i, match);
  }
  RenamedDocuments renames;
  for (const auto& [file, document] : only) {
    if (matches_of_document[document] == 1) renames.emplace_back(missing[document], created[file]);
  }
  return renames;
}

/// Whether the file at a document's place is a new one, and no edit of the document.
bool is_another_text(const DocumentId& document, const FoundFile& file, const RenameEvidence& evidence) {
  if (!evidence.base_text || !evidence.file_text) return false;
  const auto base = evidence.base_text(document);
  const auto now = evidence.file_text(file.path);
  return base && now && !is_similar(LineProfile(*base), LineProfile(*now));
}

std::string_view without_ends(std::string_view line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  return line;
}

std::size_t shared_lines(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::size_t shared = 0;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (*left == *right) {
      ++shared;
      ++left;
      ++right;
    } else if (*left < *right) {
      ++left;
    } else {
      ++right;
    }
  }
  return shared;
}

}  // namespace

bool is_written_file(const WrittenFile& written, const FoundFile& found) {
  const SameFile same = is_same_file(written.id, found.id);
  return same == SameFile::yes || (same == SameFile::perhaps && written.text == found.hash);
}

RenamedDocuments moved_files(const BaseTree& base,
                             const std::vector<DocumentId>& missing,
                             const std::vector<const FoundFile*>& files,
                             const RenameEvidence& evidence) {
  if (files.empty() || (!evidence.files && !evidence.written)) return {};
  const std::map<FileId, const FoundFile*> numbered = by_number(files);
  std::map<std::string_view, const FoundFile*> by_path;
  for (const FoundFile* file : files) by_path.emplace(file->path.text(), file);
  std::map<const FoundFile*, DocumentId> moved;
  std::set<DocumentId> written;
  for (const auto& [document, known] : evidence.written ? evidence.written() : std::map<DocumentId, WrittenFile>()) {
    const auto file = numbered.find(known.id.number());
    if (!base.documents.contains(document) || file == numbered.end() || !is_written_file(known, *file->second))
      continue;
    written.insert(document);
    if (file->second->path != base.disk_path(document)) moved.emplace(file->second, document);
  }
  for (const auto& [document, id] : evidence.files ? evidence.files() : std::map<DocumentId, FileId>()) {
    const auto entry = base.documents.find(document);
    const auto file = numbered.find(id.number());
    if (entry == base.documents.end() || file == numbered.end() || written.contains(document)) continue;
    // The text confirms the number too where the birth time is another: overlayfs gives a file that it copies up on the
    // first change a new one.
    const bool same_file =
        file->second->hash == entry->second.hash || is_same_file(id, file->second->id) == SameFile::yes;
    if (same_file && file->second->path != base.disk_path(document)) moved.emplace(file->second, document);
  }
  // A document whose own place holds its text, or a file alike, was set aside as a copy: not moved.
  const std::set<DocumentId> gone(missing.begin(), missing.end());
  const auto stays = [&](const auto& pair) {
    if (gone.contains(pair.second)) return false;
    const auto at_home = by_path.find(base.disk_path(pair.second).text());
    if (at_home == by_path.end()) return true;
    return !moved.contains(at_home->second) && !is_another_text(pair.second, *at_home->second, evidence);
  };
  // One that stays may keep the next one of a chain at its place: that one is asked again.
  std::map<std::string_view, const FoundFile*> by_home;
  std::vector<const FoundFile*> asked;
  for (const auto& [file, document] : moved) {
    by_home.emplace(base.disk_path(document).text(), file);
    asked.push_back(file);
  }
  while (!asked.empty()) {
    const auto file = moved.find(asked.back());
    asked.pop_back();
    if (file == moved.end() || !stays(*file)) continue;
    const auto next = by_home.find(file->first->path.text());
    if (next != by_home.end()) asked.push_back(next->second);
    moved.erase(file);
  }
  RenamedDocuments renames;
  for (const auto& [file, document] : moved) renames.emplace_back(document, file);
  return renames;
}

RenamedDocuments alike_files(const BaseTree& base,
                             const std::vector<DocumentId>& missing,
                             const std::vector<const FoundFile*>& created,
                             const RenameEvidence& evidence) {
  if (missing.empty() || created.empty()) return {};
  std::vector<DocumentId> documents = missing;
  std::vector<const FoundFile*> files = created;
  const auto written = evidence.written ? evidence.written() : std::map<DocumentId, WrittenFile>();
  const auto last_written = [&](const DocumentId& document) -> const Sha256* {
    const auto known = written.find(document);
    return known == written.end() ? nullptr : &known->second.text;
  };
  const auto agreed = [&](const DocumentId& document) { return &base.documents.at(document).hash; };
  RenamedDocuments renames = equal_texts(base, last_written, documents, files);
  std::ranges::move(equal_texts(base, agreed, documents, files), std::back_inserter(renames));
  std::ranges::move(similar_texts(documents, files, evidence), std::back_inserter(renames));
  return renames;
}

LineProfile::LineProfile(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_ends(text.substr(0, end));
    if (!line.empty()) lines_.push_back(std::hash<std::string_view>{}(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::sort(lines_.begin(), lines_.end());
}

bool is_similar(const LineProfile& a, const LineProfile& b) {
  const std::size_t longer = std::max(a.lines().size(), b.lines().size());
  if (longer == 0) return false;
  return shared_lines(a.lines(), b.lines()) * 10 >= longer * 6;
}

}  // namespace ws::sync
