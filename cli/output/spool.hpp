/// Text that waits for its end: on disk from a size on, so that a list of any length takes little memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"

namespace ws::cli {

class Spool {
 public:
  /// Fails with `disk`: there is no room.
  Result<void> add(std::string_view text);
  /// All of it in pieces, from the beginning, and forgets it. Fails with `disk`.
  Result<void> drain(const std::function<void(std::string_view)>& take);

 private:
  Result<void> write_out();

  Descriptor file_;  // without a name
  std::string waiting_;
};

}  // namespace ws::cli
