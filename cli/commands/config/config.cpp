// `ws config`: shows settings with their origin, and edits config.yaml.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/suggestion.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/output/format.hpp"

namespace ws::cli {
namespace {

Result<const SettingRule*> rule_of(const std::string& key) {
  if (const SettingRule* rule = find_setting_rule(key)) return rule;
  std::vector<std::string> known;
  for (const SettingRule& rule : setting_rules()) known.emplace_back(rule.key);
  const std::string hint = suggestion(key, known, "");
  return fail(Failure::Kind::usage,
              "there is no setting `" + key + "`",
              hint.empty() ? "`ws config list` shows them; aliases are aliases.NAME" : hint);
}

Result<std::vector<Named>> named_of(Session& session, const SettingRule& rule) {
  WS_LET(std::vector<Named> named,
         who_names(rule,
                   session.setting_flags(),
                   session.world().environment,
                   session.paths(),
                   std::filesystem::current_path()));
  if (rule.key != "base_url") return named;
  WS_LET(const auto stored, session.stored_key());
  if (stored) named.push_back({Where::stored_key, "profile `" + stored->profile + "`", stored->base_url});
  return named;
}

Json row_of(const SettingRule& rule, const std::vector<Named>& named) {
  return {{"key", rule.key},
          {"value", named.empty() ? Json() : Json(named.front().value)},
          {"where", named.empty() ? Json() : Json(name(named.front().where))},
          {"place", named.empty() ? Json() : Json(named.front().place)}};
}

std::string user_config_file(const Session& session) { return (session.paths().config / "config.yaml").string(); }

bool is_alias(const std::string& key) { return key.substr(0, 8) == "aliases."; }

Result<ExitCode> get_setting(Session& session) {
  const std::string& key = session.arguments().words.front();
  std::string value;
  if (is_alias(key)) {
    WS_LET(const auto aliases, read_aliases(session.paths()));
    const auto found = aliases.find(key.substr(8));
    if (found != aliases.end()) value = found->second;
  } else {
    WS_LET(const SettingRule* rule, rule_of(key));
    WS_LET(const auto named, named_of(session, *rule));
    if (!named.empty()) value = named.front().value;
  }
  if (value.empty()) return fail(Failure::Kind::not_found, "`" + key + "` is not set");
  if (prints_text(session)) {
    session.printer().line(value);
  } else {
    session.printer().resource({{"v", 1}, {"key", key}, {"value", value}});
  }
  return ExitCode::done;
}

Result<ExitCode> list_settings(Session& session) {
  Json whole = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const SettingRule& rule : setting_rules()) {
    WS_LET(const auto named, named_of(session, rule));
    whole["data"].push_back(row_of(rule, named));
  }
  WS_LET(const auto aliases, read_aliases(session.paths()));
  const std::string file = user_config_file(session);
  for (const auto& [word, value] : aliases) {
    const std::string key = "aliases." + word;
    whole["data"].push_back({{"key", key},
                             {"value", value},
                             {"where", name(Where::user_config)},
                             {"place", fmt::format("{}: {}", file, key)}});
  }
  session.printer().list("ws.settings", whole, {});
  return ExitCode::done;
}

Result<ExitCode> explain(Session& session) {
  WS_LET(const SettingRule* rule, rule_of(session.arguments().words.front()));
  WS_LET(const auto named, named_of(session, *rule));
  Json whole = row_of(*rule, named);
  whole["v"] = 1;
  whole["help"] = rule->help;
  whole["data"] = Json::array();
  for (const Named& one : named) {
    whole["data"].push_back(
        {{"wins", whole["data"].empty()}, {"value", one.value}, {"where", name(one.where)}, {"place", one.place}});
  }
  whole["next_cursor"] = nullptr;
  if (named.empty()) session.note("`" + std::string(rule->key) + "` is not set (" + std::string(rule->help) + ")");
  session.printer().list("ws.explanation", whole, {});
  return ExitCode::done;
}

Result<void> check_value(const Session& session, const std::string& key, const std::string& value) {
  if (key == "base_url") {
    WS_TRY(check_base_url(value, session.world().environment));
  }
  if (key == "format" && !find_format(value)) {
    return fail(
        Failure::Kind::usage, "`" + value + "` is not a format", "use table, tsv, json, ndjson, yaml, csv or ids");
  }
  if (key == "credential_store" && value != "file" && value != "keyring") {
    return fail(Failure::Kind::usage, "`" + value + "` is not a credential store", "use keyring or file");
  }
  if (key == "max_wait" && !parse_duration(value)) {
    return fail(Failure::Kind::usage, "max_wait takes a time like 30 or 2m, not `" + value + "`");
  }
  return {};
}

/// Where in the file a key stands: an alias by itself, server and Workspace in the profile, the rest in the defaults.
Result<std::string> place_of(const Session& session, const std::string& key) {
  if (is_alias(key) && key.size() > 8 && key.find('.', 8) == std::string::npos) return key;
  WS_LET(const SettingRule* rule, rule_of(key));
  const bool named = session.arguments().value("profile").has_value();
  if (rule->of_profile && (named || key == "base_url" || key == "workspace")) {
    const std::string profile = session.settings().profile ? session.settings().profile.value : "default";
    if (profile.find('.') != std::string::npos) return fail(Failure::Kind::usage, "a profile's name holds no dot");
    return "profiles." + profile + "." + key;
  }
  return "defaults." + key;
}

Result<ExitCode> set(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  const bool unset = session.has("unset");
  if (unset == (words.size() == 2)) {
    return fail(
        Failure::Kind::usage, unset ? "--unset takes no value" : "a value is missing", "ws config set KEY VALUE");
  }
  WS_LET(const std::string place, place_of(session, words.front()));
  if (!unset) {
    if (words.back().empty()) return fail(Failure::Kind::usage, "the value is empty", "remove it with --unset");
    WS_TRY(check_value(session, words.front(), words.back()));
  }
  const std::string file = user_config_file(session);
  if (session.has("dry-run")) {
    session.printer().sentence(unset ? "would remove " + place + " from " + file
                                     : "would set " + place + " to " + words.back() + " in " + file);
    return ExitCode::done;
  }
  WS_TRY(write_config(session.paths(), place, unset ? "" : words.back()));
  session.note(unset ? "removed " + place + " from " + file : "set " + place + " to " + words.back() + " in " + file);
  return ExitCode::done;
}

const Word key_word = {.placeholder = "KEY", .help = "as `ws config list` shows them, or aliases.NAME"};

}  // namespace

