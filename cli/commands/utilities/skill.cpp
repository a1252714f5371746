// The published operating skill: fetched without the key, checked against its manifest, shown or installed.
#include <algorithm>
#include <filesystem>
#include <variant>

#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/percent.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/yaml.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/output/markdown_page.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view skill_name = "service-operate-workspace";
constexpr std::size_t max_files = 200;
constexpr std::uint64_t max_bytes = std::uint64_t{4} << 20U;

struct SkillFile {
  std::string path = {};
  std::string text = {};
};

struct Skill {
  std::string name = {};
  std::string version = {};
  std::string folder_url = {};  ///< ends with "/"
  std::vector<SkillFile> files = {};
};

/// The skill lies where the server says; it may be another host, so the key stays here. What the user names may be
/// anywhere on this machine; what a server names must not make us call it.
Result<std::string> skill_url(Session& session) {
  if (session.settings().skill_url) {
    const std::string& own = session.settings().skill_url.value;
    const auto base = session.base_url();
    const bool is_fine = http::is_loopback(own) || http::may_lead_to(own, base ? base->text : std::string());
    return is_fine ? Result<std::string>(own)
                   : fail(Failure::Kind::usage, "a skill is not fetched over plain http from " + own);
  }
  WS_LET(Client * client, session.client());
  WS_LET(const Reply reply, client->call({.operation = "discovery.get"}));
  const auto url = find_text(*reply.json, "skill_url");
  if (!url || url->empty())
    return fail(Failure::Kind::not_found, "the service publishes no skill", "name its address with --url");
  if (http::may_lead_to(*url, client->options().base_url)) return *url;
  return fail(Failure{.kind = Failure::Kind::internal,
                      .what = "the service says that its skill is at " + clean(*url, Breaks::space) +
                              ", which is not allowed: https, or its own address",
                      .hint = "nothing was fetched; if you trust that address, name it with --url",
                      .code = "unusable_answer",
                      .call = {.operation = "discovery.get"}});
}

/// One GET without a key; redirects are not followed.
Result<std::string> fetch(Session& session, const std::string& url) {
  WS_LET(http::Transport * transport, session.transport());
  const http::Outcome outcome = transport->send({.url = url,
                                                 .headers = {{"User-Agent", std::string(user_agent())}},
                                                 .max_body_bytes = max_bytes,
                                                 .timeout = std::chrono::seconds{60}});
  if (const auto* error = std::get_if<http::TransportError>(&outcome)) {
    Failure failure = error->reason;
    failure.kind =
        error->stage == http::TransportError::Stage::cancelled ? Failure::Kind::cancelled : Failure::Kind::unreachable;
    failure.what = url + ": " + failure.what;
    return fail(std::move(failure));
  }
  const auto& response = std::get<http::Response>(outcome);
  if (response.status == 200) return response.body;
  Failure failure{.kind = response.status == 404 ? Failure::Kind::not_found : Failure::Kind::service,
                  .what = url + " answers " + std::to_string(response.status)};
  failure.call.http_status = response.status;
  return fail(std::move(failure));
}

/// The address of the manifest: the given one, the one beside the given file, or the one in the given folder.
std::string manifest_url(std::string url) {
  const auto ends_with = [&url](std::string_view ending) { return std::string_view(url).ends_with(ending); };
  if (ends_with(".json")) return url;
  if (ends_with(".md")) url.erase(url.rfind('/'));
  while (!url.empty() && url.back() == '/') url.pop_back();
  return url + "/manifest.json";
}

std::string encoded(const std::string& path) {
  std::string url;
  for (const std::string_view part : split(path, '/')) url += "/" + percent_encode(part);
  return url.substr(1);
}

Result<SkillFile> fetch_file(Session& session, const Skill& skill, const Json& entry) {
  const std::string path = find_text(entry, "path").value_or("");
  if (auto checked = sync::RelativePath::parse(path); !checked) {
    return fail(Failure::Kind::integrity, "the skill's manifest names a file `" + path + "` that is not safe");
  }
  const auto hash = Sha256::from_hex(find_text(entry, "sha256").value_or(""));
  if (!hash) return fail(Failure::Kind::integrity, "the skill's manifest gives no hash of " + path);
  WS_LET(std::string text, fetch(session, skill.folder_url + encoded(path)));
  const auto size = find_integer(entry, "size_bytes");
  if (Sha256::of(text) != *hash || (size && static_cast<std::size_t>(*size) != text.size())) {
    return fail(Failure::Kind::integrity, "the skill's file " + path + " is not the one that its manifest names");
  }
  return SkillFile{path, std::move(text)};
}

Result<Skill> fetch_skill(Session& session) {
  WS_LET(const std::string url, skill_url(session));
  const std::string manifest = manifest_url(url);
  WS_LET(const std::string text, fetch(session, manifest));
  auto value = parse_bounded(text);
  const Json* files = value ? find(*value, "files") : nullptr;
  if (files == nullptr || !files->is_array() || files->empty() || files->size() > max_files) {
    return fail(Failure::Kind::integrity, manifest + " is not the manifest of a skill");
  }
  Skill skill{.name = find_text(*value, "name").value_or(std::string(skill_name)),
              .version = find_text(*value, "version").value_or(""),
              .folder_url = manifest.substr(0, manifest.rfind('/') + 1)};
  // The name is that of the folder it is installed in: another one would be another skill's.
  if (skill.name != skill_name) {
    return fail(Failure::Kind::integrity,
                manifest + " is of the skill `" + skill.name + "`, not of " + std::string(skill_name));
  }
  for (const Json& entry : *files) {
    WS_LET(SkillFile file, fetch_file(session, skill, entry));
    skill.files.push_back(std::move(file));
  }
  return skill;
}

