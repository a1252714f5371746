#include "cli/settings/config_text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/yaml.hpp"

namespace ws::cli {
namespace {

using Steps = std::vector<std::string>;

std::string pointer_to(const Steps& steps, std::size_t count) {
  std::string pointer;
  for (std::size_t i = 0; i < count; ++i) pointer += "/" + steps[i];
  return pointer;
}

bool is_below(std::string_view pointer, std::string_view top) {
  return pointer.substr(0, top.size()) == top && (pointer.size() == top.size() || pointer[top.size()] == '/');
}

/// The value without empty members: removing the last member of a map is equivalent to removing the map.
Json without_empty(const Json& value) {
  if (!value.is_object()) return value;
  Json kept = Json::object();
  for (const auto& member : value.items()) {
    Json one = without_empty(member.value());
    if (!one.is_null() && !(one.is_object() && one.empty())) kept[member.key()] = std::move(one);
  }
  return kept;
}

enum class Context { block, flow };

/// A YAML scalar on one line, in the existing style of quotes (0: quoted only if needed).
std::string scalar_text(const std::string& value, Context context, char quote = 0) {
  const bool has_control = std::ranges::any_of(value, [](unsigned char c) { return c < ' '; });
  if (quote == '\'' && !has_control) {
    std::string text = "'";
    for (const char c : value) text += c == '\'' ? std::string("''") : std::string(1, c);
    return text + "'";
  }
  std::string text = to_yaml(Json(value));
  trim_end(text, "\n");
  const bool breaks_flow = context == Context::flow && text.find_first_of(",[]{}:#") != std::string::npos;
  return quote == '"' || has_control || breaks_flow ? dump(Json(value)) : text;
}

class ConfigText {
 public:
  static Result<ConfigText> read(std::string_view text) {
    WS_LET(YamlWithPositions placed, parse_yaml_with_positions(text));
    return ConfigText(std::string(text), std::move(placed));
  }

  /// Candidate texts with the change applied, the best formatted first.
  std::vector<std::string> with(const Steps& path, const std::string& value) const {
    std::size_t known = 0;
    const Json* place = &*placed_.value;
    while (known < path.size() && place->is_object() && place->contains(path[known])) {
      place = &(*place)[path[known++]];
    }
    if (known == path.size()) return replaced(pointer_to(path, known), *place, value);
    const std::string parent = pointer_to(path, known);
    const Steps missing(path.begin() + static_cast<std::ptrdiff_t>(known), path.end());
    if (place->is_object() && is_flow(parent)) return {with_flow_member(parent, place->empty(), missing, value)};
    if (place->is_null() || place->is_object()) return with_lines(parent, *place, missing, value);
    return {};
  }

  std::vector<std::string> without(const std::string& pointer) const {
    const std::string parent = pointer.substr(0, pointer.rfind('/'));
    if (is_flow(parent)) return without_flow_member(pointer);
    std::vector<std::string> texts;
    const std::size_t begin = line_start(offset(placed_.keys.at(pointer)));
    for (const std::size_t end : ends_of(pointer)) texts.push_back(text_.substr(0, begin) + text_.substr(end));
    return texts;
  }

  /// The line of an existing key or value, otherwise of its nearest existing parent.
  int line_of(std::string pointer) const {
    while (!pointer.empty() && !placed_.keys.contains(pointer)) pointer.erase(pointer.rfind('/'));
    return pointer.empty() ? 1 : placed_.keys.at(pointer).line;
  }
  const Json& value() const { return *placed_.value; }

 private:
  ConfigText(std::string text, YamlWithPositions placed) : text_(std::move(text)), placed_(std::move(placed)) {
    newline_ = text_.find("\r\n") == std::string::npos ? "\n" : "\r\n";
  }

  std::size_t offset(const TextPosition& place) const {
    std::size_t at = 0;
    for (int line = 1; line < place.line && at < text_.size(); ++line) at = next_line(at);
    return std::min(at + static_cast<std::size_t>(place.column - 1), text_.size());
  }
  std::size_t next_line(std::size_t at) const { return std::min(text_.find('\n', at), text_.size() - 1) + 1; }
  std::size_t line_start(std::size_t at) const {
    const std::size_t before = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
    return before == std::string::npos ? 0 : before + 1;
  }
  char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }

