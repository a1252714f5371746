// Every text of the corpus through everything that takes a text from outside: the time grows with the length, not with
// its square. `WS_BOUNDS=BYTES` sets the length (CI: 32 KiB; `./dev soak`: 8 MiB).
#include "tests/bounds/freezing_texts.hpp"

#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/json_items.hpp"
#include "api-client/base/markdown.hpp"
#include "api-client/base/yaml.hpp"
#include "cli/output/markdown_page.hpp"
#include "cli/output/search_page.hpp"
#include "cli/terminal/qr_code.hpp"
#include "cli/terminal/table.hpp"
#include "cli/walk/diff_rows.hpp"
#include "sync-engine/git/changed_lines.hpp"
#include "sync-engine/links/references.hpp"
#include "sync-engine/merge/merge.hpp"
#include "sync-engine/reconcile/renames.hpp"
#include "sync-engine/tree/wildmatch.hpp"
#include "tests/support/random_cases.hpp"

namespace ws::test {
namespace {

using sync::merge::merge_markdown;

/// With a word put in every `every` lines, or in the middle of a text of one line.
std::string edited(const std::string& text, std::size_t every, std::size_t offset, const char* word) {
  std::string out;
  std::size_t line = 0;
  for (const char c : text) {
    out += c;
    if (c == '\n' && ++line % every == offset) out += word;
  }
  if (line < 2) out.insert(out.size() / 2, word);
  return out;
}

cli::Terminal terminal() { return cli::Terminal({.columns = 80}, cli::Environment()); }

struct Reader {
  const char* name = "";
  void (*read)(const std::string& text) = nullptr;
  std::size_t share = 1;  ///< in CI the texts are so many times shorter: it does more for each byte
};

void merge_edits(const std::string& text) {
  static_cast<void>(merge_markdown(text, edited(text, 7, 1, "ours "), edited(text, 5, 2, "theirs ")));
}

void merge_shuffled(const std::string& text) {
  static_cast<void>(merge_markdown(text, shuffled_lines(text, 1), shuffled_lines(text, 2)));
}

/// Every word is another one.
void merge_changed_words(const std::string& text) {
  std::string ours = text;
  std::string theirs = text;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] >= '0' && text[at] <= '9') {
      ours[at] = static_cast<char>('9' - (text[at] - '0'));
      theirs[at] = static_cast<char>('0' + (text[at] - '0' + 3) % 10);
    }
  }
  static_cast<void>(merge_markdown(text, ours, theirs));
}

void read_items(const std::string& text) {
  JsonItems items("data", [](const Json&) { return Result<void>(); });
  const std::string whole = R"({"data":[)" + text + "]}";
  for (std::size_t at = 0; at < whole.size(); at += 1000) {
    if (!items.feed(std::string_view(whole).substr(at, 1000))) return;
  }
  static_cast<void>(items.finish());
}

