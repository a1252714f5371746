/// How a question is answered: by what stands in the texts, quoted and cited, and never by more.
///
/// The answer is extractive. The chunks that share most words with the prompt are asked for the line or paragraph that
/// says it; where no chunk shares enough, the answer says so and cites nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Where an answer may come from: the documents of the Workspace, the answers to its earlier questions.
enum class Knowledge { workspace, memory };
std::string_view name(Knowledge knowledge);  ///< "workspace"

/// A quote and where it stands.
struct Passage {
  Knowledge knowledge = Knowledge::workspace;
  std::string document_id = {};
  std::string title = {};
  std::string chunk_id = {};
  std::vector<std::string> heading_path = {};
  std::string quote = {};  ///< literally a part of the chunk
};

/// What the caller may read in one Workspace and answers the prompt, best first; empty where nothing does. The index
/// is up to date.
Result<std::vector<Passage>> find_passages(
    World& world, const Caller& caller, std::string_view workspace_id, std::string_view prompt, Knowledge knowledge);

/// The answer as Markdown. `asked`: where it was looked, for the sentence that says that nothing was found.
std::string render_answer(const std::vector<Passage>& passages, const std::vector<Knowledge>& asked);
/// The document in which it is kept.
std::string render_artifact(std::string_view title, std::string_view prompt, std::string_view answer);
/// The prompt's first line, at most 80 code points.
std::string make_title(std::string_view prompt);

/// As passages are kept beside their question.
Json to_json(const std::vector<Passage>& passages);
std::vector<Passage> parse_passages(const Json& json);

}  // namespace ws::mock
