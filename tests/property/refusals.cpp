#include "tests/property/refusals.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::property {
namespace {

constexpr std::string_view documents_path = "/v1/documents/";

/// The paths that a row refers to.
std::vector<sync::RelativePath> places_of(const sync::Action& action) {
  std::vector<sync::RelativePath> places = {action.path};
  if (action.previous_path) places.push_back(*action.previous_path);
  if (action.service_path) places.push_back(*action.service_path);
  return places;
}

bool touches(const sync::Action& a, const sync::Action& b) {
  if (!a.document.empty() && a.document == b.document) return true;
  for (const sync::RelativePath& one : places_of(a)) {
    for (const sync::RelativePath& other : places_of(b)) {
      const std::string x = one.twin_key();
      const std::string y = other.twin_key();
      if (x == y || x.starts_with(y + "/") || y.starts_with(x + "/")) return true;
    }
  }
  return false;
}

bool stands_alone(const sync::Report& report, const sync::Row& row) {
  return std::none_of(report.rows.begin(), report.rows.end(), [&](const sync::Row& other) {
    return &other != &row && touches(row.action, other.action);
  });
}

bool needs_text(const sync::Action& action) {
  return action.kind == sync::ActionKind::pull_create || action.kind == sync::ActionKind::pull_update;
}

std::string document_asked_for(std::string_view method, std::string_view target) {
  const std::size_t at = target.find(documents_path);
  if (method != "GET" || at == std::string_view::npos) return {};
  return std::string(target.substr(at + documents_path.size()));
}

http::Response with_body(http::Response response, const Json& body) {
  response.body = dump(body);
  return response;
}

http::Response without_texts(http::Response response) {
  auto page = parse_bounded(response.body);
  if (!page || response.status != 200) return response;
  for (Json& item : page->at("data")) item["content"] = Json();
  return with_body(std::move(response), *page);
}

http::Response push_but_for(const Refusals& refusals, http::Request request, const Network::Exchange& ask) {
  Json body = parse_bounded(request.body).value();
  Json taken = Json::array();
  Json rejected = Json::array();
  for (const Json& item : body.at("items")) {
    if (refusals.paths.contains(item.at("path").get<std::string>())) {
      rejected.push_back({{"path", item.at("path")}, {"code", refusals.code}, {"message", "not this one"}});
    } else {
      taken.push_back(item);
    }
  }
  if (rejected.empty()) return ask(request);
  body["items"] = std::move(taken);
  request.body = dump(body);
  http::Response response = ask(request);
  auto answer = parse_bounded(response.body);
  if (!answer || response.status != 200) return response;
  for (Json& each : rejected) answer->at("rejected").push_back(std::move(each));
  return with_body(std::move(response), *answer);
}

}  // namespace

bool Refusals::holds(const sync::Action& action) const {
  if (needs_text(action)) return documents.contains(action.document.text());
  return is_push(action.kind) && paths.contains(utf8::nfc(action.service_path.value_or(action.path).text()));
}

Refusals choose_refusals(const sync::Report& foreseen, std::uint8_t which, std::uint8_t how) {
  constexpr std::array codes = {"forbidden", "not_found", "hash_mismatch"};
  constexpr std::array statuses = {403, 404, 500};
  Refusals refusals{.code = codes[how % codes.size()], .status = statuses[how / 3U % statuses.size()]};
  for (const sync::Row& row : foreseen.rows) {
    const bool chosen = (which & 1U) != 0;
    which = static_cast<std::uint8_t>(which >> 1U | which << 7U);
    if (!chosen || !stands_alone(foreseen, row)) continue;
    if (needs_text(row.action)) refusals.documents.insert(row.action.document.text());
    if (is_push(row.action.kind)) {
      refusals.paths.insert(utf8::nfc(row.action.service_path.value_or(row.action.path).text()));
    }
  }
  return refusals;
}

http::Response answer_but_for(const Refusals& refusals, const http::Request& request, const Network::Exchange& ask) {
  if (request.url.find("/pull?") != std::string::npos) return without_texts(ask(request));
  if (request.url.ends_with("/v1/sync/push")) return push_but_for(refusals, request, ask);
  if (refusals.documents.contains(document_asked_for(request.method, request.url))) {
    return ws::test::json_response(refusals.status, R"({"error": {"code": "refused", "message": "not this one"}})");
  }
  return ask(request);
}

std::set<std::string> asked_by_name(const std::vector<std::string>& sent) {
  std::set<std::string> names;
  for (const std::string& request : sent) {
    const std::size_t space = request.find(' ');
    const std::string target = request.substr(space + 1, request.find(' ', space + 1) - space - 1);
    const std::string document = document_asked_for(request.substr(0, space), target);
    if (!document.empty()) names.insert(document);
    if (!target.ends_with("/v1/sync/push")) continue;
    const Json body = parse_bounded(std::string_view(request).substr(request.find('{'))).value();
    for (const Json& item : body.at("items")) names.insert(item.at("path").get<std::string>());
  }
  return names;
}

}  // namespace ws::property
