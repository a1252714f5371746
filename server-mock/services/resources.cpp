#include "server-mock/services/resources.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ws::mock {

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

Json to_json(const Actor& actor) { return {{"kind", actor.kind}, {"id", actor.id}, {"name", actor.name}}; }

Json to_json(Document&& document, WithContent content) {
  const bool agent = !document.created_by_agent_id.empty();
  const Actor creator = {.kind = agent ? "agent" : "user",
                         .id = agent ? document.created_by_agent_id : document.created_by_user_id,
                         .name = document.created_by_name};
  const std::string self = "/v1/documents/" + document.id;
  Json json = {{"id", document.id},
               {"object", "document"},
               {"node_id", document.node_id},
               {"parent_node_id", text_or_null(document.parent_node_id)},
               {"project_id", text_or_null(document.project_id)},
               {"workspace_id", document.workspace_id},
               {"title", document.title}};
  if (content == WithContent::yes) json["content"] = std::move(document.content);
  json["content_type"] = "text/markdown";
  json["content_revision"] = document.content_revision;
  json["content_sha256"] = document.content_sha256;
  json["status"] = document.archived ? "archived" : "active";
  json["created_by"] = to_json(creator);
  json["created_at"] = rfc3339(document.created_at);
  json["updated_by"] = to_json(document.updated_by);
  json["updated_at"] = rfc3339(document.updated_at);
  json["links"] = {{"self", self}, {"comments", self + "/comments"}, {"shares", self + "/shares"}};
  return json;
}

Json to_json(const Node& node, std::string_view document_id) {
  Json links = {{"move", fmt::format("/v1/nodes/{}:move", node.id)}};
  if (!document_id.empty()) links["document"] = fmt::format("/v1/documents/{}", document_id);
  return {{"id", node.id},
          {"object", "node"},
          {"kind", node.kind},
          {"title", node.title},
          {"parent_node_id", text_or_null(node.parent_id)},
          {"position", node.position},
          {"document_id", text_or_null(document_id)},
          {"asset_id", nullptr},
          {"links", std::move(links)}};
}

Json to_json(const WorkspaceRow& workspace) {
  return {{"id", workspace.id},
          {"object", "workspace"},
          {"name", workspace.name},
          {"role", workspace.role},
          {"created_at", rfc3339(workspace.created_at)},
          {"updated_at", rfc3339(workspace.updated_at)},
          {"links", {{"documents", "/v1/documents"}}}};
}

std::string document_etag(std::int64_t content_revision) { return fmt::format("\"{}\"", content_revision); }

}  // namespace ws::mock
