/// A source that other people of the Workspace can join.
#pragma once

#include <string>

#include "api-client/base/shell_command.hpp"
#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"

namespace ws::cli {

struct NewProject {
  std::string id = {};
  std::string node_id = {};
};

/// A Project of the Workspace, which everybody there sees. Fails as the call does.
Result<NewProject> make_project(Client& client, const std::string& title);

/// The command by which another person, or another machine, joins a source.
ShellCommand join_command(const std::string& source_id);

}  // namespace ws::cli
