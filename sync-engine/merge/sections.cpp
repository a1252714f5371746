#include "sync-engine/merge/sections.hpp"

#include <algorithm>
#include <set>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/merge/list_entries.hpp"

namespace ws::sync::merge {
namespace {

using SectionLines = std::vector<MarkdownLine>;

bool is_blank(const MarkdownLine& line) { return line.kind == MarkdownLine::Kind::blank; }

Span without_outer_blanks(const SectionLines& lines, Span span) {
  while (!span.empty() && is_blank(lines[span.begin])) ++span.begin;
  while (!span.empty() && is_blank(lines[span.end - 1])) --span.end;
  return span;
}

std::string heading_key(const MarkdownLine& heading) { return utf8::fold_key(trimmed(heading.text, "# \t")); }

struct Section {
  std::string key = {};
  Span span = {};  ///< without blank lines at its ends
};

struct Insertion {
  std::size_t level = 0;  ///< of its first heading; 0: it is not made of sections
  std::vector<Section> sections = {};
  std::size_t blanks = 0;  ///< the more of those at its ends
  std::size_t blanks_above = 0;
  std::size_t blanks_below = 0;
};

/// Whether a fence, a formula or HTML goes on behind these lines.
bool stays_open(const SectionLines& lines, Span span) {
  std::string text;
  for (std::size_t i = span.begin; i < span.end; ++i) text.append(lines[i].text).append("\n");
  const std::string with_end = text + "\nend\n";
  return markdown_lines(with_end).back().kind != MarkdownLine::Kind::prose;
}

Insertion read_insertion(const SectionLines& lines, Span span) {
  const Span inner = without_outer_blanks(lines, span);
  Insertion read{.blanks_above = inner.begin - span.begin, .blanks_below = span.end - inner.end};
  read.blanks = std::max(read.blanks_above, read.blanks_below);
  if (inner.empty() || stays_open(lines, inner)) return {};
  const std::size_t level = heading_level(lines[inner.begin]);
  for (std::size_t i = inner.begin; i < inner.end; ++i) {
    const std::size_t here = heading_level(lines[i]);
    if (here > 0 && here < level) return {};
    if (here == level) read.sections.push_back({.key = heading_key(lines[i]), .span = {i, i}});
    if (!read.sections.empty()) read.sections.back().span.end = i + 1;
  }
  for (Section& each : read.sections) each.span = without_outer_blanks(lines, each.span);
  read.level = level;
  return read;
}

/// Sections of one level and parent around a place.
std::set<std::string> sisters(const SectionLines& lines, Span span, std::size_t level) {
  std::set<std::string> keys;
  const auto take = [&](std::size_t i) {
    const std::size_t here = heading_level(lines[i]);
    if (here == level) keys.insert(heading_key(lines[i]));
    return here == 0 || here >= level;
  };
  for (std::size_t i = span.begin; i-- > 0;) {
    if (!take(i)) break;
  }
  for (std::size_t i = span.end; i < lines.size(); ++i) {
    if (!take(i)) break;
  }
  return keys;
}

bool names_a_release(std::string_view key) {
  if (key.find("unreleased") != std::string_view::npos) return true;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 1; i + 1 < key.size(); ++i) {
    if ((key[i] == '.' || key[i] == '-') && is_digit(key[i - 1]) && is_digit(key[i + 1])) return true;
  }
  return false;
}

std::string text_of(const SectionLines& lines, Span span) {
  std::string text;
  for (std::size_t i = span.begin; i < span.end; ++i) text.append(lines[i].text).append("\n");
  return text;
}

/// Two sections of one heading as one.
std::optional<std::string> united(const SectionLines& ours,
                                  Span our_span,
                                  const SectionLines& theirs,
                                  Span their_span) {
  const std::string text = text_of(ours, our_span);
  if (text == text_of(theirs, their_span)) return text;
  const auto body = [](const SectionLines& lines, Span span) {
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(span.begin);
    return SectionLines(begin + 1, begin + static_cast<std::ptrdiff_t>(span.size()));
  };
  const SectionLines none;
  const SectionLines by_us = body(ours, our_span);
  const SectionLines by_them = body(theirs, their_span);
  if (by_us.empty()) return text_of(theirs, their_span);
  if (by_them.empty()) return text;
  const auto entries = ListEntries(none, by_us, by_them).merge({}, {0, by_us.size()}, {0, by_them.size()});
  if (!entries) return std::nullopt;
  return std::string(ours[our_span.begin].text) + "\n" + *entries;
}

}  // namespace

