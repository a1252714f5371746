#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/markdown.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/questions/question_store.hpp"
#include "server-mock/services/text_index/index.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

// Finds the line or paragraph of a Markdown text that matches search terms. Pure.

constexpr std::size_t max_quote_bytes = 400;

constexpr std::string_view blanks = " \t\r";

struct Line {
  std::string_view text = {};  ///< without marks and surrounding spaces; points into the text
  bool is_prose = false;       ///< a line of a paragraph: may be joined with its neighbours
};

/// Length of an ordered list marker, as in `12. `; 0 if there is none.
std::size_t ordinal_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 9 || digits + 1 >= text.size()) return 0;
  return (text[digits] == '.' || text[digits] == ')') && text[digits + 1] == ' ' ? digits + 2 : 0;
}

/// The text after the marks of quotes, lists and tasks.
std::string_view without_marks(std::string_view text) {
  while (true) {
    text = trimmed(text, blanks);
    std::size_t mark = ordinal_size(text);
    if (text.starts_with('>')) mark = 1;
    for (const std::string_view bullet : {"- ", "* ", "+ ", "[ ] ", "[x] ", "[X] "}) {
      if (text.starts_with(bullet)) mark = bullet.size();
    }
    if (mark == 0) return text;
    text.remove_prefix(mark);
  }
}

bool has_words(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
  });
}

/// All lines of the text; those that cannot be quoted are empty.
std::vector<Line> read_lines(std::string_view text) {
  std::vector<Line> lines;
  bool fenced = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end), blanks);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool fence = line.starts_with("```") || line.starts_with("~~~");
    fenced = fence ? !fenced : fenced;
    if (fence || line.starts_with('#') || !has_words(line)) {
      lines.emplace_back();
      continue;
    }
    const std::string_view bare = without_marks(line);
    lines.push_back({.text = bare, .is_prose = !fenced && bare.size() == line.size() && !line.starts_with('|')});
  }
  return lines;
}

/// The paragraph around a line, as far as it is short enough.
std::string_view widen(const std::vector<Line>& lines, std::size_t at) {
  const auto joined = [](std::string_view first, std::string_view last) {
    return std::string_view(first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data()));
  };
  std::string_view quote = lines[at].text;
  if (!lines[at].is_prose) return quote;
  for (std::size_t i = at; i > 0 && lines[i - 1].is_prose; --i) {
    if (joined(lines[i - 1].text, quote).size() > max_quote_bytes) break;
    quote = joined(lines[i - 1].text, quote);
  }
  for (std::size_t i = at + 1; i < lines.size() && lines[i].is_prose; ++i) {
    if (joined(quote, lines[i].text).size() > max_quote_bytes) break;
    quote = joined(quote, lines[i].text);
  }
  return quote;
}

/// A part of a long line that begins a few words before the first term.
std::string_view shorten(std::string_view line, const std::vector<Term>& terms) {
  if (line.size() <= max_quote_bytes) return line;
  const std::vector<utf8::Word> words = utf8::words(line);
  std::size_t begin = 0;
  for (std::size_t place = 0; place < words.size() && begin == 0; ++place) {
    const auto stands = [&](const Term& term) { return stands_at(term, words, place); };
    if (std::ranges::any_of(terms, stands)) begin = words[place > 8 ? place - 8 : 0].begin;
  }
  begin = std::min(begin, line.size() - max_quote_bytes);
  const auto inside = [&](std::size_t place) {
    return place < line.size() && (static_cast<unsigned char>(line[place]) & 0xC0U) == 0x80U;
  };
  while (inside(begin)) ++begin;
  std::size_t end = std::min(begin + max_quote_bytes, line.size());
  while (inside(end)) --end;
  return trimmed(line.substr(begin, end - begin), blanks);
}

/// A part of `text` without list and quote marks: where most terms occur, else its beginning. Never a heading, a fence
/// or front matter; empty if there is nothing else.
std::string_view find_quote(std::string_view text, const std::vector<Term>& terms) {
  const std::vector<Line> lines = read_lines(text.substr(markdown::body_offset(text)));
  std::size_t best = lines.size();
  std::size_t most = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].text.empty()) continue;
    const std::size_t found = count_found(terms, utf8::words(lines[i].text));
    if (best != lines.size() && found <= most) continue;
    best = i;
    most = found;
  }
  if (best == lines.size()) return {};
  return shorten(widen(lines, best), terms);
}

