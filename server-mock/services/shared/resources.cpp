#include "server-mock/services/shared/resources.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ws::mock {

namespace {

template <class Object>
auto write(const Actor& actor) {
  return Object(3).add("kind", actor.kind).add("id", actor.id).add("name", actor.name).take();
}

template <class Object>
auto write(Document&& document, WithContent content) {
  const bool agent = !document.created_by_agent_id.empty();
  const Actor creator = {.kind = agent ? "agent" : "user",
                         .id = std::move(agent ? document.created_by_agent_id : document.created_by_user_id),
                         .name = std::move(document.created_by_name)};
  const std::string self = "/v1/documents/" + document.id;
  constexpr std::size_t members = 17;
  Object json(members);
  json.add("id", std::move(document.id))
      .add("object", "document")
      .add("node_id", std::move(document.node_id))
      .add_or_null("parent_node_id", document.parent_node_id)
      .add_or_null("project_id", document.project_id)
      .add("workspace_id", std::move(document.workspace_id))
      .add("title", std::move(document.title));
  if (content == WithContent::yes) json.add("content", std::move(document.content));
  json.add("content_type", "text/markdown")
      .add("content_revision", document.content_revision)
      .add("content_sha256", std::move(document.content_sha256))
      .add("status", document.archived ? "archived" : "active")
      .add("created_by", write<Object>(creator))
      .add("created_at", rfc3339(document.created_at))
      .add("updated_by", write<Object>(document.updated_by))
      .add("updated_at", rfc3339(document.updated_at))
      .add("links",
           Object(3).add("self", self).add("comments", self + "/comments").add("shares", self + "/shares").take());
  return json.take();
}

}  // namespace

Json to_json(const Actor& actor) { return write<ObjectBuilder>(actor); }
Json to_json(Document&& document) { return write<ObjectBuilder>(std::move(document), WithContent::no); }
JsonText to_text(Document&& document) { return write<ObjectText>(std::move(document), WithContent::yes); }

Json to_json(const Node& node, std::string_view document_id, std::string_view asset_id) {
  Json links = {{"move", fmt::format("/v1/nodes/{}:move", node.id)}};
  if (!document_id.empty()) links["document"] = fmt::format("/v1/documents/{}", document_id);
  if (!asset_id.empty()) links["asset"] = fmt::format("/v1/files/{}", asset_id);
  return {{"id", node.id},
          {"object", "node"},
          {"kind", node.kind},
          {"title", node.title},
          {"parent_node_id", text_or_null(node.parent_id)},
          {"position", node.position},
          {"document_id", text_or_null(document_id)},
          {"asset_id", text_or_null(asset_id)},
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

}  // namespace ws::mock
