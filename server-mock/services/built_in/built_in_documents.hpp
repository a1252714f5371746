/// The texts of the built-in world.
#pragma once

#include <span>
#include <string_view>

namespace ws::mock {

enum class Shelf {
  project,  ///< in the Project, on the Page that `page` names (empty: on its top)
  desk,     ///< of the first person, outside every Project
  second,   ///< at the root of the second Workspace
};

struct BuiltInDocument {
  Shelf shelf = Shelf::project;
  std::string_view page = {};
  std::string_view title = {};
  std::string_view content = {};
};

/// Ten, in the order in which they are made.
std::span<const BuiltInDocument> built_in_documents();

}  // namespace ws::mock
