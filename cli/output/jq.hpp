/// `--jq EXPR`: a jq program over JSON (libjq's one home; opened when it is first asked for).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::cli {

class JqProgram {
 public:
  /// Fails with `usage` (what jq says of the expression), or `internal` where the library is missing.
  static Result<JqProgram> compile(const std::string& expression, const std::string& library = "libjq.so.1");
  JqProgram(JqProgram&&) noexcept;
  JqProgram& operator=(JqProgram&&) noexcept;
  ~JqProgram();

  /// Runs it over one document, `take` for each result: a text as it is, everything else JSON on one line. Results
  /// that came before an error are given. Fails with `internal` and jq's words.
  Result<void> run(std::string_view json, const std::function<void(std::string_view)>& take);

 private:
  struct Impl;
  explicit JqProgram(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ws::cli
