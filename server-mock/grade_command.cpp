#include <filesystem>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/yaml.hpp"
#include "server-mock/commands.hpp"
#include "server-mock/compare/caller.hpp"
#include "server-mock/fixtures/fixtures.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/sweep/wanted_world.hpp"

namespace ws::mock {
namespace {

constexpr int unwanted_exit = 1;

Result<Json> state_at(std::string url, const std::string& control_token) {
  while (url.ends_with('/')) url.pop_back();
  if (!url.ends_with("/_mock")) url += "/_mock";
  WS_LET(compare::Caller caller, compare::Caller::open({.base_url = url, .token = control_token}));
  const auto key = control_token.empty() ? compare::WithKey::none : compare::WithKey::right;
  WS_LET(const WireExchange answer, caller.send({.target = "/state", .key = key}));
  if (answer.status != 200) {
    return fail(Failure::Kind::usage,
                fmt::format("{}/state answered {}", url, answer.status),
                "--url is the control_url of a server or of a sandbox");
  }
  return parse_bounded(answer.response_body);
}

Result<Json> state_in(const std::string& path) {
  WS_LET(const std::string text, read_file(path));
  auto state = parse_bounded(text);
  if (state && find(*state, "tables") != nullptr) return state;
  return fail(Failure::Kind::usage, fmt::format("{} is not a state", path), "give the answer of GET /_mock/state");
}

Result<Json> state_of_data(const std::string& data) {
  SandboxOptions options;
  options.data = data;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(data, error);
  if (error) return fail(Failure::Kind::usage, fmt::format("there is no file {}", data));
  if (bytes == 0) return fail(Failure::Kind::usage, fmt::format("{} is empty: no server kept its state there", data));
  WS_LET(const std::unique_ptr<Sandbox> sandbox, Sandbox::open(options));
  return sandbox->read_state();
}

Result<std::vector<std::string>> differences_from(const std::string& expect, const Json& state) {
  WS_LET(const SourceFile wanted, read_source_file(expect));
  auto found = sweep::grade_world(*wanted.value, state);
  if (!found) return fail(Failure::Kind::usage, fmt::format("{}: {}", expect, found.error().what), found.error().hint);
  return found;
}

Result<void> save_world(const std::string& path, const Json& state) {
  if (path.empty()) return {};
  const Json wanted = sweep::wanted_world(state);
  return write_named_file(path, path.ends_with(".json") ? dump(wanted, 2) + "\n" : to_yaml(wanted));
}

}  // namespace

void add_expect_flags(CLI::App& exec, GradeFlags& flags) {
  exec.add_option(
      "--expect", flags.expect, "a file with the wanted state: end with 1 if CMD leaves another one (see grade)");
  exec.add_option("--save", flags.save, "write the state that CMD leaves to this file, for --expect (.json: JSON)");
}

void add_grade_flags(CLI::App& grade, GradeFlags& flags) {
  grade.add_option("--expect", flags.expect, "the wanted world, YAML or JSON")->required();
  CLI::Option* state = grade.add_option("--state", flags.state, "a file with the answer of GET /_mock/state");
  grade.add_option("--url", flags.url, "control_url of a running server or sandbox")->excludes(state);
  grade.footer(
      "Or --data FILE, of a server that has ended. A wanted world names tables of GET /_mock/state, and of their rows "
      "what matters.\nAn id, or a $name, stands for one object everywhere; times do not count.\n"
      "Exit code: 0 as wanted, 1 differences, 2 wrong usage.\n\n"
      "  documents:\n"
      "    - {title: Tides, id: $tides}\n"
      "  comment_threads:\n"
      "    - {document_id: $tides, status: open}\n"
      "  absent:\n"
      "    documents: [{title: Draft, status: active}]\n"
      "  count: {documents: 11}\n\n"
      "  ws-mock exec --save wanted.yaml -- ./publish.sh\n"
      "  ws-mock exec --expect wanted.yaml -- ./publish.sh\n"
      "  ws-mock grade --expect wanted.yaml --url $WS_BASE_URL/_mock");
}

Result<int> run_grade(const GradeFlags& flags, const std::string& data, const std::string& control_token) {
  const int sources = (flags.state.empty() ? 0 : 1) + (flags.url.empty() ? 0 : 1) + (data.empty() ? 0 : 1);
  if (sources != 1) return fail(Failure::Kind::usage, "grade takes one of --state FILE, --url CONTROL and --data FILE");
  WS_LET(const Json state,
         !flags.state.empty() ? state_in(flags.state)
         : !flags.url.empty() ? state_at(flags.url, control_token)
                              : state_of_data(data));
  WS_LET(const std::vector<std::string> found, differences_from(flags.expect, state));
  for (const std::string& one : found) print(one + "\n");
  return found.empty() ? 0 : unwanted_exit;
}

std::function<Result<int>(Application&, int)> grade_after_command(const GradeFlags& flags) {
  if (flags.expect.empty() && flags.save.empty()) return {};
  return [&flags](Application& application, int code) -> Result<int> {
    WS_LET(const Json state, application.sandbox().read_state());
    WS_TRY(save_world(flags.save, state));
    if (flags.expect.empty()) return code;
    WS_LET(const std::vector<std::string> found, differences_from(flags.expect, state));
    for (const std::string& one : found) tell("ws-mock: " + one);
    return code == 0 && !found.empty() ? unwanted_exit : code;
  };
}

}  // namespace ws::mock
