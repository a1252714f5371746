#include "sync-engine/merge/front_matter.hpp"

#include <set>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "api-client/base/yaml.hpp"
#include "sync-engine/merge/stamps.hpp"

namespace ws::sync::merge {
namespace {

using PieceKind = Piece::Kind;

bool is_inside_value(std::string_view line) {
  return line[0] == ' ' || line[0] == '\t' || line.starts_with("- ") || line == "-\n" || line[0] == ']' ||
         line[0] == '}';
}

std::string_view key_of(std::string_view line) {
  if (line[0] == '"' || line[0] == '\'') {
    const std::size_t close = line.find(line[0], 1);
    if (close == std::string_view::npos || !line.substr(close + 1).starts_with(':')) return {};
    return line.substr(0, close + 1);
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  if (line[colon + 1] != ' ' && line[colon + 1] != '\n') return {};
  std::string_view key = line.substr(0, colon);
  while (key.ends_with(' ')) key.remove_suffix(1);  // "date modified : x" is the key "date modified"
  if (key.starts_with("? ")) return {};
  return key.find_first_of("#{}[],&*!|>%@`\t") == std::string_view::npos ? key : std::string_view();
}

/// The entries of one front matter by key.
class KeyIndex {
 public:
  explicit KeyIndex(const FrontMatter& of) : entries_(of.entries) {
    by_key_.reserve(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) by_key_.emplace(entries_[i].key, i);
  }

  const std::vector<FrontMatterEntry>& entries() const { return entries_; }
  bool has(std::string_view key) const { return by_key_.contains(key); }
  /// Empty where there is no such key.
  std::string_view text(std::string_view key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? std::string_view() : entries_[found->second].text;
  }

 private:
  const std::vector<FrontMatterEntry>& entries_;
  std::unordered_map<std::string_view, std::size_t> by_key_ = {};
};

std::vector<std::string_view> keys_in_both(const KeyIndex& side, const KeyIndex& base) {
  std::vector<std::string_view> keys;
  for (const FrontMatterEntry& entry : side.entries()) {
    if (base.has(entry.key)) keys.push_back(entry.key);
  }
  return keys;
}

/// The keys that are not in the base, by the key of the base that they stand behind ("": before the first).
using NewKeys = std::unordered_map<std::string_view, std::vector<std::string_view>>;

NewKeys new_keys(const KeyIndex& side, const KeyIndex& base) {
  NewKeys news;
  std::string_view last;
  for (const FrontMatterEntry& entry : side.entries()) {
    if (base.has(entry.key)) {
      last = entry.key;
    } else {
      news[last].push_back(entry.key);
    }
  }
  return news;
}

bool is_valid_yaml(std::string_view text) {
  std::string_view rest = text;
  take_line(rest);
  const std::size_t close = rest.rfind('\n', rest.size() - 2);
  return parse_yaml(close == std::string_view::npos ? std::string_view() : rest.substr(0, close + 1)).has_value();
}

/// Merges three lists of keys. Linear in their number.
class KeyMerge {
 public:
  KeyMerge(const FrontMatter& base,
           const FrontMatter& ours,
           const FrontMatter& theirs,
           const std::vector<std::string>& stamps)
      : base_(base),
        ours_(ours),
        theirs_(theirs),
        stamps_(stamps),
        in_base_(base),
        in_ours_(ours),
        in_theirs_(theirs),
        our_news_(new_keys(in_ours_, in_base_)),
        their_news_(new_keys(in_theirs_, in_base_)) {}

  /// Empty: not to be united key by key.
  std::optional<std::vector<Piece>> run() {
    const auto order = merged_order();
    if (!order || !add_fence(base_.opening, ours_.opening, theirs_.opening)) return std::nullopt;
    add_news_after({});
    for (const std::string_view key : *order) {
      add(key);
      add_news_after(key);
    }
    if (!add_fence(base_.closing, ours_.closing, theirs_.closing)) return std::nullopt;
    return std::move(pieces_);
  }

 private:
  /// The keys of the base, in the order of the side that changed it.
  std::optional<std::vector<std::string_view>> merged_order() const {
    const std::vector<std::string_view> in_ours = keys_in_both(in_ours_, in_base_);
    const std::vector<std::string_view> in_theirs = keys_in_both(in_theirs_, in_base_);
    const bool ours_moved = keys_in_both(in_base_, in_ours_) != in_ours;
    const bool theirs_moved = keys_in_both(in_base_, in_theirs_) != in_theirs;
    if (!ours_moved && !theirs_moved) return keys_in_both(in_base_, in_base_);
    if (ours_moved && theirs_moved && in_ours != in_theirs) return std::nullopt;
    const KeyIndex& mover = ours_moved ? in_ours_ : in_theirs_;
    const KeyIndex& other = ours_moved ? in_theirs_ : in_ours_;
    std::vector<std::string_view> wanted = ours_moved ? in_ours : in_theirs;
    for (const FrontMatterEntry& entry : in_base_.entries()) {
      if (!mover.has(entry.key) && other.has(entry.key)) wanted.push_back(entry.key);
    }
    return wanted;
  }

  bool add_fence(std::string_view base, std::string_view ours, std::string_view theirs) {
    if (ours != theirs && ours != base && theirs != base && !base.empty()) return false;
    if (ours != theirs && base.empty()) return false;
    const std::string_view text = ours == base ? theirs : ours;
    if (!text.empty()) pieces_.push_back({.kind = PieceKind::same, .text = std::string(text)});
    return true;
  }

  void add(std::string_view key) {
    const std::string_view base = in_base_.text(key);
    const std::string_view ours = in_ours_.text(key);
    const std::string_view theirs = in_theirs_.text(key);
    Piece piece{.base = std::string(base), .ours = std::string(ours), .theirs = std::string(theirs)};
    if (ours == theirs) {
      piece.kind = ours == base ? PieceKind::same : PieceKind::both;
      piece.text = ours;
    } else if (ours == base) {
      piece.kind = PieceKind::theirs;
      piece.text = theirs;
    } else if (theirs == base) {
      piece.kind = PieceKind::ours;
      piece.text = ours;
    } else if (auto stamp = is_stamp_key(key, stamps_) ? later_stamp(base, ours, theirs) : std::nullopt) {
      piece.kind = PieceKind::merged;
      piece.reason = Piece::Reason::stamp;
      piece.text = std::move(*stamp);
    } else {
      piece.kind = PieceKind::conflict;
      piece.reason = Piece::Reason::collide;
    }
    if (piece.kind == PieceKind::same) piece = {.text = std::move(piece.text)};
    pieces_.push_back(std::move(piece));
  }

  void add_news_after(std::string_view key) {
    const auto ours = our_news_.find(key);
    const auto theirs = their_news_.find(key);
    const std::vector<std::string_view> none;
    const auto* first = ours == our_news_.end() ? &none : &ours->second;
    const auto* second = theirs == their_news_.end() ? &none : &theirs->second;
    if (!first->empty() && !second->empty() && second->front() < first->front()) std::swap(first, second);
    for (const auto* news : {first, second}) {
      for (const std::string_view one : *news) {
        if (added_.insert(one).second) add(one);
      }
    }
  }

  const FrontMatter& base_;
  const FrontMatter& ours_;
  const FrontMatter& theirs_;
  const std::vector<std::string>& stamps_;
  KeyIndex in_base_;
  KeyIndex in_ours_;
  KeyIndex in_theirs_;
  NewKeys our_news_;
  NewKeys their_news_;
  std::set<std::string_view> added_ = {};
  std::vector<Piece> pieces_ = {};
};

std::vector<Piece> one_piece(PieceKind kind, std::string_view text) {
  if (text.empty()) return {};
  return {{.kind = kind, .text = std::string(text)}};
}

std::vector<Piece> key_collision(std::string_view base, std::string_view ours, std::string_view theirs) {
  return {{.kind = PieceKind::conflict,
           .base = std::string(base),
           .ours = std::string(ours),
           .theirs = std::string(theirs),
           .reason = Piece::Reason::collide}};
}

Result<std::vector<Piece>> merge_by_lines(std::string_view base, std::string_view ours, std::string_view theirs) {
  WS_LET(const std::optional<std::string> merged, merge_lines(base, ours, theirs));
  return merged ? one_piece(PieceKind::merged, *merged) : key_collision(base, ours, theirs);
}

/// What all three could be read as, the result can be read as.
bool is_sound(const std::vector<Piece>& pieces, std::string_view ours, std::string_view theirs) {
  std::string text;
  for (const Piece& piece : pieces) {
    if (piece.kind == PieceKind::conflict) return true;
    text += piece.text;
  }
  return text.empty() || is_valid_yaml(text) || !is_valid_yaml(ours) || !is_valid_yaml(theirs);
}

}  // namespace

std::optional<FrontMatter> read_front_matter(std::string_view text) {
  FrontMatter read;
  std::set<std::string_view> keys;
  if (text.empty()) return read;
  read.opening = take_line(text);
  const char* begin = text.data();  // of the entry to come, its comments included
  std::string_view key;
  const auto close_entry = [&](const char* end) {
    if (!key.empty()) read.entries.push_back({.key = key, .text = {begin, static_cast<std::size_t>(end - begin)}});
    if (!key.empty()) begin = end;
    key = {};
  };
  const char* comments = nullptr;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const bool is_end = text.empty();
    const bool is_comment = line[0] == '#' || line[0] == '\n';
    if (!is_end && is_comment) {
      if (comments == nullptr) comments = line.data();
      continue;
    }
    if (!is_end && is_inside_value(line)) {
      if (key.empty()) return std::nullopt;
      comments = nullptr;
      continue;
    }
    close_entry(comments == nullptr ? line.data() : comments);
    comments = nullptr;
    if (is_end) {
      read.closing = {begin, static_cast<std::size_t>(line.data() + line.size() - begin)};
      break;
    }
    key = key_of(line);
    if (key.empty() || !keys.insert(key).second) return std::nullopt;
  }
  return read;
}

Result<std::vector<Piece>> merge_front_matter(std::string_view base,
                                              std::string_view ours,
                                              std::string_view theirs,
                                              const std::vector<std::string>& stamps) {
  const auto whole = [&](PieceKind kind, std::string_view text) {
    return std::vector<Piece>{{.kind = kind,
                               .text = std::string(text),
                               .base = std::string(base),
                               .ours = std::string(ours),
                               .theirs = std::string(theirs)}};
  };
  if (ours == theirs) return ours == base ? one_piece(PieceKind::same, ours) : whole(PieceKind::both, ours);
  if (ours == base) return whole(PieceKind::theirs, theirs);
  if (theirs == base) return whole(PieceKind::ours, ours);
  if (ours.empty() || theirs.empty()) return key_collision(base, ours, theirs);
  const auto read_base = read_front_matter(base);
  const auto read_ours = read_front_matter(ours);
  const auto read_theirs = read_front_matter(theirs);
  if (!read_base || !read_ours || !read_theirs) return merge_by_lines(base, ours, theirs);
  auto pieces = KeyMerge(*read_base, *read_ours, *read_theirs, stamps).run();
  if (!pieces || !is_sound(*pieces, ours, theirs)) return key_collision(base, ours, theirs);
  return std::move(*pieces);
}

}  // namespace ws::sync::merge
