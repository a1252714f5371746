#include "api-client/client/echoed_id.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/contract/operations.hpp"

namespace ws {
namespace {

bool names_the_same(std::string_view a, std::string_view b) {
  return is_uuid(a) && is_uuid(b) ? equal_ignoring_case(a, b) : a == b;
}

}  // namespace

std::string_view member_that_repeats(const contract::Operation& operation, std::string_view parameter) {
  const contract::Schema* const answer = operation.responses.empty() ? nullptr : operation.responses.front().schema;
  if (answer == nullptr) return {};
  if (const contract::Field* const same = contract::find_field(*answer, parameter)) return same->name;
  // A comment's document goes by the name that the document has as a Page.
  if (parameter == "document_id") {
    if (const contract::Field* const page = contract::find_field(*answer, "page_id")) return page->name;
  }
  const contract::Field* const id = contract::find_field(*answer, "id");
  if (id == nullptr) return {};
  // What stands behind the last parameter is another object, but for the parts of a thread: they answer with it.
  const std::size_t last = operation.path.rfind('{');
  if (last == std::string_view::npos || !operation.path.substr(last + 1).starts_with(parameter)) return {};
  const bool names_the_object = operation.path.substr(last).find('/') == std::string_view::npos;
  return names_the_object || parameter == "thread_id" ? id->name : std::string_view();
}

std::optional<OtherObject> find_other_object(const contract::Operation& operation,
                                             const std::vector<std::pair<std::string, std::string>>& parameters,
                                             const Json& answer) {
  if (!answer.is_object()) return std::nullopt;
  for (const auto& [name, asked_for] : parameters) {
    const std::string_view member = member_that_repeats(operation, name);
    const auto came = member.empty() ? std::nullopt : find_text(answer, member);
    if (came && !names_the_same(*came, asked_for)) return OtherObject{asked_for, *came};
  }
  return std::nullopt;
}

}  // namespace ws
