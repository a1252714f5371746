#include "sync-engine/merge/inside_lines.hpp"

#include <algorithm>
#include <map>

namespace ws::sync::merge {
namespace {

using Sort = Token::Sort;

bool holds_code(const LinesOf& side) {
  const auto begin = side.lines.begin() + static_cast<std::ptrdiff_t>(side.span.begin);
  const auto end = side.lines.begin() + static_cast<std::ptrdiff_t>(side.span.end);
  return std::any_of(begin, end, [](const MarkdownLine& line) { return line.kind == MarkdownLine::Kind::code; });
}

struct TokenText {
  std::vector<Token> tokens = {};
  Sequence sequence = {};
};

/// Equal keys get equal numbers, whichever text they stand in.
class TokenNumbers {
 public:
  TokenText read(const LinesOf& side) {
    TokenText text{.tokens = markdown_tokens(side.lines, side.span)};
    bool at_line = true;
    for (const Token& token : text.tokens) {
      const auto next = static_cast<std::uint32_t>(known_.size());
      text.sequence.keys.push_back(known_.try_emplace(token.key, next).first->second);
      text.sequence.starts.push_back(at_line);
      at_line = token.sort == Sort::mark && token.key == "\n";
    }
    text.sequence.starts.push_back(at_line);
    return text;
  }

 private:
  std::map<std::string, std::uint32_t> known_ = {};
};

std::vector<bool> anchors_of(const std::vector<Token>& tokens) {
  std::vector<bool> anchors;
  anchors.reserve(tokens.size());
  for (const Token& token : tokens) anchors.push_back(token.sort == Sort::mark || token.sort == Sort::word);
  return anchors;
}

/// Of the three ways to write one thing: the one that a side changed. Both did: the smaller, whoever asks.
std::string_view written(const Token& base, const Token& ours, const Token& theirs) {
  if (ours.raw == base.raw) return theirs.raw;
  if (theirs.raw == base.raw) return ours.raw;
  return std::min(ours.raw, theirs.raw);
}

std::size_t words_in(const std::vector<Token>& tokens, Span span) {
  const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(span.begin);
  const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(span.end);
  return static_cast<std::size_t>(
      std::count_if(begin, end, [](const Token& token) { return token.sort == Sort::word; }));
}

/// How much of one stretch between two marks (a sentence, a cell, an item) each side wrote anew.
class Rewriting {
 public:
  Rewriting(const TokenText& base, const TokenText& ours, const TokenText& theirs)
      : base_(base),
        ours_(ours),
        theirs_(theirs),
        of_(stretches(base.tokens)),
        stretches_(of_.empty() ? 1 : of_.back() + 1) {
    for (std::size_t i = 0; i < base_.tokens.size(); ++i) {
      if (base_.tokens[i].sort == Sort::word) ++stretches_[of_[i]].words;
    }
  }

  void add(const Region& region) {
    if (region.kind == Region::Kind::ours) add(region.base, words_in(ours_.tokens, region.ours), &Stretch::ours);
    if (region.kind == Region::Kind::theirs)
      add(region.base, words_in(theirs_.tokens, region.theirs), &Stretch::theirs);
  }

  /// Both are at work in a stretch of which one left less than half.
  bool is_doubtful() const {
    return std::ranges::any_of(stretches_, [](const Stretch& stretch) {
      return stretch.words > 1 && stretch.ours > 0 && stretch.theirs > 0 &&
             std::max(stretch.ours, stretch.theirs) * 2 > stretch.words + 1;
    });
  }

 private:
  struct Stretch {
    std::size_t words = 0;
    std::size_t ours = 0;  ///< words that went or came
    std::size_t theirs = 0;
  };

  static std::vector<std::size_t> stretches(const std::vector<Token>& tokens) {
    std::vector<std::size_t> of;
    std::size_t current = 0;
    for (const Token& token : tokens) {
      of.push_back(current);
      if (token.sort == Sort::mark) ++current;
    }
    return of;
  }

