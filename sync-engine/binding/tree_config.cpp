#include "sync-engine/binding/tree_config.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/yaml.hpp"

namespace ws::sync {
namespace {

constexpr std::string_view shown_name = ".ws/config.yaml";
constexpr std::size_t max_bytes = std::size_t{1} << 20U;

tl::unexpected<Failure> refused_config(const std::string& place, std::string_view why) {
  return fail(Failure{.kind = Failure::Kind::usage,
                      .what = fmt::format("{}{}: {}", shown_name, place, why),
                      .hint = "it knows `include`, `leave_out`, `links`, `names`, `merge_later`, `max_file_bytes`, "
                              "`attachments`, `attachments_exclude`, `attachments_kinds` and "
                              "`attachments_max_bytes`",
                      .code = "bad_config"});
}

class ConfigReader {
 public:
  explicit ConfigReader(const YamlWithPositions& yaml) : yaml_(yaml) {}

  Result<TreeConfig> read() {
    const Json& whole = *yaml_.value;
    if (whole.is_null()) return config_;
    if (!whole.is_object()) return refused_config(place(""), "it must hold keys and values");
    for (const auto& [key, value] : whole.items()) WS_TRY(take(key, value));
    return std::move(config_);
  }

 private:
  std::string place(const std::string& pointer) const {
    const auto found = yaml_.places.find(pointer);
    return found == yaml_.places.end() ? "" : fmt::format(":{}:{}", found->second.line, found->second.column);
  }

  Result<void> take(const std::string& key, const Json& value) {
    const std::string at = place("/" + key);
    // YAML reads a bare `off` as a word here, and `false` is what other readers make of it.
    const std::string word = value.is_string() ? value.get<std::string>() : value == false ? "off" : "";
    if (key == "max_file_bytes" || key == "attachments_max_bytes") {
      if (!value.is_number_integer() || value.get<std::int64_t>() <= 0)
        return refused_config(at, fmt::format("`{}` takes a number of at least 1", key));
      const auto bytes = value.get<std::uint64_t>();
      if (key == "max_file_bytes") config_.max_file_bytes = bytes;
      if (key == "attachments_max_bytes") config_.attachments_max_bytes = std::min(bytes, max_attachment_bytes);
      return {};
    }
    if (key == "names") {
      if (value != "portable" && value != "any") return refused_config(at, "`names` takes portable or any");
      config_.portable_names = value == "portable";
      return {};
    }
    if (key == "attachments") {
      const auto mode = find_attachment_mode(word);
      if (!mode) return refused_config(at, "`attachments` takes linked, all or off");
      config_.attachments = *mode;
      config_.says_attachments = true;
      return {};
    }
    if (key == "attachments_exclude")
      return take_texts(key, value, at, "a list of globs, as in [\"*.mov\"]", config_.attachments_exclude);
    if (key == "attachments_kinds") return take_kinds(key, value, at);
    if (key == "links") {
      if (word != "report" && word != "keep" && word != "off")
        return refused_config(at, "`links` takes report, keep or off");
      config_.links = word == "keep" ? LinksMode::keep : word == "off" ? LinksMode::off : LinksMode::report;
      return {};
    }
    if (key == "include") return take_texts(key, value, at, "a list of globs, as in [\"*.txt\"]", config_.include);
    if (key == "leave_out") return take_left_out(key, value, at);
    if (key == "merge_later")
      return take_texts(key, value, at, "a list of keys, as in [\"edited\"]", config_.merge_later);
    return refused_config(at, fmt::format("the key `{}` is unknown", key));
  }

  Result<void> take_kinds(const std::string& key, const Json& value, const std::string& at) {
    if (value == "plain" || value == "any") {
      config_.attachments_kinds = {value.get<std::string>()};
      return {};
    }
    if (value.is_string())
      return refused_config(at, fmt::format("`{}` takes plain, any, or a list of extensions", key));
    std::vector<std::string> kinds;
    WS_TRY(take_texts(key, value, at, "plain, any, or a list of extensions, as in [plain, json]", kinds));
    for (std::string& kind : kinds) kind = utf8::fold_key(kind.starts_with('.') ? kind.substr(1) : kind);
    config_.attachments_kinds = std::move(kinds);
    return {};
  }

