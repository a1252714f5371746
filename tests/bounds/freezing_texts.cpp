#include "tests/bounds/freezing_texts.hpp"

#include <algorithm>
#include <random>

namespace ws::test {
namespace {

/// What `part` gives for 0, 1, 2, ... until it is enough.
template <class Part>
std::string counted(std::size_t bytes, Part part) {
  std::string out;
  for (std::size_t i = 0; out.size() < bytes; ++i) out += part(i);
  return out;
}

std::string number(std::size_t i) { return std::to_string(i); }

/// A sign `i + 1` times: a, aa, aaa, ...
std::string growing(char sign, std::size_t bytes) {
  return counted(bytes, [&](std::size_t i) { return std::string(i + 1, sign) + " x "; });
}

std::string front_matter(std::size_t bytes, const std::string& lines) {
  return "---\n" + lines + "---\n" + (lines.size() < bytes ? "text\n" : "");
}

std::string nested_json(std::size_t bytes) { return repeated("[", bytes / 2) + repeated("]", bytes / 2); }

std::string json_keys(std::size_t bytes) {
  return "{" + counted(bytes, [](std::size_t i) { return "\"k" + number(i) + "\":1,"; }) + "\"z\":0}";
}

std::string laughing_yaml(std::size_t bytes) {
  return "a0: &a0 [x]\n" + counted(bytes, [](std::size_t i) {
           const std::string before = "*a" + number(i);
           return "a" + number(i + 1) + ": &a" + number(i + 1) + " [" + before + "," + before + "]\n";
         });
}

std::string wide_table(std::size_t bytes) {
  return repeated("a|", bytes / 3) + "\n" + repeated("-|", bytes / 3) + "\n" + repeated("a\n", bytes / 3);
}

std::string references(std::size_t bytes) {
  return counted(bytes / 2, [](std::size_t i) { return "[r" + number(i) + "]: /u\n"; }) +
         counted(bytes / 2, [](std::size_t i) { return "[r" + number(i * 7) + "] [none" + number(i) + "] "; });
}

}  // namespace

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string out;
  out.reserve(bytes + text.size());
  while (out.size() < bytes) out += text;
  return out;
}

std::string shuffled_lines(std::string_view text, unsigned seed) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  std::shuffle(lines.begin(), lines.end(), std::mt19937(seed));
  std::string out;
  for (const std::string_view line : lines) out += line;
  return out;
}