void render_tables(const std::string& text) {
  std::vector<cli::Cells> rows;
  for (std::size_t at = 0; at < text.size(); at += 1000) {
    const std::size_t half = at + std::min<std::size_t>(500, text.size() - at);
    rows.push_back({text.substr(at, 500), text.substr(half, 500)});
  }
  static_cast<void>(cli::render_table({"a", "b"}, rows, terminal()));
  static_cast<void>(cli::render_table({"a", "b"}, {{text, text}}, terminal()));
  static_cast<void>(cli::wrap(text, 80, 2));
}

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {"Markdown", [](const std::string& text) { static_cast<void>(markdown::parse(text)); }},
      {"plain text", [](const std::string& text) { static_cast<void>(markdown::plain_text(text)); }},
      {"sections",
       [](const std::string& text) {
         static_cast<void>(markdown::sections(text, 1000));
         static_cast<void>(markdown::first_heading(text));
       }},
      {"page on a terminal",
       [](const std::string& text) { static_cast<void>(cli::render_markdown(text, terminal())); }},
      {"search result on a terminal",
       [](const std::string& text) {
         const Json items = Json::array({Json{{"title", text.substr(0, 1000)}, {"snippet", text}}});
         cli::ViewContext context{.known = {{"query", "a x line"}}};
         static_cast<void>(cli::render_search_results(items, context, terminal()));
       }},
      {"merge of edits", merge_edits, 8},
      {"merge of shuffled texts", merge_shuffled, 8},
      {"merge of changed words", merge_changed_words, 8},
      {"line merge of shuffled texts",
       [](const std::string& text) {
         static_cast<void>(sync::merge::merge_lines(text, shuffled_lines(text, 1), shuffled_lines(text, 2)));
       }},
      {"diff of shuffled texts",
       [](const std::string& text) { static_cast<void>(sync::git::diff_text(text, shuffled_lines(text, 1))); }},
      {"diff of edits",
       [](const std::string& text) { static_cast<void>(sync::git::diff_text(text, edited(text, 3, 1, "x"))); }},
      {"changed words",
       [](const std::string& text) {
         static_cast<void>(cli::walk::changed_words(text, shuffled_lines(text, 1)));
         static_cast<void>(cli::walk::changed_words(text, edited(text, 3, 1, "x")));
       }},
      {"similarity",
       [](const std::string& text) {
         const sync::LineProfile profile(text);
         static_cast<void>(is_similar(profile, sync::LineProfile(edited(text, 3, 1, "x"))));
       }},
      {"links", [](const std::string& text) { static_cast<void>(sync::links::read_note(text)); }},
      {"JSON", [](const std::string& text) { static_cast<void>(parse_bounded(text)); }},
      {"JSON items", read_items},
      {"YAML", [](const std::string& text) { static_cast<void>(parse_yaml(text)); }},
      {"YAML with places", [](const std::string& text) { static_cast<void>(parse_yaml_with_positions(text)); }},
      {"cleaning",
       [](const std::string& text) {
         static_cast<void>(clean(text, Breaks::keep));
         static_cast<void>(clean(text, Breaks::space));
         static_cast<void>(escape_json(text));
       }},
      {"tables", render_tables},
      {"QR code", [](const std::string& text) { static_cast<void>(cli::QrCode::of(text)); }},
  };
  return all;
}

double seconds_of(const Reader& reader, const std::string& text) {
  const std::clock_t before = std::clock();
  reader.read(text);
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("bounds: time grows with the length of a text, whatever it is", "[bounds]") {
  constexpr std::size_t bytes_in_ci = std::size_t{32} << 10U;
  const std::size_t max_bytes = number_from_environment("WS_BOUNDS", bytes_in_ci);
  const char* const only = std::getenv("WS_BOUNDS_READER");
  for (const FreezingText& freezing : freezing_texts()) {
    for (const Reader& reader : readers()) {
      if (only != nullptr && std::string(reader.name).find(only) == std::string::npos) continue;
      const std::size_t bytes = max_bytes == bytes_in_ci ? bytes_in_ci / reader.share : max_bytes;
      const double taken = seconds_of(reader, freezing.make(bytes));
      // Ten times what the slowest takes for each byte: where the square counts, 64 KiB cost minutes.
      CAPTURE(freezing.name, reader.name, bytes, taken);
      CHECK(taken < 2 + 200e-6 * static_cast<double>(bytes));
      // A ratio of shorter times says nothing on a machine that others use too.
      if (taken < 0.2) continue;
      const double taken_quarter = seconds_of(reader, freezing.make(bytes / 4));
      CAPTURE(taken_quarter);
      if (max_bytes != bytes_in_ci) WARN(reader.name << ": " << freezing.name << ": " << taken << " s");
      // 4 where it is linear, 16 where the square counts.
      CHECK(taken < 9 * taken_quarter);
    }
  }
}

}  // namespace ws::test