Result<ExitCode> show_skill(Session& session) {
  WS_LET(const Skill skill, fetch_skill(session));
  const std::vector<std::string>& words = session.arguments().words;
  const std::string wanted = words.empty() ? "SKILL.md" : words.front();
  const auto found = std::ranges::find(skill.files, wanted, &SkillFile::path);
  if (found == skill.files.end() && !words.empty()) {
    return fail(Failure::Kind::not_found, "the skill has no file `" + wanted + "`");
  }
  const SkillFile& file = found == skill.files.end() ? skill.files.front() : *found;
  if (!prints_text(session)) {
    Json files = Json::array();
    for (const SkillFile& one : skill.files) {
      files.push_back({{"path", one.path}, {"sha256", Sha256::of(one.text).hex()}, {"content", one.text}});
    }
    session.printer().resource(
        {{"v", 1}, {"name", skill.name}, {"version", skill.version}, {"files", std::move(files)}});
  } else if (session.terminal().is_terminal(Stream::out) && session.format() == Format::table) {
    session.printer().page(render_markdown(file.text, session.terminal()));
  } else {
    session.printer().raw(file.text);
  }
  return ExitCode::done;
}

/// The `name` in the front matter of a SKILL.md; empty where it says none.
std::string name_in_front_matter(std::string_view text) {
  if (!text.starts_with("---\n")) return {};
  const std::size_t end = text.find("\n---", 3);
  if (end == std::string_view::npos) return {};
  const auto values = parse_yaml(text.substr(4, end - 3));
  return values && values->is_object() ? find_text(*values, "name").value_or("") : "";
}

/// The folder is missing, empty, or holds this skill, changed by hand or not. No part of the way to a file of it is a
/// link: those could lead into another skill's folder.
Result<void> check_folder(const std::filesystem::path& folder, const Skill& skill) {
  namespace fs = std::filesystem;
  const auto refuse = [](const fs::path& place, const std::string& why) {
    return fail(
        Failure::Kind::disk, place.string() + " " + why, "move it away, or name another folder of skills with --dir");
  };
  std::error_code error;
  for (const SkillFile& file : skill.files) {
    fs::path place = folder;
    for (const fs::path& part : fs::path(file.path)) {
      if (fs::is_symlink(fs::symlink_status(place, error))) return refuse(place, "is a symbolic link");
      place /= part;
    }
    if (fs::is_symlink(fs::symlink_status(place, error))) return refuse(place, "is a symbolic link");
  }
  if (!fs::exists(fs::symlink_status(folder, error))) return {};
  if (!fs::is_directory(folder, error)) return refuse(folder, "is not a folder");
  const auto there = read_file(folder / "SKILL.md", max_bytes);
  const std::string name = there ? name_in_front_matter(*there) : "";
  if (!name.empty() && name != skill.name) return refuse(folder, "holds another skill: `" + name + "`");
  if (!there && !fs::is_empty(folder, error)) return refuse(folder, "contains files that do not belong to a skill");
  return {};
}

Result<void> install_file(Session& session, const std::filesystem::path& target, const std::string& text) {
  const auto there = read_file(target, max_bytes);
  if (there && *there == text) return {};
  if (there && !session.has("force")) {
    return fail(Failure::Kind::disk, target.string() + " exists already and differs", "add --force to replace it");
  }
  WS_TRY(make_folders(target.parent_path()));
  return write_file(target, text);
}

Result<ExitCode> install(Session& session) {
  const auto given = session.arguments().value("dir");
  const std::filesystem::path folder = given ? std::filesystem::path(*given) : session.paths().data / "skills";
  WS_LET(const Skill skill, fetch_skill(session));
  WS_TRY(check_folder(folder / skill.name, skill));
  Json installed = Json::array();
  for (const SkillFile& file : skill.files) {
    const std::filesystem::path target = folder / skill.name / file.path;
    if (!session.has("dry-run")) WS_TRY(install_file(session, target, file.text));
    installed.push_back(target.string());
  }
  if (session.format() == Format::table) {
    session.printer().sentence((session.has("dry-run") ? "Would install " : "Installed ") + skill.name + " in " +
                               (folder / skill.name).string());
  } else {
    session.printer().resource(
        {{"v", 1}, {"name", skill.name}, {"version", skill.version}, {"files", std::move(installed)}});
  }
  return ExitCode::done;
}

Flag url_flag() {
  return {.name = "url",
          .placeholder = "URL",
          .help = "where it is published; otherwise the setting skill_url, else what the service says"};
}

}  // namespace

Command skill_show_command() {
  return {.words = "skill show",
          .summary = "Show the operating skill that the service publishes",
          .details = "Its files are checked against its manifest.",
          .arguments = {{.placeholder = "FILE", .help = "of the skill; default SKILL.md", .count = Count::optional}},
          .flags = {url_flag()},
          .examples = {"ws skill show"},
          .run = show_skill};
}

Command skill_install_command() {
  return {.words = "skill install",
          .summary = "Install the operating skill for agents on this machine",
          .details = "All its files are checked against its manifest before the first is written.",
          .flags = {{.name = "dir",
                     .placeholder = "DIR",
                     .help = "the folder of skills; otherwise the one of ws's own data"},
                    url_flag()},
          .examples = {"ws skill install --dir skills"},
          .run = install};
}

}  // namespace ws::cli
