#include "tests/property/service.hpp"

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "sync-engine/manifest/manifest.hpp"

namespace ws::property {
namespace {

mock::ApplicationOptions standing_still() {
  mock::ApplicationOptions options;
  options.sandbox.clock = mock::MockClock::parse("frozen:2026-11-20T10:00:00Z").value();
  return options;
}

http::Headers headers_of(const std::string& lines) {
  http::Headers headers;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find("\r\n", begin), lines.size());
    const std::size_t colon = lines.find(": ", begin);
    if (colon < end) headers.emplace_back(lines.substr(begin, colon - begin), lines.substr(colon + 2, end - colon - 2));
    begin = end + 2;
  }
  return headers;
}

}  // namespace

Service::Service() : application_(mock::Application::open(standing_still()).value()) {
  application_->set_base_url(service_url);
  source_id_ = call("POST", "/v1/sync/sources", R"({"name": "notes"})").at("id");
}

const std::string& Service::token() const { return application_->sandbox().built_in.token; }

const std::string& Service::viewers_token() {
  if (viewers_token_.empty()) viewers_token_ = call("POST", "/_mock/keys", R"({"role": "viewer"})").at("secret");
  return viewers_token_;
}

http::Response Service::answer(const http::Request& request) {
  if (request.method != "GET") documents_.reset();
  const std::string target = request.url.substr(std::string(service_url).size());
  std::string head = request.method + " " + target + " HTTP/1.1\r\n";
  mock::http::Request asked{.method = request.method, .target = target};
  for (const auto& [name, value] : request.headers) asked.headers.push_back({name, value});
  const std::string length = std::to_string(request.body.size());
  if (request.method == "PUT") asked.headers.push_back({"Content-Length", length});
  asked.head = head;
  asked.body = request.body;
  split_target(asked);
  const std::unique_ptr<mock::http::BodySink> sink = application_->open_sink(asked);
  if (sink) {
    asked.sink = sink.get();
    asked.body = {};
    if (sink->wants_more()) sink->take(request.body);
  }
  const mock::http::Response answered = application_->handle(asked);
  if (target.ends_with("/v1/sync/commit") && answered.status() == 200) {
    const Json commit = parse_bounded(answered.text()).value();
    for (const Json& each : commit.at("applied")) log_.emplace(each.at("document_id"), each.at("content_revision"));
  }
  std::string body = answered.text();
  if (mock::http::BodySource* const bytes = answered.source()) {
    body.resize(bytes->size_bytes());
    for (std::size_t filled = 0; filled < body.size();) filled += bytes->read(std::span(body).subspan(filled));
  }
  return {.status = answered.status(), .headers = headers_of(answered.headers()), .body = std::move(body)};
}

Json Service::call(const std::string& method, const std::string& target, const std::string& body) {
  http::Request request{.method = method, .url = service_url + target, .body = body};
  request.headers.emplace_back("Authorization", "Bearer " + token());
  if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  const http::Response got = answer(request);
  if (got.status / 100 != 2) throw std::runtime_error(method + " " + target + ": " + got.body);
  return got.body.empty() ? Json() : parse_bounded(got.body).value();
}

void Service::assume(const std::string& key, const std::string& value) {
  static_cast<void>(call("PATCH", "/_mock/assumptions", dump(Json{{key, value}})));
}

void Service::pass(std::chrono::seconds time) {
  static_cast<void>(call("POST", "/_mock/clock:advance", fmt::format(R"({{"seconds": {}}})", time.count())));
}

const Documents& Service::documents() {
  if (!documents_) documents_ = ask_for_documents();
  return *documents_;
}

Documents Service::ask_for_documents() {
  Documents documents;
  lists_.clear();
  std::string cursor;
  do {
    const Json page = call(
        "GET",
        "/v1/sync/sources/" + source_id_ + "/pull?limit=1000" + (cursor.empty() ? std::string() : "&cursor=" + cursor));
    for (const Json& each : page.at("data")) {
      if (each.at("deleted").get<bool>()) continue;
      const Document document{
          .path = each.at("path"), .text = each.at("content"), .revision = each.at("content_revision")};
      const std::string id = each.at("document_id");
      known_.emplace(std::pair(id, document.revision), document.text);
      if (document.path.starts_with("_attachments")) {
        lists_[document.path] = document.text;
      } else {
        documents.emplace(id, document);
      }
    }
    cursor = page.at("next_cursor").is_string() ? page.at("next_cursor").get<std::string>() : std::string();
  } while (!cursor.empty());
  return documents;
}

