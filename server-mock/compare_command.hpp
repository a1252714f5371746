/// `ws-mock diff` and `ws-mock record`: flags, execution and exit codes.
#pragma once

#include <string>

#include "api-client/base/result.hpp"
#include "server-mock/application/application.hpp"
#include "server-mock/application/serve.hpp"

namespace CLI {
class App;
}

namespace ws::mock {

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

struct RecordFlags {
  std::string to = {};
  std::string out = {};
  bool shapes_only = false;
};

void add_record_flags(CLI::App& record, RecordFlags& flags);

/// Serves until a signal. Exit code: 0.
Result<int> run_record(const RecordFlags& flags, const ServeSettings& settings);

void add_diff_flags(CLI::App& diff, DiffFlags& flags);

/// Exit code: 0 no differences, 1 differences. If it fails, the exit code is 2.
Result<int> run_diff(const DiffFlags& flags, const ApplicationOptions& options);

}  // namespace ws::mock
