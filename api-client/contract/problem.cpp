#include "api-client/contract/problem.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/invisible.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::contract {
namespace {

constexpr std::size_t searched_bytes = std::size_t{64} << 10U;

bool is_blank(char32_t c) { return c <= 0x20 || c == 0xA0 || c == 0x2028 || c == 0x2029; }

/// The text between `<name ...>` and `</name`. `lower` is `html` in lower case, with the same offsets.
std::string_view element_text(std::string_view html, std::string_view lower, std::string_view name) {
  const std::string opening = "<" + std::string(name);
  for (std::size_t at = lower.find(opening); at != lower.npos; at = lower.find(opening, at + 1)) {
    const std::size_t after = at + opening.size();
    if (after >= lower.size() || (lower[after] != '>' && !is_blank(static_cast<unsigned char>(lower[after])))) continue;
    const std::size_t begin = lower.find('>', after);
    if (begin == lower.npos) return {};
    const std::size_t end = lower.find("</" + std::string(name), begin);
    return html.substr(begin + 1, end == lower.npos ? 0 : end - begin - 1);
  }
  return {};
}

/// The text without tags, with the five entities of XML decoded.
std::string plain(std::string_view html) {
  constexpr std::array<std::pair<std::string_view, char>, 6> entities = {
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&nbsp;", ' '}, {"&amp;", '&'}}};
  std::string text;
  while (!html.empty()) {
    if (html.front() == '<') {
      html.remove_prefix(std::min(html.find('>'), html.size() - 1) + 1);
      text += ' ';
      continue;
    }
    const auto entity =
        std::ranges::find_if(entities, [&](const auto& entry) { return html.starts_with(entry.first); });
    text += entity == entities.end() ? html.front() : entity->second;
    html.remove_prefix(entity == entities.end() ? 1 : entity->first.size());
  }
  return text;
}

/// Makes one line: collapses white space, removes control characters and bidirectional marks, replaces bytes that are
/// not UTF-8 by U+FFFD, and truncates to `max_code_points` with an ellipsis.
std::string one_line(std::string_view text, std::size_t max_code_points) {
  std::string line;
  std::size_t count = 0;
  bool gap = false;
  while (!text.empty()) {
    const char32_t c = utf8::next(text);
    if (is_blank(c)) {
      gap = !line.empty();
      continue;
    }
    if (utf8::is_control(c) || utf8::is_hidden(c)) continue;
    if (count + (gap ? 2 : 1) > max_code_points) return line + "…";
    if (std::exchange(gap, false)) {
      line += ' ';
      ++count;
    }
    utf8::append(line, c);
    ++count;
  }
  return line;
}

/// The text of `<title>`, otherwise of the first `<h1>`; empty if neither is in the first 64 KiB.
std::string page_title(std::string_view html) {
  html = html.substr(0, searched_bytes);
  const std::string lower = to_lower(html);
  for (const std::string_view name : {"title", "h1"}) {
    std::string text = one_line(plain(element_text(html, lower, name)), searched_bytes);
    if (!text.empty()) return text;
  }
  return {};
}

constexpr std::size_t message_code_points = 499;  // without the ellipsis
constexpr std::size_t shown_entries = 3;
constexpr JsonBounds error_bounds = {.max_bytes = std::size_t{1} << 20U, .max_values = 100'000, .max_depth = 32};

/// Returns the text if it has only characters of a machine-readable code; otherwise an empty string.
std::string word(std::string_view text, std::size_t max_size) {
  const bool is_word =
      !text.empty() && text.size() <= max_size && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
  return is_word ? std::string(text) : std::string();
}

/// The first of these members that is a non-empty string.
std::string first_text(const Json& object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::optional<std::string> text = find_text(object, name);
    if (text && !text->empty()) return *text;
  }
  return {};
}

std::string path_of(const Json& loc) {
  std::string path;
  for (const Json& step : loc) {
    if (step.is_string()) {
      if (!path.empty()) path += '.';
      path += step.get_ref<const std::string&>();
    } else if (step.is_number_unsigned() || step.is_number_integer()) {
      path += fmt::format("[{}]", dump(step));
    }
  }
  return path;
}

/// One entry of a 422: "body.scopes[3]: Input should be ...".
std::string entry_text(const Json& entry) {
  if (entry.is_string()) return entry.get<std::string>();
  const std::string message = first_text(entry, {"msg", "message", "detail", "type"});
  const Json* loc = find(entry, "loc");
  const std::string path = loc != nullptr && loc->is_array() ? path_of(*loc) : std::string();
  if (path.empty() || message.empty()) return path + message;
  return path + ": " + message;
}

std::string entries_text(const Json& entries) {
  std::string text;
  std::size_t shown = 0;
  for (const Json& entry : entries) {
    if (shown == shown_entries) break;
    const std::string line = entry_text(entry);
    if (line.empty()) continue;
    if (shown++ > 0) text += "; ";
    text += utf8::prefix(line, message_code_points);
  }
  if (shown > 0 && entries.size() > shown) text += fmt::format("; and {} more", entries.size() - shown);
  return text;
}

/// The most informative message in a body of any of the known forms.
std::string message_of(const Json& body) {
  if (body.is_string()) return body.get<std::string>();
  if (body.is_array()) return entries_text(body);
  if (!body.is_object()) return {};
  for (const std::string_view name : {"detail", "error_description", "message", "error", "errors"}) {
    const Json* member = find(body, name);
    if (member == nullptr) continue;
    std::string text;
    if (member->is_string()) text = member->get<std::string>();
    if (member->is_array()) text = entries_text(*member);
    if (member->is_object()) text = first_text(*member, {"message", "detail", "error_description", "msg", "title"});
    // "error": "invalid_grant" is a code; prefer a sentence in another member.
    const bool is_code = name == "error" && member->is_string() && text.find(' ') == text.npos;
    if (!text.empty() && !is_code) return text;
  }
  return first_text(body, {"title", "error"});
}

std::string code_of(const Json& body) {
  for (const std::string_view holder : {"detail", "error"}) {
    const Json* inner = find(body, holder);
    if (inner == nullptr || !inner->is_object()) continue;
    if (std::string code = word(first_text(*inner, {"code", "error"}), 100); !code.empty()) return code;
  }
  // The one error that a 422 identifies by the type of its entry instead of a code (`decisions.md`, "Errors").
  if (const Json* entries = find(body, "detail"); entries != nullptr && entries->is_array()) {
    for (const Json& entry : *entries) {
      if (find_text(entry, "type") == "idempotency_key_reused") return "idempotency_key_reused";
    }
  }
  return word(first_text(body, {"code", "error"}), 100);
}

std::string request_id_of(const Json& body) {
  return word(first_text(holder_of(body, "request_id"), {"request_id", "requestId"}), 128);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

void read_json(const Json& body, Problem& problem) {
  problem.message = one_line(message_of(body), message_code_points);
  if (!body.is_object()) return;
  problem.code = code_of(body);
  if (std::string id = request_id_of(body); !id.empty()) problem.request_id = std::move(id);
  problem.members = body;
}

}  // namespace

Problem read_problem(int status, std::string_view content_type, std::string_view request_id, std::string_view body) {
  Problem problem = {.status = status, .request_id = word(request_id, 128)};
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  const bool is_page = contains(content_type, "html") || (begin != body.npos && body[begin] == '<');
  if (is_page) {
    problem.message = one_line(page_title(body), message_code_points);
  } else if (const Result<Json> json = parse_bounded(body, error_bounds)) {
    read_json(*json, problem);
  } else if (content_type.starts_with("text/")) {
    // A plain-text error page, such as a proxy's: take its first line.
    const std::string_view start = body.substr(std::min(begin, body.size()), 4096);
    problem.message = one_line(start.substr(0, start.find('\n')), message_code_points);
  }
  if (problem.message.empty()) problem.message = reason_phrase(status);
  return problem;
}

const Json& holder_of(const Json& body, std::string_view member) {
  const Json* const detail = find(body, "detail");
  return detail != nullptr && find(*detail, member) != nullptr ? *detail : body;
}

Failure::Kind kind_of_status(int status) {
  using Kind = Failure::Kind;
  switch (status) {
    case 401: return Kind::auth;
    case 403: return Kind::forbidden;
    case 404:
    case 410: return Kind::not_found;
    case 408: return Kind::service;
    case 409:
    case 412: return Kind::conflict;
    case 428: return Kind::pending;
    case 429: return Kind::rate_limited;
    default: break;
  }
  if (status >= 500) return Kind::service;
  return status >= 400 ? Kind::invalid : Kind::internal;
}

}  // namespace ws::contract