  void add(Span base, std::size_t inserted, std::size_t Stretch::*side) {
    const std::size_t home = base.begin < of_.size() ? of_[base.begin] : stretches_.size() - 1;
    if (base.empty()) {
      stretches_[home].*side += inserted;
      return;
    }
    for (std::size_t i = base.begin; i < base.end; ++i) {
      if (base_.tokens[i].sort == Sort::word) ++(stretches_[of_[i]].*side);
    }
  }

  const TokenText& base_;
  const TokenText& ours_;
  const TokenText& theirs_;
  std::vector<std::size_t> of_;  ///< the stretch of each token of the base
  std::vector<Stretch> stretches_;
};

/// A word that both brought in at different places of these few lines, one of them where nothing stood: the same
/// change, read in two ways.
class SameNews {
 public:
  SameNews(const std::vector<Region>& regions, const TokenText& ours, const TokenText& theirs) {
    for (const Region& region : regions) {
      if (region.kind == Region::Kind::ours) collect(region, ours, region.ours, our_words_);
      if (region.kind == Region::Kind::theirs) collect(region, theirs, region.theirs, their_words_);
    }
  }

  bool any() const {
    return std::ranges::any_of(our_words_, [&](const auto& word) {
      const auto same = their_words_.find(word.first);
      return same != their_words_.end() && (word.second || same->second);
    });
  }

 private:
  using Words = std::map<std::uint32_t, bool>;  ///< whether it came in where nothing stood

  static void collect(const Region& region, const TokenText& side, Span span, Words& words) {
    for (std::size_t i = span.begin; i < span.end; ++i) {
      if (side.tokens[i].sort != Sort::word) continue;
      bool& is_inserted = words.try_emplace(side.sequence.keys[i], false).first->second;
      is_inserted = is_inserted || region.base.empty();
    }
  }

  Words our_words_ = {};
  Words their_words_ = {};
};

void append(std::string& text, const std::vector<Token>& tokens, Span span) {
  for (std::size_t i = span.begin; i < span.end; ++i) text += tokens[i].raw;
}

void append_same(
    std::string& text, const Region& region, const TokenText& base, const TokenText& ours, const TokenText& theirs) {
  for (std::size_t i = 0; i < region.base.size(); ++i) {
    text += written(
        base.tokens[region.base.begin + i], ours.tokens[region.ours.begin + i], theirs.tokens[region.theirs.begin + i]);
  }
}

}  // namespace

Result<std::optional<std::string>> merge_inside_lines(const LinesOf& base, const LinesOf& ours, const LinesOf& theirs) {
  using Merged = std::optional<std::string>;
  if (base.span.empty() || holds_code(base) || holds_code(ours) || holds_code(theirs)) return Merged();
  TokenNumbers numbers;
  const TokenText in_base = numbers.read(base);
  const TokenText in_ours = numbers.read(ours);
  const TokenText in_theirs = numbers.read(theirs);
  WS_LET(const std::vector<Region> regions,
         three_way(in_base.sequence, in_ours.sequence, in_theirs.sequence, anchors_of(in_base.tokens)));
  if (SameNews(regions, in_ours, in_theirs).any()) return Merged();
  Rewriting rewriting(in_base, in_ours, in_theirs);
  std::string text;
  for (const Region& region : regions) {
    rewriting.add(region);
    switch (region.kind) {
      case Region::Kind::same: append_same(text, region, in_base, in_ours, in_theirs); break;
      case Region::Kind::ours: append(text, in_ours.tokens, region.ours); break;
      case Region::Kind::both:
        // Alike but for how a thing is written (a number, a cell's padding): the smaller, whoever asks.
        for (std::size_t i = 0; i < region.ours.size(); ++i) {
          text += std::min(in_ours.tokens[region.ours.begin + i].raw, in_theirs.tokens[region.theirs.begin + i].raw);
        }
        break;
      case Region::Kind::theirs: append(text, in_theirs.tokens, region.theirs); break;
      case Region::Kind::conflict: return Merged();
    }
  }
  if (rewriting.is_doubtful()) return Merged();
  return Merged(std::move(text));
}

}  // namespace ws::sync::merge
