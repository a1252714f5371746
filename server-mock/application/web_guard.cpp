#include "server-mock/application/web_guard.hpp"

#include <algorithm>

#include "server-mock/pages/device_page.hpp"
#include "server-mock/pages/inspector_page.hpp"

namespace ws::mock {
namespace {

bool is_control(std::string_view path) { return path == "/_mock" || path.starts_with("/_mock/"); }

Refusal foreign_host() {
  return {.status = 403,
          .code = "foreign_host",
          .message =
              "The Host of the request is not a name of this server: call it by its address, or start ws-mock "
              "with --allow-host NAME"};
}

Refusal foreign_page() {
  return {.status = 403,
          .code = "foreign_origin",
          .message =
              "A web page of another origin sent this, or led here: the mock takes nothing from other pages. "
              "Open its address yourself"};
}

Refusal wrong_type(std::string_view message) {
  return {.status = 415, .code = "unsupported_media_type", .message = std::string(message)};
}

constexpr std::string_view needs_json =
    "The body of a control call needs the header Content-Type: application/json (with curl: -H 'Content-Type: "
    "application/json')";
constexpr std::string_view needs_form = "The page sends Content-Type: application/x-www-form-urlencoded";

/// The type without its parameters.
bool has_type(const http::Request& request, std::string_view type) {
  const std::string_view given = request.find("Content-Type").value_or("");
  std::string_view bare = given.substr(0, given.find(';'));
  while (bare.ends_with(' ') || bare.ends_with('\t')) bare.remove_suffix(1);
  return http::equal_without_case(bare, type);
}

/// Each field by itself: a second one must not hide behind the first.
template <class Fits>
bool all_fields(const http::Request& request, std::string_view name, Fits fits) {
  return std::ranges::all_of(request.headers, [&](const http::Header& field) {
    return !http::equal_without_case(field.name, name) || fits(field.value);
  });
}

/// A browser says whose page is behind a request: by `Origin`, and newer ones by `Sec-Fetch-Site`.
bool is_from_elsewhere(const http::Request& request) {
  const std::string_view host = request.find("Host").value_or("");
  return !all_fields(request, "Origin", [&](std::string_view origin) { return http::is_origin_of(origin, host); }) ||
         !all_fields(
             request, "Sec-Fetch-Site", [](std::string_view site) { return site == "same-origin" || site == "none"; });
}

/// A link elsewhere that a person followed to a page that holds nothing by itself and cannot be framed.
bool is_link_to_inspector(const http::Request& request, std::string_view path) {
  return (path == "/_mock" || path == "/_mock/") && request.method == "GET" && !request.find("Origin") &&
         request.find("Sec-Fetch-Mode") == "navigate" && request.find("Sec-Fetch-Dest") == "document";
}

}  // namespace

std::optional<Refusal> WebGuard::objection(const http::Request& request, std::string_view path) const {
  const auto host = request.find("Host");
  // Only HTTP/1.0 may leave it out, which no browser speaks.
  const bool is_own = !host || names_.contains(*host);
  const bool from_elsewhere = is_from_elsewhere(request);
  const bool is_form = path == pages::device_path;
  if (!is_control(path) && !is_form) {
    const bool needs_key = auth_ == AuthMode::strict;
    if (!is_own && (!names_.is_open_to_others() || !needs_key || from_elsewhere || request.find("Origin"))) {
      return foreign_host();
    }
    // Without a key there is nobody to answer for it. Another page cannot bring one: it would have to ask first (CORS).
    if (from_elsewhere && !(needs_key && request.find("Authorization"))) return foreign_page();
    return std::nullopt;
  }
  if (!is_own) return foreign_host();
  if (from_elsewhere && !is_link_to_inspector(request, path)) return foreign_page();
  if (request.body.empty()) return std::nullopt;
  if (is_form) {
    return has_type(request, "application/x-www-form-urlencoded") ? std::nullopt
                                                                  : std::optional(wrong_type(needs_form));
  }
  if (!has_type(request, "application/json")) return wrong_type(needs_json);
  return std::nullopt;
}

std::string_view WebGuard::called_as(const http::Request& request) const {
  const std::string_view host = request.find("Host").value_or("");
  const auto parts = http::split_host(host);
  return parts && (!parts->port.empty() || names_.is_open_to_others()) ? host : std::string_view();
}

}  // namespace ws::mock
