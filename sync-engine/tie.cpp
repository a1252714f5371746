#include "sync-engine/tie.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/base/yaml.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t tie_format = 1;

constexpr std::string_view config_template =
    "# How this folder is synced. Every line is optional.\n"
    "#\n"
    "# The largest file that is synced:\n"
    "# max_file_bytes: 1048576\n";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

Failure with_code(Failure::Kind kind, std::string what, std::string hint, std::string code) {
  return {.kind = kind, .what = std::move(what), .hint = std::move(hint), .code = std::move(code)};
}

}  // namespace

Result<fs::path> find_root(const fs::path& start) {
  std::error_code error;
  fs::path place = fs::absolute(start, error).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();  // a trailing slash
  while (true) {
    if (is_there(place / ".ws")) return place;
    if (!place.has_relative_path()) break;
    place = place.parent_path();
  }
  return fail(with_code(Failure::Kind::usage,
                        fmt::format("{} is not in a synced folder: no .ws found here or above", start.string()),
                        "run `ws sync init`",
                        "not_tied"));
}

Result<Tie> read_tie(const fs::path& root) {
  auto text = read_file(root / ".ws" / "source.json");
  if (!text) {
    return fail(with_code(Failure::Kind::disk,
                          fmt::format("{} has lost its marker .ws/source.json", root.string()),
                          "is the folder mounted? Restore the file, or remove .ws and run `ws sync init --source ID`",
                          "marker_missing"));
  }
  WS_LET(const Json value, parse_bounded(*text));
  const std::int64_t found = find_integer(value, "format").value_or(0);
  if (found > tie_format) {
    return fail(with_code(Failure::Kind::disk,
                          fmt::format("{}/.ws was written by a later version (format {})", root.string(), found),
                          "use the version of ws that wrote it",
                          "newer_format"));
  }
  Tie tie{.source_id = find_text(value, "source_id").value_or(""),
          .client_id = find_text(value, "client_id").value_or(""),
          .name = find_text(value, "name").value_or(""),
          .base_url = find_text(value, "base_url").value_or(""),
          .origin = find_text(value, "origin").value_or("")};
  if (tie.source_id.empty() || tie.client_id.empty()) {
    return fail(with_code(Failure::Kind::disk,
                          fmt::format("{}/.ws/source.json names no source", root.string()),
                          "remove .ws and run `ws sync init --source ID`",
                          "marker_missing"));
  }
  return tie;
}

Result<void> write_tie(const fs::path& root, const Tie& tie) {
  const fs::path own = root / ".ws";
  WS_TRY(make_folders(own / "tmp"));
  WS_TRY(make_folders(own / "conflicts"));
  WS_TRY(write_file(own / ".gitignore", "*\n"));
  if (!is_there(own / "config.yaml")) WS_TRY(write_file(own / "config.yaml", config_template));
  const Json value{{"format", tie_format},
                   {"source_id", tie.source_id},
                   {"client_id", tie.client_id},
                   {"name", tie.name},
                   {"base_url", tie.base_url},
                   {"origin", tie.origin}};
  // The marker comes last: a tree is tied once it is there.
  return write_file(own / "source.json", dump(value, 2) + "\n");
}

Result<TreeConfig> read_config(const fs::path& root) {
  TreeConfig config;
  auto text = read_file(root / ".ws" / "config.yaml", std::size_t{1} << 20U);
  if (!text) {
    if (text.error().kind == Failure::Kind::not_found) return config;
    return fail(std::move(text).error());
  }
  WS_LET(const Json value, parse_yaml(*text));
  if (const auto bytes = find_integer(value, "max_file_bytes"); bytes && *bytes > 0) {
    config.max_file_bytes = static_cast<std::uint64_t>(*bytes);
  }
  return config;
}

Result<Tie> init(const InitOptions& options, Remote& remote, const Clock& clock, Random& random) {
  std::error_code error;
  const fs::path folder = fs::canonical(options.folder, error);
  if (error || !fs::is_directory(folder, error)) {
    return fail(Failure::Kind::usage, fmt::format("{} is not a folder", options.folder.string()));
  }
  if (auto above = find_root(folder)) {
    return fail(with_code(Failure::Kind::usage,
                          above->string() == folder.string()
                              ? fmt::format("{} is tied to a source already", folder.string())
                              : fmt::format("{} lies in the synced folder {}", folder.string(), above->string()),
                          "run `ws sync status`",
                          "already_tied"));
  }
  SourceInfo source;
  if (!options.source_id.empty()) {
    WS_LET(source, remote.find_source(options.source_id));
  } else {
    const std::string name = options.name.empty() ? folder.filename().string() : options.name;
    WS_LET(
        source,
        remote.create_source({.name = name, .project_id = options.project_id, .root_node_id = options.root_node_id}));
  }
  Tie tie{.source_id = source.id,
          .client_id = make_uuid_v7(clock.now(), random),
          .name = source.name,
          .base_url = options.base_url,
          .origin = options.origin};
  WS_TRY(write_tie(folder, tie));
  return tie;
}

}  // namespace ws::sync
