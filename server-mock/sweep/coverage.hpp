/// What of the API a run met, and on which of our assumptions its answers rested. Pure.
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
  struct Met {
    std::size_t requests = 0;
    std::set<int> statuses = {};                 ///< 0: no answer
    std::set<std::string> optional_fields = {};  ///< of the request: body members and query parameters that were sent
    std::set<std::string> unsent_fields = {};    ///< those that never were
  };
  std::map<std::string, Met> operations = {};  ///< by id
  std::vector<std::string> never = {};         ///< operations that were not called, in the table's order
  std::set<std::string> faults = {};           ///< ids of fault rules that were applied
  /// "question_created=200", "the fields of Document" -> the requests whose answers rested on it: "POST /v1/questions".
  std::map<std::string, std::set<std::string>> assumptions = {};

  void add(const std::vector<Sent>& sent);
  /// Call it after the last `add`.
  void finish();
};

/// Collects what a running server is asked, for `exec --report`.
class CoverageReport {
 public:
  /// `entry`: one entry of a journal.
  void add(const Json& entry);
  /// JSON if the file's name ends with ".json", else a text for people. Fails with `disk`.
  Result<void> write(const std::string& path);

 private:
  Coverage coverage_ = {};
};

Json to_json(const Coverage& coverage);
/// A few lines for people, without a colour; ends with the guesses.
std::string render(const Coverage& coverage);

}  // namespace ws::mock::sweep
