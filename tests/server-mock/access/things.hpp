/// One object of each kind in the first Workspace, for the paths and bodies of `access_rules`.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tests/server-mock/access/rules.hpp"
#include "tests/server-mock/wire.hpp"

namespace ws::mock::test {

class Things {
 public:
  explicit Things(Wire& wire);

  /// The text with every "{name}" replaced.
  std::string fill(std::string_view text) const;
  /// The rule's call with this key; empty: none.
  RawAnswer ask(const AccessRule& rule, const std::string& token) const;
  const std::string& operator[](const std::string& name) const { return names_.at(name); }
  /// The operations on files are served.
  bool has_files() const { return names_.contains("asset_is_real"); }

 private:
  Json make(const std::string& target, const Json& body, int status = 201);
  void make_conflict();
  void make_file();

  Wire& wire_;
  std::map<std::string, std::string> names_ = {};
};

}  // namespace ws::mock::test
