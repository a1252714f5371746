/// Which operations, statuses and fields a run used, and which assumptions its responses depended on. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/sweep/journal_lines.hpp"

namespace ws::mock::sweep {

struct Coverage {
  struct OperationCoverage {
    std::size_t requests = 0;
    std::set<int> statuses = {};                 ///< 0: no response
    std::set<std::string> optional_fields = {};  ///< body members and query parameters that were sent in requests
    std::set<std::string> unsent_fields = {};    ///< those that were never sent
  };
  std::map<std::string, OperationCoverage> operations = {};  ///< by id
  std::vector<std::string> not_called = {};                  ///< operations that were not called, in the table's order
  std::set<std::string> faults = {};                         ///< ids of fault rules that were applied
  /// Assumption -> the requests whose responses depended on it: "question_created=200", "the fields of Document" ->
  /// "POST /v1/questions".
  std::map<std::string, std::set<std::string>> assumptions = {};

  void add(const std::vector<SentRequest>& sent);
  /// Call it after the last `add`.
  void finish();
};

/// Collects the requests of a running server for `exec --report`.
class CoverageReport {
 public:
  void add(const Exchange& exchange);
  /// Writes JSON if the file's name ends with ".json", otherwise text. Fails with `disk`.
  Result<void> write(const std::string& path);

 private:
  Coverage coverage_ = {};
};

Json to_json(const Coverage& coverage);
/// A few lines of text without colour; the assumptions come last.
std::string render(const Coverage& coverage);

}  // namespace ws::mock::sweep
