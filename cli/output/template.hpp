/// `--template '{title}\t{id}'`: one line an item, its members in their places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws::cli {

class Template {
 public:
  /// `{a.b}` is the member at that path, empty where it is missing; `\t`, `\n`, `\r`, `\\` are what they are
  /// elsewhere; `{{` and `}}` are braces. Fails with `usage`: a brace that is not closed, or an empty path.
  static Result<Template> parse(std::string_view text);

  std::string fill(const Json& item) const;
  /// The paths that it names.
  std::vector<std::string> members() const;

 private:
  struct Part {
    std::string text = {};
    bool is_path = false;
  };
  std::vector<Part> parts_ = {};
};

}  // namespace ws::cli