constexpr std::size_t max_passages = 4;
constexpr std::size_t max_candidates = 60;
constexpr std::size_t question_title_code_points = 80;
constexpr std::string_view answer_heading = "Answer";

/// A candidate chunk, and how many terms of the prompt it contains.
struct Candidate {
  FoundChunk chunk = {};
  std::size_t found = 0;
};

std::size_t count_in(const FoundChunk& chunk, const std::vector<Term>& terms) {
  std::string all = chunk.title;
  for (const std::string& heading : chunk.heading_path) all += '\n' + heading;
  return count_found(terms, utf8::words(all + '\n' + chunk.text));
}

/// Those that contain enough terms of the prompt: a quarter of them, at most three, and half as many as the best.
Result<std::vector<Candidate>> find_candidates(World& world, const SearchScope& scope, const std::vector<Term>& terms) {
  WS_LET(const std::vector<Hit> hits, rank(world, scope, to_expression(terms, Match::any), max_candidates));
  std::vector<Candidate> candidates;
  std::size_t most = 0;
  for (const Hit& hit : hits) {
    WS_LET(std::optional<FoundChunk> chunk, read_chunk(world, scope, hit.place));
    if (!chunk) continue;
    const std::size_t found = count_in(*chunk, terms);
    most = std::max(most, found);
    candidates.push_back({.chunk = std::move(*chunk), .found = found});
  }
  const std::size_t enough =
      std::max({std::size_t{1}, std::min<std::size_t>(3, (terms.size() + 3) / 4), (most + 1) / 2});
  std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.found < enough; });
  std::ranges::stable_sort(candidates, std::greater{}, &Candidate::found);
  return candidates;
}

/// Whether the artifact contains an answer: "nothing was found" is not quoted.
Result<bool> holds_answer(World& world, const std::string& artifact_id) {
  return has_row(world, "select 1 from questions where artifact_document_id = ? and passages <> '[]'", artifact_id);
}

/// The chunk of an artifact with the answer; a rewritten artifact may have none.
Result<std::optional<FoundChunk>> answer_chunk(World& world, const SearchScope& scope, const std::string& artifact_id) {
  WS_LET(
      const std::vector<std::int64_t> places,
      read_rows(
          world, read_integer, "select place from search_chunks where document_id = ? order by ordinal", artifact_id));
  for (const std::int64_t place : places) {
    WS_LET(std::optional<FoundChunk> chunk, read_chunk(world, scope, place));
    if (chunk && !chunk->heading_path.empty() && chunk->heading_path.back() == answer_heading) return chunk;
  }
  return std::optional<FoundChunk>();
}

/// Escapes text within a link or a heading.
std::string escape(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      safe += ' ';
      continue;
    }
    if (std::string_view("\\`*_[]<>#|").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

/// Quotes each line with `> `, at every line end that Markdown recognizes.
std::string as_quote(std::string_view text) {
  std::string quoted = "> ";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (text[i] == '\n' || text[i] == '\r') {
      quoted += "\n> ";
    } else {
      quoted += text[i];
    }
  }
  return quoted;
}