Command config_get_command() {
  return {.words = "config get",
          .summary = "Print a setting's value",
          .arguments = {key_word},
          .examples = {"ws config get base_url", "ws config get aliases.mine"},
          .needs_no_settings = true,
          .run = get_setting};
}

Command config_set_command() {
  return {.words = "config set",
          .summary = "Set a value in your own config file",
          .details =
              "base_url and workspace belong to the profile (--profile, else the one in use); so do other values "
              "when --profile is given. Every other line of the file stays as it is.",
          .arguments = {key_word, {.placeholder = "VALUE", .count = Count::optional}},
          .flags = {{.name = "unset", .help = "remove it instead"}},
          .examples = {"ws config set format json", "ws config set aliases.mine 'docs list --limit 5'"},
          .needs_no_settings = true,
          .run = set};
}

Command config_list_command() {
  return {.words = "config list",
          .summary = "List every setting, its value and where it is set",
          .examples = {"ws config list"},
          .needs_no_settings = true,
          .run = list_settings};
}

Command config_explain_command() {
  return {.words = "config explain",
          .summary = "Show where a setting is set, the value in use first",
          .arguments = {key_word},
          .examples = {"ws config explain format"},
          .needs_no_settings = true,
          .run = explain};
}

}  // namespace ws::cli
