#include <algorithm>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/text.hpp"
#include "server-mock/pages/pages.hpp"

namespace ws::mock::pages {
namespace {

/// Whether `Accept` names HTML itself: `*/*`, which curl and libraries send, does not ask for a page.
bool accepts_html(std::string_view accept) {
  const auto is_html = [](std::string_view range) {
    return equal_ignoring_case(trimmed(range.substr(0, range.find(';')), " \t"), "text/html");
  };
  return std::ranges::any_of(split(accept, ','), is_html);
}

}  // namespace

bool is_root(const http::Request& request, std::string_view path) {
  return path == "/" && (request.method == "GET" || request.method == "HEAD") &&
         accepts_html(request.find("Accept").value_or(""));
}

http::Response root(std::string_view base_url, Inspector inspector) {
  const std::string url = escape(base_url);
  const std::string login = escape(ShellCommand{"ws", "login", "--base-url=", base_url}.text());
  const std::string inspector_row = inspector == Inspector::off
                                        ? std::string()
                                        : fmt::format(
                                              "<li><a href=\"{}/_mock\">Inspector</a>: requests as they come, "
                                              "documents, logins that wait, faults, the clock</li>\n",
                                              url);
  return page(
      200,
      "Mock server",
      fmt::format("<h1>A mock of the Workspace service</h1>\n"
                  "<p>This is <code>ws-mock</code>, a whole service on one machine, for tests and for trying "
                  "things out. Its address:</p>\n<p><code>{0}</code></p>\n"
                  "<h2>Log in</h2>\n<p><code>{1}</code></p>\n"
                  "<p class=\"soft\">It prints the address of a page and a code; you approve it there, without a "
                  "password.</p>\n"
                  "<h2>Look around</h2>\n<ul>\n{2}"
                  "<li><a href=\"{0}/openapi.json\">API document</a> (OpenAPI 3.1): every operation</li>\n"
                  "<li><a href=\"{0}/device\">Device page</a>: approve or deny a login by its code</li>\n</ul>\n",
                  url,
                  login,
                  inspector_row));
}

}  // namespace ws::mock::pages
