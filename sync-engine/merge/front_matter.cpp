#include "sync-engine/merge/front_matter.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "api-client/base/yaml.hpp"
#include "sync-engine/git/merge_text.hpp"

namespace ws::sync::merge {
namespace {

using PieceKind = Piece::Kind;

/// The line up to and with its newline.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == std::string_view::npos ? text.size() : end + 1);
  text.remove_prefix(line.size());
  return line;
}

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
  const std::string_view key = line.substr(0, colon);
  return key.find_first_of("#{}[],&*!|>%@` \t") == std::string_view::npos ? key : std::string_view();
}

const FrontMatterEntry* find_entry(const FrontMatter& in, std::string_view key) {
  const auto found = std::ranges::find(in.entries, key, &FrontMatterEntry::key);
  return found == in.entries.end() ? nullptr : &*found;
}

std::vector<std::string_view> keys_in_both(const FrontMatter& side, const FrontMatter& base) {
  std::vector<std::string_view> keys;
  for (const FrontMatterEntry& entry : side.entries) {
    if (find_entry(base, entry.key) != nullptr) keys.push_back(entry.key);
  }
  return keys;
}

bool is_valid_yaml(std::string_view text) {
  std::string_view rest = text;
  take_line(rest);
  const std::size_t close = rest.rfind("\n", rest.size() - 2);
  return parse_yaml(close == std::string_view::npos ? std::string_view() : rest.substr(0, close + 1)).has_value();
}

/// Merges three lists of keys; `failed()` where their order or the fences cannot be united.
class KeyMerge {
 public:
  KeyMerge(const FrontMatter& base, const FrontMatter& ours, const FrontMatter& theirs)
      : base_(base), ours_(ours), theirs_(theirs) {}

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
    std::vector<std::string_view> order;
    for (const FrontMatterEntry& entry : base_.entries) order.push_back(entry.key);
    const auto moved = [&](const FrontMatter& side) {
      std::vector<std::string_view> before;
      for (const std::string_view key : order) {
        if (find_entry(side, key) != nullptr) before.push_back(key);
      }
      return before != keys_in_both(side, base_);
    };
    const bool ours_moved = moved(ours_);
    const bool theirs_moved = moved(theirs_);
    if (!ours_moved && !theirs_moved) return order;
    const FrontMatter& mover = ours_moved ? ours_ : theirs_;
    const FrontMatter& other = ours_moved ? theirs_ : ours_;
    if (ours_moved && theirs_moved && keys_in_both(ours_, base_) != keys_in_both(theirs_, base_)) return std::nullopt;
    std::vector<std::string_view> wanted = keys_in_both(mover, base_);
    for (const std::string_view key : order) {
      const bool is_removed = find_entry(mover, key) == nullptr;
      if (is_removed && find_entry(other, key) != nullptr) wanted.push_back(key);
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
    const auto text_in = [&](const FrontMatter& in) {
      const FrontMatterEntry* entry = find_entry(in, key);
      return entry == nullptr ? std::string_view() : entry->text;
    };
    const std::string_view base = text_in(base_);
    const std::string_view ours = text_in(ours_);
    const std::string_view theirs = text_in(theirs_);
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
    } else {
      piece.kind = PieceKind::conflict;
    }
    if (piece.kind == PieceKind::same) piece = {.text = std::move(piece.text)};
    pieces_.push_back(std::move(piece));
  }

  /// The new keys that a side put behind `key`.
  std::vector<std::string_view> news_after(const FrontMatter& side, std::string_view key) const {
    std::vector<std::string_view> news;
    std::string_view last;
    for (const FrontMatterEntry& entry : side.entries) {
      if (find_entry(base_, entry.key) != nullptr) {
        last = entry.key;
      } else if (last == key) {
        news.push_back(entry.key);
      }
    }
    return news;
  }

  void add_news_after(std::string_view key) {
    std::vector<std::string_view> first = news_after(ours_, key);
    std::vector<std::string_view> second = news_after(theirs_, key);
    if (!first.empty() && !second.empty() && second.front() < first.front()) std::swap(first, second);
    for (const auto& news : {first, second}) {
      for (const std::string_view one : news) {
        if (added_.insert(one).second) add(one);
      }
    }
  }

  const FrontMatter& base_;
  const FrontMatter& ours_;
  const FrontMatter& theirs_;
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
           .theirs = std::string(theirs)}};
}

Result<std::vector<Piece>> merge_lines(std::string_view base, std::string_view ours, std::string_view theirs) {
  WS_LET(const std::optional<std::string> merged, git::merge_text(base, ours, theirs));
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
    if (key.empty() || find_entry(read, key) != nullptr) return std::nullopt;
  }
  return read;
}

Result<std::vector<Piece>> merge_front_matter(std::string_view base, std::string_view ours, std::string_view theirs) {
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
  if (!read_base || !read_ours || !read_theirs) return merge_lines(base, ours, theirs);
  auto pieces = KeyMerge(*read_base, *read_ours, *read_theirs).run();
  if (!pieces || !is_sound(*pieces, ours, theirs)) return key_collision(base, ours, theirs);
  return std::move(*pieces);
}

}  // namespace ws::sync::merge
