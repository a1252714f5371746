#include "cli/output/search_page.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/output/format.hpp"
#include "cli/output/human.hpp"
#include "cli/output/styled_text.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t wide_enough_for_a_table = 120;
constexpr std::size_t widest_card = 100;
constexpr std::size_t widest_title = 40;
constexpr std::size_t max_snippet_lines = 3;
constexpr std::size_t card_indent = 2;

struct Found {
  std::string title = {};
  std::string kind = {};
  std::string score = {};
  std::string path = {};
  std::string snippet = {};
  std::string id = {};
  std::string shown_id = {};  ///< the last characters of the id, as shown
};

std::string text_at(const Json& item, std::string_view key) {
  return clean(find_text(item, key).value_or(""), Breaks::space);
}

Found read(const Json& item, ViewContext& context) {
  Found found{.title = text_at(item, "title"), .kind = text_at(item, "kind"), .snippet = text_at(item, "snippet")};
  if (const Json* score = find(item, "score"); score != nullptr && score->is_number()) {
    found.score = fmt::format("{:.3f}", score->get<double>());
  }
  if (const Json* steps = find(item, "heading_path"); steps != nullptr && steps->is_array()) {
    for (const Json& step : *steps) {
      found.path += (found.path.empty() ? "" : " › ") + clean(plain_text(step), Breaks::space);
    }
  }
  found.id = text_at(item, "document_id");
  if (found.id.empty()) found.id = text_at(item, "node_id");
  if (!found.id.empty()) context.shown_ids.insert(found.id);
  found.shown_id = context.has_person ? short_id(found.id) : found.id;
  return found;
}

std::set<std::string> keys_of(const std::string& query) {
  std::set<std::string> keys;
  for (utf8::Word& word : utf8::words(query)) keys.insert(std::move(word.key));
  return keys;
}

/// Calls `add(text, look)` for each word of the query in the text and for the text between them.
template <class Add>
void mark(std::string_view text, const std::set<std::string>& keys, Add add) {
  std::size_t at = 0;
  for (const utf8::Word& word : utf8::words(text)) {
    if (!keys.contains(word.key)) continue;
    if (word.begin > at) add(text.substr(at, word.begin - at), Look::plain);
    add(text.substr(word.begin, word.end - word.begin), Look::match);
    at = word.end;
  }
  if (at < text.size()) add(text.substr(at), Look::plain);
}

/// The part of the text around the first match, if truncation would hide the match.
std::string_view around_match(std::string_view text, const std::set<std::string>& keys, std::size_t columns) {
  if (utf8::columns(text) <= columns) return text;
  for (const utf8::Word& word : utf8::words(text)) {
    if (!keys.contains(word.key)) continue;
    if (utf8::columns(text.substr(0, word.end)) < columns) return text;
    std::size_t begin = word.begin;
    while (begin > 0 && utf8::columns(text.substr(begin, word.end - begin)) < columns / 2) --begin;
    begin = text.find(' ', begin);
    return begin < word.begin ? text.substr(begin + 1) : text.substr(word.begin);
  }
  return text;
}

std::string card(const Found& found, const std::set<std::string>& keys, const Terminal& terminal) {
  const std::size_t columns = std::min(static_cast<std::size_t>(terminal.columns()), widest_card);
  const std::string facts = "  " + found.score + (found.kind.empty() ? "" : "  " + found.kind);
  const std::size_t room = columns - std::min(columns / 2, utf8::columns(facts));
  std::string text = terminal.paint(Stream::out, Look::strong, cut(found.title, room)) +
                     terminal.paint(Stream::out, Look::faint, facts) + "\n";
  const auto line = [&](const std::string& inner) { text += std::string(card_indent, ' ') + inner + "\n"; };
  if (!found.path.empty() && found.path != found.title) {
    line(terminal.paint(Stream::out, Look::faint, cut(found.path, columns - card_indent)));
  }
  StyledText snippet;
  const std::string_view shown =
      around_match(found.snippet, keys, max_snippet_lines * (columns - card_indent) * 9 / 10);
  if (shown.size() < found.snippet.size()) snippet.add("… ", Look::faint);
  mark(shown, keys, [&](std::string_view piece, Look look) { snippet.add(piece, look); });
  std::size_t count = 0;
  const std::vector<StyledLine> lines = snippet.lines(columns - card_indent - 2, terminal);
  for (const StyledLine& one : lines) {
    const bool last = ++count == max_snippet_lines;
    line(one.text + (last && lines.size() > count ? " …" : ""));
    if (last) break;
  }
  line(terminal.paint(Stream::out, Look::faint, found.id));
  return text;
}

std::string table(const std::vector<Found>& results, const std::set<std::string>& keys, const Terminal& terminal) {
  constexpr std::size_t gap = 2;
  std::size_t title = utf8::columns("TITLE");
  std::size_t id = utf8::columns("ID");
  std::size_t score = utf8::columns("SCORE");
  for (const Found& one : results) {
    title = std::min(widest_title, std::max(title, utf8::columns(one.title)));
    id = std::max(id, utf8::columns(one.shown_id));
    score = std::max(score, one.score.size());
  }
  const auto columns = static_cast<std::size_t>(terminal.columns());
  const std::size_t room = columns - std::min(columns - 20, title + score + id + 3 * gap);
  const std::string between(gap, ' ');
  std::string text = fit("TITLE", title) + between + fit("SNIPPET", room) + between;
  text = terminal.paint(Stream::out, Look::strong, text + fit("SCORE", score) + between + "ID") + "\n";
  for (const Found& one : results) {
    text.append(fit(one.title, title)).append(between);
    const std::string_view shown = around_match(one.snippet, keys, room);
    const std::string cell = fit(fmt::format("{}{}", shown.size() < one.snippet.size() ? "… " : "", shown), room);
    mark(cell, keys, [&](std::string_view piece, Look look) { text += terminal.paint(Stream::out, look, piece); });
    text.append(between).append(fit(one.score, score)).append(between);
    text += terminal.paint(Stream::out, Look::faint, one.shown_id) + "\n";
  }
  return text;
}

}  // namespace

std::string render_search_results(const Json& items, ViewContext& context, const Terminal& terminal) {
  std::vector<Found> results;
  for (const Json& item : items) results.push_back(read(item, context));
  const auto query = context.known.find("query");
  const std::set<std::string> keys = query == context.known.end() ? std::set<std::string>() : keys_of(query->second);
  if (results.empty()) return {};
  if (!terminal.is_plain() && static_cast<std::size_t>(terminal.columns()) >= wide_enough_for_a_table) {
    return table(results, keys, terminal);
  }
  std::string text;
  for (const Found& one : results) text += (text.empty() ? "" : "\n") + card(one, keys, terminal);
  return text;
}

}  // namespace ws::cli
