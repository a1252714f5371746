#include <nlohmann/json.hpp>

#include "api-client/base/uuid.hpp"
#include "server-mock/compare/grade.hpp"
#include "server-mock/journal/redactor.hpp"

namespace ws::mock::compare {
namespace {

constexpr std::size_t uuid_length = 36;

/// Kinds of placeholders for plain texts of the recording; they are not identifiers that need a counterpart.
bool is_free_text(std::string_view placeholder) {
  const std::string_view kind = kind_of(placeholder);
  return kind == "text" || kind == "idempotency" || kind == "name" || kind == "secret" || kind == "url";
}

}  // namespace

bool Binding::bind(const std::string& theirs, const std::string& ours) {
  const auto known = ours_of_.find(theirs);
  if (known != ours_of_.end()) return known->second == ours;
  const auto image = theirs_of_.find(ours);
  if (image != theirs_of_.end()) return image->second == theirs;
  ours_of_.emplace(theirs, ours);
  theirs_of_.emplace(ours, theirs);
  return true;
}

const std::string* Binding::find(const std::string& theirs) const {
  const auto found = ours_of_.find(theirs);
  return found == ours_of_.end() ? nullptr : &found->second;
}

const std::string* Binding::theirs_of(const std::string& ours) const {
  const auto found = theirs_of_.find(ours);
  return found == theirs_of_.end() ? nullptr : &found->second;
}

Translated Binding::translate(std::string_view text) const {
  Translated translated;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t placeholder = text[at] == '<' ? placeholder_length(text, at) : 0;
    const bool is_id =
        placeholder == 0 && text.size() - at >= uuid_length && text[at] != '-' && is_uuid(text.substr(at, uuid_length));
    if (placeholder == 0 && !is_id) {
      translated.text += text[at++];
      continue;
    }
    const std::string_view name = text.substr(at, is_id ? uuid_length : placeholder);
    at += name.size();
    if (const std::string* ours = find(std::string(name))) {
      translated.text += *ours;
    } else {
      translated.is_foreign = translated.is_foreign || is_id || !is_free_text(name);
      translated.text += is_id ? std::string(name) : placeholder_text(name);
    }
  }
  return translated;
}

Json Binding::translate(const Json& value, bool& is_foreign) const {
  if (value.is_string()) {
    Translated one = translate(std::string_view(value.get_ref<const std::string&>()));
    is_foreign = is_foreign || one.is_foreign;
    return std::move(one.text);
  }
  if (value.is_array()) {
    Json all = Json::array();
    for (const Json& item : value) all.push_back(translate(item, is_foreign));
    return all;
  }
  if (!value.is_object()) return value;
  Json all = Json::object();
  for (const auto& [key, member] : value.items()) all[key] = translate(member, is_foreign);
  return all;
}

}  // namespace ws::mock::compare