std::size_t heading_level(const MarkdownLine& line) {
  if (line.kind != MarkdownLine::Kind::prose) return 0;
  const std::size_t level = std::min(line.text.find_first_not_of('#'), line.text.size());
  const bool ends = level == line.text.size() || line.text[level] == ' ' || line.text[level] == '\t';
  return level <= 6 && ends ? level : 0;
}

std::optional<std::string> merge_sections(const std::vector<MarkdownLine>& base,
                                          Span base_span,
                                          const std::vector<MarkdownLine>& ours,
                                          Span our_span,
                                          const std::vector<MarkdownLine>& theirs,
                                          Span their_span) {
  if (!without_outer_blanks(base, base_span).empty()) return std::nullopt;
  const Insertion by_us = read_insertion(ours, our_span);
  const Insertion by_them = read_insertion(theirs, their_span);
  if (by_us.level == 0 || by_us.level != by_them.level) return std::nullopt;
  const auto next = std::find_if(base.begin() + static_cast<std::ptrdiff_t>(base_span.end), base.end(), [](auto& line) {
    return !is_blank(line);
  });
  if (next != base.end() && (heading_level(*next) == 0 || heading_level(*next) > by_us.level)) return std::nullopt;
  std::set<std::string> known = sisters(base, base_span, by_us.level);
  known.merge(sisters(ours, our_span, by_us.level));
  known.merge(sisters(theirs, their_span, by_us.level));
  std::vector<std::string> together;
  std::size_t their_next = 0;
  std::set<std::string_view> used;
  const auto take_theirs_until = [&](std::size_t end) {
    for (; their_next < end; ++their_next) together.push_back(text_of(theirs, by_them.sections[their_next].span));
  };
  for (const Section& mine : by_us.sections) {
    if (known.contains(mine.key) || !used.insert(mine.key).second) return std::nullopt;
    const auto same = std::ranges::find(by_them.sections, mine.key, &Section::key);
    if (same == by_them.sections.end()) {
      together.push_back(text_of(ours, mine.span));
      continue;
    }
    const auto place = static_cast<std::size_t>(same - by_them.sections.begin());
    if (place < their_next) return std::nullopt;
    take_theirs_until(place);
    auto one = united(ours, mine.span, theirs, same->span);
    if (!one) return std::nullopt;
    together.push_back(std::move(*one));
    ++their_next;
  }
  take_theirs_until(by_them.sections.size());
  std::set<std::string_view> of_them;
  bool is_release = false;
  for (const Section& each : by_them.sections) {
    if (known.contains(each.key) || !of_them.insert(each.key).second) return std::nullopt;
    is_release = is_release || (names_a_release(each.key) && !used.contains(each.key));
  }
  for (const Section& each : by_us.sections) {
    if (is_release && names_a_release(each.key)) return std::nullopt;
  }
  std::string text(std::min(by_us.blanks_above, by_them.blanks_above), '\n');
  for (std::size_t i = 0; i < together.size(); ++i) {
    if (i > 0) text.append(std::max(by_us.blanks, by_them.blanks), '\n');
    text += together[i];
  }
  return text.append(std::min(by_us.blanks_below, by_them.blanks_below), '\n');
}

}  // namespace ws::sync::merge
