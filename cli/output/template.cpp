#include "cli/output/template.hpp"

#include <nlohmann/json.hpp>

#include "cli/output/format.hpp"

namespace ws::cli {
namespace {

/// The character for an escape `\c`; unknown escapes are kept.
std::string unescaped(char c) {
  switch (c) {
    case 't': return "\t";
    case 'n': return "\n";
    case 'r': return "\r";
    case '\\': return "\\";
    default: return std::string("\\") + c;
  }
}

}  // namespace

Result<Template> Template::parse(std::string_view text) {
  Template parsed;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view two = text.substr(i, 2);
    if (two == "{{" || two == "}}") {
      plain += two.front();
      ++i;
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      plain += unescaped(text[++i]);
    } else if (text[i] == '{') {
      const std::size_t end = text.find('}', i);
      if (end == std::string_view::npos || end == i + 1) {
        return fail(Failure::Kind::usage,
                    "--template: `" + std::string(text.substr(i)) + "` does not name a member",
                    "write {title}, or {{ for a brace");
      }
      parsed.parts_.push_back({.text = std::move(plain)});
      plain.clear();
      parsed.parts_.push_back({.text = std::string(text.substr(i + 1, end - i - 1)), .is_path = true});
      i = end;
    } else {
      plain += text[i];
    }
  }
  parsed.parts_.push_back({.text = std::move(plain)});
  return parsed;
}

std::vector<std::string> Template::members() const {
  std::vector<std::string> paths;
  for (const Part& part : parts_) {
    if (part.is_path) paths.push_back(part.text);
  }
  return paths;
}

std::string Template::fill(const Json& item) const {
  std::string line;
  for (const Part& part : parts_) {
    if (!part.is_path) {
      line += part.text;
    } else if (const Json* found = at_path(item, part.text)) {
      line += escape_tsv(plain_text(*found));
    }
  }
  return line;
}

}  // namespace ws::cli