  /// Whether the map is written in flow style (`{...}`), itself or within another one.
  bool is_flow(std::string pointer) const {
    while (true) {
      const auto found = placed_.places.find(pointer);
      if (found != placed_.places.end()) {
        const char first = at(offset(found->second));
        if (first == '{' || first == '[') return true;
      }
      if (pointer.empty()) return false;
      pointer.erase(pointer.rfind('/'));
    }
  }

  /// The offset after the last character of the scalar that begins here.
  std::size_t scalar_end(std::size_t begin, Context context) const {
    const char quote = at(begin);
    if (quote == '"' || quote == '\'') {
      for (std::size_t i = begin + 1; i < text_.size(); ++i) {
        if (quote == '"' && text_[i] == '\\') {
          ++i;
        } else if (text_[i] == quote) {
          if (quote == '\'' && at(i + 1) == quote) {
            ++i;
          } else {
            return i + 1;
          }
        }
      }
      return text_.size();
    }
    std::size_t end = begin;
    for (; end < text_.size() && text_[end] != '\n' && text_[end] != '\r'; ++end) {
      if (text_[end] == '#' && end > begin && (text_[end - 1] == ' ' || text_[end - 1] == '\t')) break;
      if (context == Context::flow && (text_[end] == ',' || text_[end] == '}' || text_[end] == ']')) break;
    }
    while (end > begin && (text_[end - 1] == ' ' || text_[end - 1] == '\t')) --end;
    return end;
  }

  /// The offset of the brace that closes the one opened here.
  std::size_t closing_brace(std::size_t begin) const {
    int depth = 0;
    for (std::size_t i = begin; i < text_.size(); ++i) {
      const char c = text_[i];
      const bool begins_word = i > begin && std::string_view(" ,{[:\n\t").find(text_[i - 1]) != std::string_view::npos;
      if ((c == '"' || c == '\'') && begins_word) {
        i = scalar_end(i, Context::flow) - 1;
      } else if (c == '#' && begins_word) {
        i = next_line(i) - 1;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        return i;
      }
    }
    return text_.size();
  }

  /// The offset after the last line of a member: without the blank and comment lines that follow it, and with them.
  std::vector<std::size_t> ends_of(const std::string& pointer) const {
    std::size_t end = text_.size();
    const std::size_t begin = pointer.empty() ? 0 : offset(placed_.keys.at(pointer));
    for (const auto& [other, place] : placed_.keys) {
      const std::size_t key = offset(place);
      if (key > begin && !is_below(other, pointer)) end = std::min(end, line_start(key));
    }
    std::size_t last = end;
    while (last > begin) {
      const std::size_t start = line_start(last - 1);
      const std::size_t word = text_.find_first_not_of(" \t\r\n", start);
      if (start < begin || (word < last && text_[word] != '#')) break;
      last = start;
    }
    if (last == end) return {end};
    return {last, end};
  }

  std::vector<std::string> replaced(const std::string& pointer, const Json& old, const std::string& value) const {
    if (old.is_structured()) return {};
    const Context context = is_flow(pointer) ? Context::flow : Context::block;
    std::vector<std::string> texts;
    const auto put = [&](std::size_t begin, std::size_t end, const std::string& text) {
      texts.push_back(text_.substr(0, begin) + text + text_.substr(end));
    };
    const std::size_t begin = offset(placed_.places.at(pointer));
    put(begin, scalar_end(begin, context), scalar_text(value, context, at(begin)));
    if (old.is_null()) {
      const std::size_t colon = text_.find(':', offset(placed_.keys.at(pointer)));
      if (colon != std::string::npos) put(colon + 1, colon + 1, " " + scalar_text(value, context));
    }
    return texts;
  }

