#include "server-mock/application/web_guard.hpp"

#include <algorithm>

#include "server-mock/pages/pages.hpp"

namespace ws::mock {
namespace {

bool is_control(std::string_view path) { return path == "/_mock" || path.starts_with("/_mock/"); }

ApiError foreign_host() {
  return {.status = 403,
          .code = "foreign_host",
          .message =
              "The Host of the request is not a name of this server: call it by its address, or start ws-mock "
              "with --allow-host NAME"};
}

ApiError foreign_page() {
  return {.status = 403,
          .code = "foreign_origin",
          .message =
              "The request comes from a web page of another origin, which the mock refuses. Open the address directly"};
}

ApiError wrong_type(std::string_view message) {
  return {.status = 415, .code = "unsupported_media_type", .message = std::string(message)};
}

constexpr std::string_view needs_json =
    "The body of a control call needs the header Content-Type: application/json (with curl: -H 'Content-Type: "
    "application/json')";
constexpr std::string_view needs_form = "The page sends Content-Type: application/x-www-form-urlencoded";

/// The media type without parameters.
bool has_type(const http::Request& request, std::string_view type) {
  const std::string_view given = request.find("Content-Type").value_or("");
  std::string_view bare = given.substr(0, given.find(';'));
  while (bare.ends_with(' ') || bare.ends_with('\t')) bare.remove_suffix(1);
  return equal_ignoring_case(bare, type);
}

/// Checks each field: a second one must not hide behind the first.
template <class Fits>
bool all_fields(const http::Request& request, std::string_view name, Fits fits) {
  return std::ranges::all_of(request.headers, [&](const http::Header& field) {
    return !equal_ignoring_case(field.name, name) || fits(field.value);
  });
}

/// Browsers name the page behind a request in `Origin`; newer ones also send `Sec-Fetch-Site`.
bool is_from_elsewhere(const http::Request& request, std::string_view public_host) {
  const std::string_view host = request.find("Host").value_or("");
  const auto is_own = [&](std::string_view origin) {
    return http::is_origin_of(origin, host) || (!public_host.empty() && http::is_origin_of(origin, public_host));
  };
  return !all_fields(request, "Origin", is_own) || !all_fields(request, "Sec-Fetch-Site", [](std::string_view site) {
    return site == "same-origin" || site == "none";
  });
}

/// Following a link from another site is allowed to pages that hold no data and cannot be framed.
bool is_link_to_page(const http::Request& request, std::string_view path) {
  return (path == "/_mock" || path == "/_mock/" || path == "/") && request.method == "GET" && !request.find("Origin") &&
         request.find("Sec-Fetch-Mode") == "navigate" && request.find("Sec-Fetch-Dest") == "document";
}

}  // namespace

std::optional<ApiError> WebGuard::rejection(const http::Request& request, std::string_view path) const {
  const auto host = request.find("Host");
  // Only HTTP/1.0 may omit it, which no browser uses.
  const bool is_own = !host || names_.contains(*host);
  const bool from_elsewhere = is_from_elsewhere(request, public_host_);
  const bool is_form = path == pages::device_path;
  if (!is_control(path) && !is_form && !pages::is_root(request, path)) {
    const bool needs_key = auth_ == AuthMode::strict;
    if (!is_own && (!names_.is_open_to_others() || !needs_key || from_elsewhere || request.find("Origin"))) {
      return foreign_host();
    }
    // With `--auth any|off` no key protects the API. Otherwise another site cannot send one without a CORS preflight.
    if (from_elsewhere && !(needs_key && request.find("Authorization"))) return foreign_page();
    return std::nullopt;
  }
  if (!is_own) return foreign_host();
  if (from_elsewhere && !is_link_to_page(request, path)) return foreign_page();
  if (request.body.empty()) return std::nullopt;
  if (is_form) {
    return has_type(request, "application/x-www-form-urlencoded") ? std::nullopt
                                                                  : std::optional(wrong_type(needs_form));
  }
  if (!has_type(request, "application/json")) return wrong_type(needs_json);
  return std::nullopt;
}

std::string_view WebGuard::request_host(const http::Request& request) const {
  const std::string_view host = request.find("Host").value_or("");
  const auto parts = http::split_host(host);
  return parts && (!parts->port.empty() || names_.is_open_to_others()) ? host : std::string_view();
}

}  // namespace ws::mock
