/// `--template '{title}\t{id}'`: prints one line for each item with its members filled in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws::cli {

class Template {
 public:
  /// `{a.b}` is the member at that path, empty if it is missing; `\t`, `\n`, `\r`, `\\` are escapes; `{{` and `}}` are
  /// literal braces. Fails with `usage` on a brace that is not closed, or an empty path.
  static Result<Template> parse(std::string_view text);

  std::string fill(const Json& item) const;
  /// The member paths that the template uses.
  std::vector<std::string> members() const;

 private:
  struct Part {
    std::string text = {};
    bool is_path = false;
  };
  std::vector<Part> parts_ = {};
};

}  // namespace ws::cli
