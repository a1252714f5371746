#include "server-mock/http/message.hpp"

#include <algorithm>
#include <iterator>

namespace ws::mock::http {
namespace {

struct Phrase {
  int status = 0;
  std::string_view text = {};
};

constexpr Phrase phrases[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
};

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace

bool is_plain_head(std::string_view head) {
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto c = static_cast<unsigned char>(head[i]);
    if (c >= 0x20 && c != 0x7F) continue;
    if (c == '\t') continue;
    if (c != '\r' || i + 1 >= head.size() || head[i + 1] != '\n') return false;
    ++i;
    if (i + 1 < head.size() && (head[i + 1] == ' ' || head[i + 1] == '\t')) return false;
  }
  return true;
}

Request read_head(std::string_view head) {
  Request request = {.head = head};
  for (std::string_view rest = head; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(std::min(line.size() + 2, rest.size()));
    const std::size_t colon = line.find(':');
    if (line.data() == head.data()) {
      request.method = line.substr(0, line.find(' '));
      const std::string_view behind = line.substr(std::min(request.method.size() + 1, line.size()));
      request.target = behind.substr(0, behind.find(' '));
    } else if (colon != std::string_view::npos) {
      request.headers.push_back({line.substr(0, colon), trimmed(line.substr(colon + 1), " \t")});
    }
  }
  split_target(request);
  return request;
}

void split_target(Request& request) {
  std::string_view rest = request.target;
  std::string_view root = {};
  if (!rest.starts_with('/')) {
    const std::size_t scheme = rest.find("://");
    if (scheme != std::string_view::npos) {
      root = rest.substr(scheme + 1, 1);  // "/", in the buffer as all views of a request
      rest.remove_prefix(std::min(rest.find_first_of("/?#", scheme + 3), rest.size()));
    }
  }
  rest = rest.substr(0, rest.find('#'));
  const std::size_t mark = rest.find('?');
  request.path = rest.substr(0, mark);
  if (request.path.empty()) request.path = root;  // of "http://host"
  request.query = mark == std::string_view::npos ? std::string_view() : rest.substr(mark + 1);
}

std::unique_ptr<BodySink> Handler::open_sink(const Request& /*head*/) { return nullptr; }
Response Handler::resume(std::uint64_t /*ticket*/, const Request& request, MayWait /*may_wait*/) {
  return handle(request);
}
void Handler::cancel(std::uint64_t /*ticket*/) {}
std::vector<std::uint64_t> Handler::take_ready() { return {}; }
std::optional<std::chrono::milliseconds> Handler::next_ready() { return std::nullopt; }
bool Handler::work() { return false; }

std::optional<std::string_view> Request::find(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [&](const Header& h) { return equal_ignoring_case(h.name, name); });
  if (found == headers.end()) return std::nullopt;
  return found->value;
}

bool is_field_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7F && c != ':'; });
}

bool is_field_value(std::string_view value) {
  return std::ranges::none_of(value, [](char c) { return is_control(c) && c != '\t'; });
}

Response& Response::header(std::string_view name, std::string_view value) & {
  if (headers_.empty()) headers_.reserve(256);
  headers_.append(name).append(": ");
  const std::size_t start = headers_.size();
  headers_.append(value);
  std::replace_if(headers_.begin() + static_cast<std::ptrdiff_t>(start), headers_.end(), is_control, ' ');
  headers_.append("\r\n");
  return *this;
}

Response& Response::body(std::string_view content_type, std::string text) {
  body_ = std::move(text);
  return header("Content-Type", content_type);
}

Response& Response::body(std::string_view content_type, std::unique_ptr<BodySource> source) {
  source_ = std::move(source);
  return header("Content-Type", content_type);
}

Response& Response::text(std::string text) {
  body_ = std::move(text);
  return *this;
}

Response& Response::set_header(std::string_view name, std::string_view value) {
  return remove_header(name).header(name, value);
}

/// The offset of the first field of that name; npos if there is none.
std::size_t Response::line_of(std::string_view name) const {
  const std::string_view headers = headers_;
  for (std::size_t line = 0; line < headers.size(); line = headers.find('\n', line) + 1) {
    const std::string_view field = headers.substr(line);
    if (field.size() > name.size() && field[name.size()] == ':' &&
        equal_ignoring_case(field.substr(0, name.size()), name)) {
      return line;
    }
  }
  return std::string::npos;
}

Response& Response::remove_header(std::string_view name) {
  for (std::size_t line = line_of(name); line != std::string::npos; line = line_of(name)) {
    headers_.erase(line, headers_.find("\r\n", line) + 2 - line);
  }
  return *this;
}

std::string_view Response::find(std::string_view name) const {
  const std::size_t line = line_of(name);
  if (line == std::string::npos) return {};
  const std::string_view value = std::string_view(headers_).substr(line + name.size() + 2);
  return value.substr(0, value.find("\r\n"));
}

Response& Response::rewrite_header(std::string_view name, std::string (*change)(std::string_view)) {
  if (!has_header(name)) return *this;
  const std::string_view value = find(name);
  headers_.replace(static_cast<std::size_t>(value.data() - headers_.data()), value.size(), change(value));
  return *this;
}

Response& Response::rewrite(std::string (*change)(std::string)) {
  headers_ = change(std::move(headers_));
  body_ = change(std::move(body_));
  return *this;
}

std::string_view reason_phrase(int status) {
  const auto* found = std::ranges::find(phrases, status, &Phrase::status);
  return found == std::end(phrases) ? std::string_view() : found->text;
}

}  // namespace ws::mock::http
