/// The documents of the built-in world.
#pragma once

#include <span>
#include <string_view>

namespace ws::mock {

enum class Location {
  project,           ///< in the Project, on the Page named `page` (empty: at its root)
  personal,          ///< private document of the first person, outside every Project
  second_workspace,  ///< at the root of the second Workspace
};

struct BuiltInDocument {
  Location location = Location::project;
  std::string_view page = {};
  std::string_view title = {};
  std::string_view content = {};
};

/// Ten documents, in order of creation.
std::span<const BuiltInDocument> built_in_documents();

}  // namespace ws::mock