std::string render_passages(const std::vector<Passage>& passages, Knowledge knowledge) {
  std::string text;
  for (const Passage& passage : passages) {
    if (passage.knowledge != knowledge) continue;
    if (text.empty()) text = knowledge == Knowledge::workspace ? "From the documents:\n" : "From earlier questions:\n";
    text += fmt::format(
        "\n{}\n\n[{}](/v1/documents/{})", as_quote(passage.quote), escape(passage.title), passage.document_id);
    for (const std::string& heading : passage.heading_path) text += " › " + escape(heading);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string_view name(Knowledge knowledge) { return knowledge == Knowledge::workspace ? "workspace" : "memory"; }

Result<std::vector<Passage>> find_passages(
    World& world, const Caller& caller, std::string_view workspace_id, std::string_view prompt, Knowledge knowledge) {
  const std::vector<Term> terms = parse_words(prompt, Fillers::drop);
  std::vector<Passage> passages;
  if (terms.empty()) return passages;
  const SearchScope scope = {.caller = caller,
                             .workspace_id = std::string(workspace_id),
                             .kinds = "document",
                             .corpus = knowledge == Knowledge::workspace ? Corpus::documents : Corpus::artifacts};
  WS_LET(std::vector<Candidate> candidates, find_candidates(world, scope, terms));
  for (Candidate& candidate : candidates) {
    if (passages.size() == max_passages) break;
    FoundChunk& chunk = candidate.chunk;
    if (knowledge == Knowledge::memory) {
      if (std::ranges::find(passages, chunk.document_id, &Passage::document_id) != passages.end()) continue;
      WS_LET(const bool answered, holds_answer(world, chunk.document_id));
      if (!answered) continue;
      WS_LET(std::optional<FoundChunk> answer, answer_chunk(world, scope, chunk.document_id));
      if (answer) chunk = std::move(*answer);
    }
    const std::string_view quote = find_quote(chunk.text, terms);
    if (quote.empty()) continue;
    passages.push_back({.knowledge = knowledge,
                        .document_id = chunk.document_id,
                        .title = chunk.title,
                        .chunk_id = chunk.id,
                        .heading_path = chunk.heading_path,
                        .quote = std::string(quote)});
  }
  return passages;
}

std::string render_answer(const std::vector<Passage>& passages, const std::vector<std::string>& asked) {
  std::string answer = render_passages(passages, Knowledge::workspace);
  const std::string memory = render_passages(passages, Knowledge::memory);
  if (!answer.empty() && !memory.empty()) answer += '\n';
  answer += memory;
  if (!answer.empty()) return answer;
  const bool workspace = std::ranges::find(asked, name(Knowledge::workspace)) != asked.end();
  const bool earlier = std::ranges::find(asked, name(Knowledge::memory)) != asked.end();
  if (!workspace && !earlier) return "No source was asked, so there is no answer.\n";
  return fmt::format("Nothing was found about this in the {}{}{} that you may read.\n",
                     workspace ? "documents" : "",
                     workspace && earlier ? " and the " : "",
                     earlier ? "earlier questions" : "");
}

std::string render_artifact(std::string_view title, std::string_view prompt, std::string_view answer) {
  return fmt::format("# {}\n\n{}\n\n## {}\n\n{}", escape(title), as_quote(prompt), answer_heading, answer);
}

std::string make_title(std::string_view prompt) {
  std::string line;
  for (const char c : prompt) {
    const bool end = c == '\n' || c == '\r';
    if (end && !line.empty()) break;
    const bool space = static_cast<unsigned char>(c) <= 0x20 || c == 0x7F;
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (line.ends_with(' ')) line.pop_back();
  if (line.empty()) return "Question";
  const std::string_view head = utf8::prefix(line, question_title_code_points);
  return head.size() == line.size() ? line : std::string(head) + "…";
}

Json to_json(const std::vector<Passage>& passages) {
  Json list = Json::array();
  for (const Passage& passage : passages) {
    list.push_back({{"knowledge", name(passage.knowledge)},
                    {"document_id", passage.document_id},
                    {"title", passage.title},
                    {"chunk_id", passage.chunk_id},
                    {"heading_path", passage.heading_path},
                    {"quote", passage.quote}});
  }
  return list;
}

std::vector<Passage> parse_passages(const Json& json) {
  std::vector<Passage> passages;
  for (const Json& item : json) {
    const auto text = [&](std::string_view member) { return find_text(item, member).value_or(""); };
    Passage passage = {.knowledge = text("knowledge") == "memory" ? Knowledge::memory : Knowledge::workspace,
                       .document_id = text("document_id"),
                       .title = text("title"),
                       .chunk_id = text("chunk_id"),
                       .heading_path = find_texts(item, "heading_path"),
                       .quote = text("quote")};
    passages.push_back(std::move(passage));
  }
  return passages;
}

}  // namespace ws::mock