  Result<void> take_left_out(const std::string& key, const Json& value, const std::string& at) {
    std::vector<std::string> names;
    WS_TRY(take_texts(key, value, at, "a list of ids and paths, as in [archive/]", names));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (auto added = config_.left_out.add(names[i]); !added)
        return refused_config(place(fmt::format("/{}/{}", key, i)), added.error().what);
    }
    return {};
  }

  Result<void> take_texts(const std::string& key,
                          const Json& value,
                          const std::string& at,
                          std::string_view wanted,
                          std::vector<std::string>& into) {
    if (value.is_null()) return {};
    if (!value.is_array()) return refused_config(at, fmt::format("`{}` takes {}", key, wanted));
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!value[i].is_string() || value[i].get<std::string>().empty())
        return refused_config(place(fmt::format("/{}/{}", key, i)), fmt::format("`{}` takes {}", key, wanted));
      into.push_back(value[i].get<std::string>());
    }
    return {};
  }

  const YamlWithPositions& yaml_;
  TreeConfig config_;
};

}  // namespace

const std::string_view config_template =
    "# How this folder is synced. Every line is optional.\n"
    "#\n"
    "# Further files than *.md and *.markdown, hidden ones too (globs as in .wsignore):\n"
    "# include: [\"*.txt\", \".github/**\"]\n"
    "#\n"
    "# Refuse names that other systems cannot hold, like a:b.md:\n"
    "# names: portable\n"
    "#\n"
    "# Links to files that are renamed here: `report` counts those that break, `keep` edits them, `off` looks at "
    "none:\n"
    "# links: report\n"
    "#\n"
    "# Front matter keys that programs stamp with a date; where both sides changed one, the later date wins.\n"
    "# updated, modified, lastmod, date modified and last_modified are known already:\n"
    "# merge_later: [\"edited\"]\n"
    "#\n"
    "# The largest file that is synced:\n"
    "# max_file_bytes: 1048576\n"
    "#\n"
    "# What is not to be here and stays on the service (`ws sync leave` and `ws sync take` write it):\n"
    "# leave_out: [\"archive/\"]\n"
    "#\n"
    "# The files beside the notes: linked (those that notes show or link to), all, or off; and which of them not:\n"
    "# attachments_exclude: [\"*.mov\"]\n"
    "# What may arrive unasked: plain (pictures, sound, film, documents, archives), any, or extensions:\n"
    "# attachments_kinds: [plain, json]\n"
    "# attachments_max_bytes: 104857600\n";

std::string_view name(AttachmentMode mode) {
  switch (mode) {
    case AttachmentMode::off: return "off";
    case AttachmentMode::linked: return "linked";
    case AttachmentMode::all: return "all";
  }
  return "";
}

std::optional<AttachmentMode> find_attachment_mode(std::string_view name) {
  if (name == "off") return AttachmentMode::off;
  if (name == "linked") return AttachmentMode::linked;
  if (name == "all") return AttachmentMode::all;
  return std::nullopt;
}

std::string new_config(AttachmentMode attachments) {
  return fmt::format("{}attachments: {}\n", config_template, name(attachments));
}

std::uint64_t TreeConfig::fingerprint() const {
  std::string all = fmt::format("{}\n{}\n", max_file_bytes, portable_names);
  for (const std::string& glob : include) all += glob + "\n";
  for (const std::string& name : left_out.names()) all += name + "\n";
  const Sha256 hash = Sha256::of(all);
  std::uint64_t number = 0;
  std::memcpy(&number, hash.bytes().data(), sizeof number);
  return number;
}

Result<TreeConfig> read_config(const WsFolder& folder) {
  auto text = folder.read("config.yaml", max_bytes);
  if (!text) {
    if (text.error().kind == Failure::Kind::not_found) return TreeConfig{};
    return fail(std::move(text).error());
  }
  const auto yaml = parse_yaml_with_positions(*text);
  if (!yaml) return refused_config("", yaml.error().what);
  return ConfigReader(*yaml).read();
}

}  // namespace ws::sync
