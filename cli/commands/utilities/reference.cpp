// `ws __reference`: what the reference pages and the man pages are made of.
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/grammar/help.hpp"
#include "cli/grammar/topics.hpp"
#include "cli/settings/settings.hpp"

namespace ws::cli {
namespace {

Json settings_reference() {
  Json list = Json::array();
  for (const SettingRule& rule : setting_rules()) {
    list.push_back({{"key", rule.key},
                    {"flag", text_or_null(rule.flag)},
                    {"variable", text_or_null(rule.variable)},
                    {"default", text_or_null(rule.fallback)},
                    {"in_project_file", rule.of_project},
                    {"in_profile", rule.of_profile},
                    {"help", rule.help}});
  }
  return list;
}

Json operations_reference() {
  Json list = Json::array();
  for (const contract::Operation* operation : contract::operations()) {
    list.push_back({{"id", operation->id},
                    {"method", contract::name(operation->method)},
                    {"path", operation->path},
                    {"command", operation->command},
                    {"summary", operation->summary},
                    {"scope", text_or_null(operation->scope)},
                    {"retry_class", contract::name(operation->retry)}});
  }
  return list;
}

}  // namespace

std::string reference_text(const std::vector<Entry>& entries) {
  Json all = catalogue_to_json(entries, "");
  all["version"] = version();
  Json commands = Json::array();
  for (const Entry& entry : entries) {
    Json help = help_to_json(entry.make());
    help["command"] = entry.words;
    help.erase("global_flags");
    commands.push_back(std::move(help));
  }
  all["commands"] = std::move(commands);
  all["topics"] = Json::array();
  for (const Topic& topic : help_topics()) {
    all["topics"].push_back({{"name", topic.name}, {"summary", topic.summary}, {"text", topic.text}});
  }
  all["exit_codes"] = Json::array();
  for (const ExitCodeMeaning& one : exit_codes()) {
    all["exit_codes"].push_back({{"exit", number(one.code)}, {"name", one.name}, {"meaning", one.meaning}});
  }
  all["settings"] = settings_reference();
  all["operations"] = operations_reference();
  return dump(all, 2) + "\n";
}

}  // namespace ws::cli