const std::vector<FreezingText>& freezing_texts() {
  static const std::vector<FreezingText> texts = {
      // What cmark takes long for.
      {"images in links", [](std::size_t n) { return repeated("![[]()", n); }},
      {"footnotes", [](std::size_t n) { return repeated("[^a]", n); }},
      {"link targets that do not end", [](std::size_t n) { return repeated("[a](<b", n); }},
      {"links that do not end", [](std::size_t n) { return repeated("[a](b", n); }},
      {"openers", [](std::size_t n) { return repeated("[", n); }},
      {"openers and closers", [](std::size_t n) { return repeated("[", n / 2) + repeated("]", n / 2); }},
      {"emphasis that does not match", [](std::size_t n) { return repeated("*a_ ", n); }},
      {"emphasis of three", [](std::size_t n) { return repeated("a***b__c~~", n); }},
      {"emphasis within emphasis", [](std::size_t n) { return repeated("*a **a ", n); }},
      {"backticks that grow", [](std::size_t n) { return growing('`', n); }},
      {"tildes that grow", [](std::size_t n) { return growing('~', n); }},
      {"entities", [](std::size_t n) { return repeated("&amp;&#1234;&x;&", n); }},
      {"references", references},
      {"one long reference",
       [](std::size_t n) { return "[a]: " + repeated("u", n / 2) + "\n\n" + repeated("[a]", n / 2); }},
      {"a wide table", wide_table},
      {"a long table", [](std::size_t n) { return "a|b\n-|-\n" + repeated("x|y\n", n); }},
      {"pipes", [](std::size_t n) { return repeated("|", n) + "\n-\n"; }},
      {"comments that do not end", [](std::size_t n) { return repeated("a <!-- ", n); }},
      {"instructions that do not end", [](std::size_t n) { return repeated("a <? ", n); }},
      {"CDATA that does not end", [](std::size_t n) { return repeated("a <![CDATA[ ", n); }},
      {"tags that do not end", [](std::size_t n) { return repeated("<a b=\"", n); }},
      {"mail addresses", [](std::size_t n) { return repeated("a@b.c", n); }},
      {"addresses", [](std::size_t n) { return repeated("http://a.b/(", n); }},
      {"www", [](std::size_t n) { return repeated("www.", n); }},
      {"quotes in quotes", [](std::size_t n) { return repeated(">", n / 2) + "x\n" + repeated("a\n", n / 2); }},
      {"quotes and lists", [](std::size_t n) { return repeated("> - ", n) + "x\n"; }},
      {"lists in lists", [](std::size_t n) { return repeated("- ", n / 2) + "x" + repeated("\n", n / 2); }},
      {"numbers in numbers", [](std::size_t n) { return repeated("1. ", n) + "x\n"; }},
      {"deeper and deeper",
       [](std::size_t n) {
         return counted(n, [](std::size_t i) { return std::string(2 * (i % 500), ' ') + "- x\n"; });
       }},
      {"headings", [](std::size_t n) { return repeated("# a\n", n); }},
      {"backslashes", [](std::size_t n) { return repeated("\\", n); }},
      {"dollars", [](std::size_t n) { return repeated("$$ $", n); }},
      {"fences", [](std::size_t n) { return repeated("```\n~~~\n", n); }},
      // Long lines, many lines, many keys.
      {"one line of words",
       [](std::size_t n) { return counted(n, [](std::size_t i) { return "w" + number(i) + " "; }); }},
      {"one word", [](std::size_t n) { return repeated("x", n); }},
      {"blank lines", [](std::size_t n) { return repeated("\n", n); }},
      {"different lines",
       [](std::size_t n) { return counted(n, [](std::size_t i) { return "line " + number(i) + "\n"; }); }},
      {"three kinds of lines",
       [](std::size_t n) { return counted(n, [](std::size_t i) { return number(i * i % 3) + "\n"; }); }},
      {"every line twice",
       [](std::size_t n) { return counted(n, [](std::size_t i) { return "line " + number(i / 2) + "\n"; }); }},
      {"paragraphs",
       [](std::size_t n) {
         return counted(n, [](std::size_t i) { return "The paragraph of number " + number(i) + "\n\n"; });
       }},
      {"keys of front matter",
       [](std::size_t n) {
         return front_matter(n, counted(n, [](std::size_t i) { return "key" + number(i) + ": 1\n"; }));
       }},
      {"front matter that does not end", [](std::size_t n) { return "---\n" + repeated("a: b\n", n); }},
      {"a list in front matter", [](std::size_t n) { return front_matter(n, "a:\n" + repeated("  - b\n", n)); }},
      {"carriage returns", [](std::size_t n) { return repeated("\r", n); }},
      {"combining characters", [](std::size_t n) { return "a" + repeated("\xCC\x81", n); }},
      {"joined emoji", [](std::size_t n) { return repeated("\xF0\x9F\x91\xA9\xE2\x80\x8D", n); }},
      {"bytes that are no text", [](std::size_t n) { return repeated("\xFF\xC3\x1B[", n); }},
      {"escape sequences that do not end", [](std::size_t n) { return repeated("\x1B]0;", n); }},
      // YAML and JSON.
      {"an alias bomb", laughing_yaml},
      {"flow in flow", [](std::size_t n) { return "a: " + repeated("[", n); }},
      {"maps in maps", [](std::size_t n) { return repeated("{a: ", n); }},
      {"maps below maps",
       [](std::size_t n) { return counted(n, [](std::size_t i) { return std::string(i % 500, ' ') + "a:\n"; }); }},
      {"a quoted text that does not end", [](std::size_t n) { return "a: \"" + repeated("\\", n); }},
      {"questions of YAML", [](std::size_t n) { return repeated("? ", n); }},
      {"dashes of YAML", [](std::size_t n) { return "a:\n" + repeated("- - ", n); }},
      {"lists in JSON", nested_json},
      {"keys of JSON", json_keys},
      {"one key again", [](std::size_t n) { return "{" + repeated("\"k\":1,", n) + "\"k\":2}"; }},
      {"numbers of JSON", [](std::size_t n) { return "[" + repeated("1e308,-0.1E-9,", n) + "0]"; }},
      {"one number", [](std::size_t n) { return "[" + repeated("9", n) + "]"; }},
      {"escapes of JSON", [](std::size_t n) { return "\"" + repeated("\\u0041\\n", n) + "\""; }},
  };
  return texts;
}

}  // namespace ws::test
