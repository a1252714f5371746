/// The command line flags of ws-mock, and the settings made from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/application/serve.hpp"

namespace CLI {
class App;
}

namespace ws::mock {

/// Of `sweep`.
struct SweepFlags {
  bool plan = false;
  std::size_t jobs = 0;  ///< 0: as many as processors
  std::string limit = "10s";
  std::string patience = "10s";
  bool json = false;
  std::string junit = {};
  std::string html = {};
  std::string replay = {};
  std::string accept = {};
  std::vector<std::string> only = {};
  std::vector<std::string> skip = {};
  std::vector<std::string> operations = {};
  std::size_t max_rows = 0;
  std::size_t sample = 0;
  std::string trace_pattern = {};
  std::size_t max_sends = 10;
  std::size_t max_requests = 0;  ///< 0: five times the clean run's
  std::string says = {};
  std::string output = {};
  std::string since = {};
  bool rerun = true;
  std::vector<std::string> replayed = {};  ///< see `replayed_flags`
};

/// Of `grade` and `exec`.
struct GradeFlags {
  std::string expect = {};
  std::string save = {};
  std::string state = {};  ///< of `grade` only, as `url`
  std::string url = {};
};

/// Of `diff`.
struct DiffFlags {
  std::string against = {};
  std::string recording = {};
  std::string token_file = {};
  bool read_only = false;
  std::string project = {};
  bool scratch = false;
  bool yes = false;
  std::string assumptions = {};
  bool json = false;
  std::string junit = {};
};

/// Of `record`.
struct RecordFlags {
  std::string to = {};
  std::string out = {};
  bool shapes_only = false;
};

/// All of them.
struct Flags {
  std::string listen = "127.0.0.1:0";
  std::vector<std::string> allow_hosts = {};
  std::string public_url = {};
  std::string ready_file = {};
  std::vector<std::string> fixtures = {};
  std::string data = {};
  std::optional<std::uint64_t> seed = {};
  bool reset = false;
  std::optional<std::string> clock = {};  ///< real
  std::string auth = "strict";
  std::string device = "manual";
  std::int64_t device_interval = 5;
  std::int64_t device_expires = 900;
  std::vector<std::string> assume = {};
  bool strict = false;
  std::string faults = {};
  std::string rate_limit = {};
  std::size_t journal = JournalBounds{}.entries;
  std::string journal_file = {};
  std::string tls = {};
  bool tls_self_signed = false;
  std::string log = {};
  std::string control_token = {};
  bool no_control = false;
  bool exit_with_parent = false;
  std::string unix_path = {};
  std::string idle_exit = {};
  bool yaml = false;
  bool control = false;
  bool as_mocked = false;
  bool json = false;
  std::vector<std::string> checked = {};
  std::string asked = {};
  bool schema = false;
  std::string report = {};
  SweepFlags sweep = {};
  GradeFlags grade = {};
  std::string name = "default";  ///< of `start`, `env` and `stop`
  std::string assume_file = {};
  DiffFlags diff = {};
  RecordFlags record = {};
  std::string trace = {};  ///< `exec`: the file to write; `serve`, `open`: the file to read
  std::optional<std::size_t> at = {};
  JsonBox traced = {};  ///< fixtures and faults from a trace instead of files; null: none
};

/// The flags that all commands share.
void add_flags(CLI::App& app, Flags& flags);

/// Fails with `usage`, `invalid` or `disk`, naming the flag or the file.
Result<ServeSettings> settings_of(const Flags& flags);

/// The flags that a trace stores: everything that affects the service's responses, with the content of the files.
Result<Json> flags_for_trace(const Flags& flags);
/// Restores these flags; flags that a trace does not store are unchanged. Fails with `invalid`.
Result<void> flags_from_trace(const Json& traced, Flags& flags);

}  // namespace ws::mock
