/// Users with separate configurations and one real mock server: the fixture of the end-to-end tests.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/mock_process.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ws::test {

/// A user with a separate home: settings, credentials and state are not shared.
class Person {
 public:
  explicit Person(const MockProcess& server);
  /// Without a key: a user who has not logged in.
  Person();

  std::map<std::string, std::string> environment = {};

  /// `ws ARGUMENT...` in `folder`.
  Ended ws(std::vector<std::string> arguments, const std::filesystem::path& folder = {}) const;
  Command command(std::vector<std::string> arguments, const std::filesystem::path& folder = {}) const;
  const std::filesystem::path& home() const { return home_.path(); }

 private:
  TemporaryFolder home_;
};

/// Every file below a folder by its path, except `.ws`.
std::map<std::string, std::string> texts_of(const std::filesystem::path& folder);
void write_text(const std::filesystem::path& path, const std::string& text);
std::string read_text(const std::filesystem::path& path);

}  // namespace ws::test
