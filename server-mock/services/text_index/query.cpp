#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "server-mock/services/text_index/index.hpp"

namespace ws::mock {
namespace {

/// Shorter words match only whole words.
constexpr std::size_t shortest_prefix = 3;

// Stop words of questions. (English, German, French; other languages have none.)
constexpr std::string_view fillers[] = {
    "a",    "about", "after", "all",   "am",    "an",     "and", "any",  "are",   "as",   "at",     "au",   "auf",
    "be",   "but",   "by",    "can",   "ce",    "could",  "das", "de",   "dem",   "den",  "der",    "des",  "did",
    "die",  "do",    "does",  "du",    "ein",   "eine",   "er",  "es",   "est",   "et",   "for",    "from", "had",
    "has",  "have",  "he",    "her",   "his",   "how",    "i",   "ich",  "if",    "il",   "im",     "in",   "into",
    "is",   "ist",   "it",    "its",   "je",    "l",      "la",  "le",   "les",   "many", "me",     "mit",  "much",
    "must", "my",    "no",    "not",   "of",    "on",     "or",  "ou",   "our",   "par",  "please", "pour", "qu",
    "que",  "qui",   "s",     "shall", "she",   "should", "sie", "sind", "so",    "t",    "tell",   "than", "that",
    "the",  "their", "them",  "there", "they",  "this",   "to",  "un",   "und",   "une",  "us",     "von",  "was",
    "we",   "were",  "what",  "when",  "where", "which",  "who", "whom", "whose", "why",  "wie",    "will", "with",
    "wo",   "would", "you",   "your",  "zu",
};

bool is_filler(const utf8::Word& word) { return std::ranges::find(fillers, word.key) != std::end(fillers); }

bool may_begin(const utf8::Word& word) { return !word.alone && utf8::code_points(word.key) >= shortest_prefix; }

void add_once(std::vector<Term>& terms, Term term) {
  if (terms.size() < max_terms && std::ranges::find(terms, term) == terms.end()) terms.push_back(std::move(term));
}

std::string to_phrase(const Term& term) { return fmt::format("\"{}\"", fmt::join(term.keys, " ")); }

}  // namespace

std::vector<Term> parse_terms(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n\f\v";
  std::vector<Term> terms;
  while (true) {
    const std::size_t begin = text.find_first_not_of(spaces);
    if (begin == std::string_view::npos) return terms;
    text.remove_prefix(begin);
    const std::string_view piece = text.substr(0, text.find_first_of(spaces));
    text.remove_prefix(piece.size());
    Term term;
    for (utf8::Word& word : utf8::words(piece)) {
      term.is_prefix = may_begin(word);
      if (term.keys.size() < max_terms) term.keys.push_back(std::move(word.key));
    }
    if (!term.keys.empty()) add_once(terms, std::move(term));
  }
}

std::vector<Term> parse_words(std::string_view text, Fillers mode) {
  const std::vector<utf8::Word> words = utf8::words(text);
  const bool drop = mode == Fillers::drop && !std::ranges::all_of(words, is_filler);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < words.size() && terms.size() < max_terms; ++i) {
    const utf8::Word& word = words[i];
    const auto adjoins = [&](std::size_t a, std::size_t b) {
      return b < words.size() && words[a].alone && words[b].alone && words[a].end == words[b].begin;
    };
    if (adjoins(i, i + 1)) {
      add_once(terms, {.keys = {word.key, words[i + 1].key}});
    } else if (i == 0 || !adjoins(i - 1, i)) {
      if (!drop || !is_filler(word)) add_once(terms, {.keys = {word.key}, .is_prefix = may_begin(word)});
    }
  }
  return terms;
}

std::string to_expression(const std::vector<Term>& terms, Match match) {
  std::string expression;
  for (const Term& term : terms) {
    if (!expression.empty()) expression += match == Match::all ? " AND " : " OR ";
    const std::string phrase = to_phrase(term);
    // Exact matches count twice, longer forms once.
    expression += term.is_prefix ? fmt::format("({0} OR {0} *)", phrase) : phrase;
  }
  return expression;
}

bool stands_at(const Term& term, const std::vector<utf8::Word>& words, std::size_t place) {
  if (place + term.keys.size() > words.size()) return false;
  for (std::size_t i = 0; i < term.keys.size(); ++i) {
    const std::string& key = words[place + i].key;
    const bool last = i + 1 == term.keys.size();
    if (last && term.is_prefix ? !key.starts_with(term.keys[i]) : key != term.keys[i]) return false;
  }
  return true;
}

std::size_t count_found(const std::vector<Term>& terms, const std::vector<utf8::Word>& words) {
  std::size_t count = 0;
  for (const Term& term : terms) {
    for (std::size_t place = 0; place < words.size(); ++place) {
      if (!stands_at(term, words, place)) continue;
      ++count;
      break;
    }
  }
  return count;
}

}  // namespace ws::mock