std::map<std::string, std::string> Service::tree() {
  std::map<std::string, std::string> tree;
  for (const auto& [id, document] : documents()) tree[document.path] = document.text;
  return tree;
}

std::map<std::string, std::string> Service::listed() {
  static_cast<void>(documents());
  std::map<std::string, std::string> listed;
  for (const auto& [path, text] : lists_) {
    const auto part = sync::parse_manifest(text);
    if (!part) continue;
    for (const auto& [file, row] : part->rows) listed[file.string()] = row.hash.hex();
  }
  return listed;
}

std::set<std::string> Service::asset_hashes() {
  std::set<std::string> hashes;
  const Json state = call("GET", "/_mock/state");
  for (const Json& asset : state.at("tables").at("assets"))
    hashes.insert(asset.at("content_sha256").get<std::string>());
  return hashes;
}

std::optional<std::string> Service::find(const std::string& path) {
  for (const auto& [id, document] : documents()) {
    if (document.path == path) return id;
  }
  return std::nullopt;
}

std::string Service::ledger() {
  const Json state = call("GET", "/_mock/state");
  const Json& tables = state.at("tables");
  std::set<std::string> open;
  for (const Json& conflict : tables.at("sync_conflicts")) {
    if (conflict.at("status") == "open")
      open.insert(conflict.at("kind").get<std::string>() + " " + conflict.at("path").get<std::string>());
  }
  std::string out = fmt::format("{} documents|", tables.at("documents").size());
  for (const std::string& line : open) out += line + "|";
  return out;
}

void Service::publish(const std::vector<Item>& items) {
  const Documents now = documents();  // a copy: the requests below may change them
  const Json plan = call("POST",
                         "/v1/sync/plan",
                         dump(Json{{"source_id", source_id_},
                                   {"base_revision", 0},
                                   {"client_id", "somebody"},
                                   {"complete", false},
                                   {"entries", Json::array()}}));
  Json sent = Json::array();
  for (const Item& item : items) {
    const bool known = !item.document.empty();
    sent.push_back({{"path", item.path},
                    {"action", item.action},
                    {"document_id", known ? Json(item.document) : Json()},
                    {"content", item.text ? Json(*item.text) : Json()},
                    {"content_sha256", item.text ? Json(Sha256::of(*item.text).hex()) : Json()},
                    {"expected_content_revision", known ? Json(now.at(item.document).revision) : Json()},
                    {"previous_path", item.previous_path.empty() ? Json() : Json(item.previous_path)}});
  }
  const Json pushed = call(
      "POST", "/v1/sync/push", dump(Json{{"source_id", source_id_}, {"plan_id", plan.at("plan_id")}, {"items", sent}}));
  static_cast<void>(call("POST",
                         "/v1/sync/commit",
                         dump(Json{{"source_id", source_id_},
                                   {"plan_id", plan.at("plan_id")},
                                   {"push_ids", {pushed.at("push_id")}},
                                   {"expected_revision", plan.at("revision")},
                                   {"client_id", "somebody"}})));
  static_cast<void>(documents());
}

void Service::retitle(const std::string& document, const std::string& title) {
  const Documents now = documents();
  static_cast<void>(call("PUT",
                         "/v1/documents/" + document,
                         dump(Json{{"title", title},
                                   {"content", now.at(document).text},
                                   {"expected_content_revision", now.at(document).revision}})));
}

void Service::save() { static_cast<void>(call("PUT", "/_mock/snapshots/backup")); }

void Service::restore() {
  static_cast<void>(call("POST", "/_mock/snapshots/backup:restore"));
  documents_.reset();
}

void Service::decide_conflicts(const std::string& text) {
  const Json state = call("GET", "/_mock/state");
  for (const Json& conflict : state.at("tables").at("sync_conflicts")) {
    if (conflict.at("status") != "open") continue;
    const auto found = documents().find(conflict.at("document_id").get<std::string>());
    const Json revision = found == documents().end() ? Json() : Json(found->second.revision);
    static_cast<void>(call("POST",
                           "/v1/sync/conflicts/" + conflict.at("id").get<std::string>() + ":resolve",
                           dump(Json{{"resolution", "merged"},
                                     {"content", text},
                                     {"content_sha256", Sha256::of(text).hex()},
                                     {"expected_content_revision", revision}})));
  }
}

}  // namespace ws::property
