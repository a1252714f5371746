#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/process.hpp"
#include "api-client/base/shell_command.hpp"
#include "server-mock/commands.hpp"
#include "server-mock/output/print.hpp"

namespace ws::mock {
namespace {

constexpr const char* folder_name = ".ws-mock";
constexpr std::chrono::milliseconds step{10};
constexpr std::chrono::seconds start_patience{30};
constexpr std::chrono::seconds stop_patience{10};

std::filesystem::path file_of(const std::string& name, const char* suffix) {
  return std::filesystem::path(folder_name) / (name + suffix);
}

/// When a process started, in clock ticks since boot (proc(5): field 22 of /proc/PID/stat); empty: there is none.
std::string start_of(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid), 4096, Source::anything);
  if (!text) return {};
  std::string_view rest = std::string_view(*text).substr(std::min(text->rfind(") "), text->size()));
  constexpr int fields_before = 20;        // the name, which ends with ")", is the second
  if (rest.starts_with(") Z")) return {};  // it has ended, and nobody has waited for it
  for (int i = 0; i < fields_before; ++i) rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
  return std::string(rest.substr(0, rest.find(' ')));
}

/// The server of that name in this folder, if it is running; null: none.
Json running(const std::string& name) {
  const auto text = read_file(file_of(name, ".json"));
  const auto known = text ? parse_bounded(*text) : Result<Json>(Json());
  if (!known || !known->is_object()) return nullptr;
  const auto pid = static_cast<pid_t>(find_integer(*known, "pid").value_or(0));
  const std::string start = pid > 1 ? start_of(pid) : std::string();
  return !start.empty() && find_text(*known, "started") == start ? *known : Json(nullptr);
}

Result<void> check_name(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  if (!name.empty() && std::ranges::all_of(name, is_plain)) return {};
  return fail(Failure::Kind::usage, fmt::format("--name \"{}\" is not a name of letters, digits, - and _", name));
}

/// The command for the server of that name.
std::string for_server(ShellCommand command, const std::string& name) {
  if (name != "default") command.add({"--name=", name});
  return command.in_backticks();
}

tl::unexpected<Failure> none_running(const std::string& name) {
  return fail(Failure::Kind::usage,
              fmt::format("no server \"{}\" of this folder is running", name),
              for_server({"ws-mock", "start"}, name));
}

void print_exports(const Json& server) {
  const auto line = [&server](const char* variable, const char* member) {
    const auto value = find_text(server, member);
    if (value) print(fmt::format("export {}={}\n", variable, shell_word(*value)));
  };
  line("WS_BASE_URL", "base_url");
  line("WS_TOKEN", "token");
  line("WS_MOCK_CONTROL", "control_url");
  line("SSL_CERT_FILE", "ca_file");
}

/// The words of the server: those of `start` without its name.
std::vector<std::string> words_of_server(const std::vector<std::string>& words) {
  std::vector<std::string> kept = {"serve", "--log", "off"};
  bool is_before_word = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_before_word && words[i] == "start") {
      is_before_word = false;
    } else if (words[i] == "--name") {
      ++i;
    } else if (!words[i].starts_with("--name=")) {
      kept.push_back(words[i]);
    }
  }
  return kept;
}

/// The ready file's content once the server answers; null: it ended before.
Result<Json> wait_until_ready(const Process& process, const std::filesystem::path& ready, int& code) {
  for (std::chrono::milliseconds waited{0}; waited < start_patience; waited += step) {
    if (const auto text = read_file(ready)) return parse_bounded(*text);
    if (const auto ended = process.poll()) {
      code = *ended;
      return Json(nullptr);
    }
    std::this_thread::sleep_for(step);
  }
  process.signal(SIGKILL);
  return fail(Failure::Kind::internal, "the server did not answer within 30 s");
}

}  // namespace

void add_name_flag(CLI::App& command, std::string& name) {
  command.add_option("--name", name, "which server of this folder")->capture_default_str();
}

Result<int> start_in_background(const std::string& name, std::vector<std::string> words) {
  WS_TRY(check_name(name));
  for (const std::string& word : words) {
    if (!word.starts_with("--ready-file") && word != "--exit-with-parent") continue;
    return fail(Failure::Kind::usage, fmt::format("start does not take {}", word), "`ws-mock serve` does");
  }
  WS_TRY(make_folders(folder_name, 0700));
  const Descriptor folder(::open(folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // The second of two at the same time waits until it can see the server of the first.
  if (!folder || !lock_file(folder.get(), WaitForLock::yes)) {
    return fail(Failure::Kind::disk, fmt::format("cannot lock {}", folder_name));
  }
  if (const Json server = running(name); !server.is_null()) {
    return fail(
        Failure::Kind::usage,
        fmt::format(
            "a server \"{}\" of this folder is running already: {}", name, find_text(server, "base_url").value_or("")),
        fmt::format("{} prints its addresses, {} ends it",
                    for_server({"ws-mock", "env"}, name),
                    for_server({"ws-mock", "stop"}, name)));
  }
  WS_TRY(write_file(std::filesystem::path(folder_name) / ".gitignore", "*\n"));
  const std::filesystem::path ready = file_of(name, ".ready");
  const std::filesystem::path log = file_of(name, ".log");
  std::error_code ignored;
  std::filesystem::remove(ready, ignored);
  words = words_of_server(words);
  words.insert(words.begin(), std::filesystem::read_symlink("/proc/self/exe", ignored).string());
  words.insert(words.end(), {"--ready-file", ready.string()});
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Descriptor told(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (told.get() < 0) return fail(Failure::Kind::disk, fmt::format("cannot write {}", log.string()));
  WS_LET(const Process process,
         Process::start(
             std::move(words),
             {.in = nothing.get(), .out = nothing.get(), .err = told.get(), .own_group = true, .streams_only = true}));
  int code = 0;
  WS_LET(Json server, wait_until_ready(process, ready, code));
  if (server.is_null()) {
    const auto said = read_file(log);
    if (said) tell_part(*said);
    return code == 0 ? 1 : code;
  }
  server["started"] = start_of(process.pid());
  const std::filesystem::path file = file_of(name, ".json");
  WS_TRY(write_file(file, dump(server, 2) + "\n"));
  std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, ignored);
  print_exports(server);
  return 0;
}

Result<int> print_environment(const std::string& name) {
  WS_TRY(check_name(name));
  const Json server = running(name);
  if (server.is_null()) return none_running(name);
  print_exports(server);
  return 0;
}

Result<int> stop_in_background(const std::string& name) {
  WS_TRY(check_name(name));
  const Json server = running(name);
  if (server.is_null()) return none_running(name);
  ::kill(static_cast<pid_t>(find_integer(server, "pid").value_or(0)), SIGTERM);
  for (std::chrono::milliseconds waited{0}; !running(name).is_null(); waited += step) {
    if (waited > stop_patience) return fail(Failure::Kind::internal, "the server has not ended after 10 s");
    std::this_thread::sleep_for(step);
  }
  std::error_code ignored;
  std::filesystem::remove(file_of(name, ".json"), ignored);
  return 0;
}

}  // namespace ws::mock
