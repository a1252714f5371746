/// `--jq EXPR`: runs a jq program on JSON (the only user of libjq, which is opened on first use).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::cli {

class JqProgram {
 public:
  /// Fails with `usage` and jq's message, or with `disk` if the library is missing.
  static Result<JqProgram> compile(const std::string& expression, const std::string& library = "libjq.so.1");
  JqProgram(JqProgram&&) noexcept;
  JqProgram& operator=(JqProgram&&) noexcept;
  ~JqProgram();

  /// Runs it on one document and calls `take` for each result: strings as they are, other values as one line of JSON.
  /// Results before an error are passed on. Fails with `internal` and jq's message.
  Result<void> run(std::string_view json, const std::function<void(std::string_view)>& take);

 private:
  struct Impl;
  explicit JqProgram(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ws::cli
