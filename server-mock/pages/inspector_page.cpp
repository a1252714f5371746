#include <string>
#include <string_view>

#include "server-mock/pages/pages.hpp"

namespace ws::mock::pages {
namespace {

struct InspectorFile {
  std::string_view path = {};
  std::string_view type = {};
  std::string_view text = {};
};

// The files of `inspector/`, embedded by CMake.
constexpr InspectorFile inspector_files[] = {
    {
        "/_mock",
        "text/html; charset=utf-8",
#include "inspector_html_text.inc"
    },
    {
        "/_mock/inspector.css",
        "text/css; charset=utf-8",
#include "inspector_css_text.inc"
    },
    {
        "/_mock/inspector.js",
        "text/javascript; charset=utf-8",
#include "inspector_js_text.inc"
    },
};

}  // namespace

std::optional<http::Response> inspector(const http::Request& request) {
  if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
  if (request.path == "/_mock/") {
    return http::Response(308).header("Location", "../_mock");
  }
  for (const InspectorFile& file : inspector_files) {
    if (request.path == file.path) return script_page(200, file.type, std::string(file.text));
  }
  return std::nullopt;
}

}  // namespace ws::mock::pages
