#include "tests/server-mock/access/things.hpp"

#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"

namespace ws::mock::test {
namespace {

constexpr const char* nobody = "019b76da-a800-7a7b-9527-47438ee725fe";

}  // namespace

Things::Things(Wire& wire) : wire_(wire) {
  const BuiltIn& built_in = wire.built_in();
  const Json document = make(
      "/v1/documents", {{"title", "Hull"}, {"content", "# Hull\n\nbarnacles"}, {"project_id", built_in.project_id}});
  names_["document"] = document.at("id");
  names_["node"] = document.at("node_id");
  const std::string comments = "/v1/documents/" + names_["document"] + "/comments";
  names_["thread"] = make(comments, {{"body", "@scout look at the barnacles"}}).at("id");
  const Json event = make("/v1/agent-events:claim", {{"worker_id", "w"}, {"lease_seconds", 900}}, 200).at("event");
  names_["event"] = event.at("id");
  names_["lease_token"] = event.at("lease_token");
  const Json question = make("/v1/questions", {{"prompt", "barnacles?"}, {"sources", {"workspace"}}}, 200);
  names_["question"] = question.at("id");
  names_["conversation"] = question.at("conversation_id");
  names_["artifact"] = question.at("artifacts").at(0).at("document_id");
  names_["source"] = make("/v1/sync/sources", {{"name", "Rigging"}}).at("id");
  names_["agent"] = built_in.agent_id;
  names_["project"] = built_in.project_id;
  names_["project_node"] = built_in.project_node_id;
  names_["workspace"] = built_in.workspace_id;
  const Json selection = {{"selection_kind", "cases"}, {"case_ids", {"documents.read_back"}}};
  names_["run"] = make("/v1/admin/tests/runs", selection, 202).at("id");
  make_conflict();
  make_file();
}

Json Things::make(const std::string& target, const Json& body, int status) {
  const RawAnswer answer = wire_.send("POST", target, body);
  INFO(target << ": " << answer.body);
  REQUIRE(answer.status == status);
  return parse(answer);
}

/// Creates a sync conflict: edits a document after its revision was pulled, and pushes another edit.
void Things::make_conflict() {
  const auto publish = [&](Json item, const std::string& text) {
    item["path"] = "rigging.md";
    item["content"] = text;
    item["content_sha256"] = Sha256::of(text).hex();
    const std::string plan = make("/v1/sync/plan",
                                  {{"source_id", names_["source"]},
                                   {"base_revision", 0},
                                   {"client_id", "c"},
                                   {"complete", false},
                                   {"entries", Json::array()}},
                                  200)
                                 .at("plan_id");
    names_["plan"] = plan;
    const Json push = make(
        "/v1/sync/push", {{"source_id", names_["source"]}, {"plan_id", plan}, {"items", Json::array({item})}}, 200);
    return make("/v1/sync/commit",
                {{"source_id", names_["source"]},
                 {"plan_id", plan},
                 {"push_ids", {push.at("push_id")}},
                 {"expected_revision", 0},
                 {"client_id", "c"}},
                200);
  };
  const std::string id = publish({{"action", "push_create"}}, "one").at("applied").at(0).at("document_id");
  names_["synced_document"] = id;
  wire_.send("PUT", "/v1/documents/" + id, {{"content", "two"}, {"expected_content_revision", 1}});
  const Json item = {{"action", "push_update"}, {"document_id", id}, {"expected_content_revision", 1}};
  names_["conflict"] = publish(item, "three").at("conflicts").at(0).at("id");
}

void Things::make_file() {
  for (const char* name : {"upload", "asset", "file_operation"}) names_[name] = nobody;
  const std::string bytes = "# Keel\n\nbarnacles";
  const Json start = {{"file_name", "keel.md"}, {"mime_type", "text/markdown"}, {"size_bytes", bytes.size()}};
  const RawAnswer answer = wire_.send("POST", "/v1/files/uploads", start);
  if (answer.status == 501) return;
  const Json started = parse(answer);
  names_["upload"] = started.at("upload_id");
  RawRequest put = {.method = "PUT", .target = started.at("upload_url")};
  put.target.erase(0, std::string("http://mock.test").size());
  for (const auto& [name, value] : started.at("upload_headers").items()) {
    if (name != "Content-Length") put.headers.push_back(name + ": " + value.get<std::string>());
  }
  put.headers.push_back("Content-Length: " + std::to_string(bytes.size()));
  const int status = wire_.say(ws::test::render(put) + bytes).status;
  if (status == 404) return;
  REQUIRE(status == 200);
  names_["asset"] = make("/v1/files/uploads:finalize",
                         {{"upload_id", names_["upload"]},
                          {"blob_name", started.at("blob_name")},
                          {"file_name", "keel.md"},
                          {"mime_type", "text/markdown"},
                          {"size_bytes", bytes.size()}})
                        .at("id");
  const std::string organize = "/v1/files/" + names_["asset"] + ":organize";
  names_["file_operation"] = make(organize, {{"instruction", "by headings"}}, 202).at("operation_id");
  names_["asset_is_real"] = "yes";
}

std::string Things::fill(std::string_view text) const {
  std::string filled(text);
  for (const auto& [name, value] : names_) {
    const std::string place = "{" + name + "}";
    for (std::size_t at = filled.find(place); at != std::string::npos; at = filled.find(place)) {
      filled.replace(at, place.size(), value);
    }
  }
  return filled;
}

RawAnswer Things::ask(const AccessRule& rule, const std::string& token) const {
  return wire_.ask(
      {.method = std::string(rule.method), .target = fill(rule.path), .token = token, .json = fill(rule.body)});
}

}  // namespace ws::mock::test