  std::string with_flow_member(const std::string& parent,
                               bool is_empty,
                               Steps missing,
                               const std::string& value) const {
    std::string member = scalar_text(missing.back(), Context::flow) + ": " + scalar_text(value, Context::flow);
    for (missing.pop_back(); !missing.empty(); missing.pop_back()) {
      member = fmt::format("{}: {{{}}}", scalar_text(missing.back(), Context::flow), member);
    }
    std::size_t end = closing_brace(offset(placed_.places.at(parent)));
    while (end > 0 && (at(end - 1) == ' ' || at(end - 1) == ',')) --end;
    return text_.substr(0, end) + (is_empty ? "" : ", ") + member + text_.substr(end);
  }

  std::vector<std::string> without_flow_member(const std::string& pointer) const {
    const std::size_t begin = offset(placed_.keys.at(pointer));
    const std::size_t end = scalar_end(offset(placed_.places.at(pointer)), Context::flow);
    const std::size_t next = text_.find_first_not_of(", ", end);
    const std::size_t last = text_.find_last_not_of(", ", begin - 1);
    if (next == std::string::npos || last == std::string::npos) return {};
    // Remove the comma that follows; for the last member, the one before it.
    std::vector<std::string> texts = {text_.substr(0, begin) + text_.substr(next),
                                      text_.substr(0, last + 1) + text_.substr(end)};
    if (at(next) == '}') std::swap(texts[0], texts[1]);
    return texts;
  }

  /// The lines of a new member at the end of its map.
  std::vector<std::string> with_lines(const std::string& parent,
                                      const Json& map,
                                      const Steps& missing,
                                      const std::string& value) const {
    std::size_t indent = 0;
    if (map.is_object() && !map.empty()) {
      indent = static_cast<std::size_t>(placed_.keys.at(parent + "/" + map.begin().key()).column - 1);
    } else if (!parent.empty()) {
      indent = static_cast<std::size_t>(placed_.keys.at(parent).column) + 1;
    }
    std::string lines;
    for (std::size_t i = 0; i < missing.size(); ++i) {
      lines += std::string(indent + 2 * i, ' ') + scalar_text(missing[i], Context::block) + ":";
      if (i + 1 == missing.size()) lines += " " + scalar_text(value, Context::block);
      lines += newline_;
    }
    std::vector<std::size_t> ends = map.empty() && parent.empty() ? std::vector{text_.size()} : ends_of(parent);
    std::vector<std::string> texts;
    for (const std::size_t end : ends) {
      const bool in_line = end > 0 && text_[end - 1] != '\n';
      texts.push_back(text_.substr(0, end) + (in_line ? newline_ : "") + lines + text_.substr(end));
    }
    return texts;
  }

  std::string text_;
  YamlWithPositions placed_;
  std::string newline_;
};

/// The configuration that the new file must contain.
Json changed(Json whole, const Steps& path, const std::string& value) {
  if (!whole.is_object()) whole = Json::object();
  Json* place = &whole;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    place = &(*place)[path[i]];
    if (!place->is_object()) *place = Json::object();
  }
  if (value.empty()) {
    place->erase(path.back());
  } else {
    (*place)[path.back()] = value;
  }
  return whole;
}

}  // namespace

Result<std::string> edit_config(std::string_view text, const Steps& path, const std::string& value) {
  WS_LET(const ConfigText config, ConfigText::read(text));
  const Json* old = &config.value();
  for (const std::string& step : path) old = old == nullptr ? nullptr : find(*old, step);
  if (value.empty() && old == nullptr) return std::string(text);
  const std::string pointer = pointer_to(path, path.size());
  const Json wanted = without_empty(changed(config.value(), path, value));
  for (std::string& made : value.empty() ? config.without(pointer) : config.with(path, value)) {
    const auto holds = parse_yaml(made);
    if (holds && without_empty(holds->is_null() ? Json::object() : *holds) == wanted) return std::move(made);
  }
  return fail(Failure::Kind::usage,
              fmt::format("line {} cannot be changed automatically without losing something", config.line_of(pointer)),
              "change it there by hand");
}

}  // namespace ws::cli
