/// Answers a question by quoting and citing texts of the Workspace.
///
/// The answer is extractive: the chunks that share the most words with the prompt are searched for the relevant line or
/// paragraph. If no chunk shares enough words, the answer says so and cites nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Sources of an answer: the documents of the Workspace, or the answers to its earlier questions.
enum class Knowledge { workspace, memory };
std::string_view name(Knowledge knowledge);  ///< "workspace"

/// A quote with its source.
struct Passage {
  Knowledge knowledge = Knowledge::workspace;
  std::string document_id = {};
  std::string title = {};
  std::string chunk_id = {};
  std::vector<std::string> heading_path = {};
  std::string quote = {};  ///< a literal part of the chunk
};

/// Passages that the caller may read in one Workspace and that match the prompt, best first. The index must be up to
/// date.
Result<std::vector<Passage>> find_passages(
    World& world, const Caller& caller, std::string_view workspace_id, std::string_view prompt, Knowledge knowledge);

/// The answer as Markdown. `asked`: the names of the sources, told in the sentence that nothing was found.
std::string render_answer(const std::vector<Passage>& passages, const std::vector<std::string>& asked);
/// The document in which the answer is stored.
std::string render_artifact(std::string_view title, std::string_view prompt, std::string_view answer);
/// The prompt's first line, at most 80 code points.
std::string make_title(std::string_view prompt);

/// Passages as they are stored with their question.
Json to_json(const std::vector<Passage>& passages);
std::vector<Passage> parse_passages(const Json& json);

}  // namespace ws::mock
