#include <string>

#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/pages/pages.hpp"

namespace ws::mock::pages {
namespace {

constexpr std::string_view skill_file = "SKILL.md";
// `skill/SKILL.md`, embedded by CMake.
constexpr std::string_view skill_text =
#include "skill_text.inc"
    ;

std::string manifest() {
  const Json file = {{"path", skill_file}, {"sha256", Sha256::of(skill_text).hex()}, {"size_bytes", skill_text.size()}};
  const Json whole = {
      {"name", "service-operate-workspace"}, {"version", contract::api_version}, {"files", Json::array({file})}};
  return dump(whole, 2) + "\n";
}

http::Response give(const http::Request& request, std::string_view content_type, std::string text) {
  http::Response response;
  const std::string etag = "\"" + Sha256::of(text).hex() + "\"";
  response.header("ETag", etag);
  if (request.find("If-None-Match").value_or("") == etag) return http::Response(304).header("ETag", etag);
  response.body(content_type, std::move(text)).header("X-Content-Type-Options", "nosniff");
  return response;
}

}  // namespace

std::optional<http::Response> skill(const http::Request& request) {
  if (!request.path.starts_with(skill_path)) return std::nullopt;
  std::string_view rest = request.path.substr(skill_path.size());
  if (!rest.empty() && rest.front() != '/') return std::nullopt;
  if (!rest.empty()) rest.remove_prefix(1);
  const bool is_manifest = rest.empty() || rest == "manifest.json";
  if (!is_manifest && rest != skill_file) return std::nullopt;
  if (request.method != "GET" && request.method != "HEAD") {
    http::Response response(request.method == "OPTIONS" ? 204 : 405);
    response.header("Allow", "GET, HEAD, OPTIONS");
    return response;
  }
  if (is_manifest) return give(request, "application/json", manifest());
  return give(request, "text/markdown; charset=utf-8", std::string(skill_text));
}

}  // namespace ws::mock::pages
