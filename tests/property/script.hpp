/// What happens in one random story, step by step. A seed makes it; taking steps out leaves the others as they were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ws::property {

/// What people do to documents, in a folder or on the service, and what the engine is told to do.
enum class Deed : std::uint8_t {
  edit,
  same_size_edit,  ///< the stamp of the old text is put back
  create,
  remove,
  rename_file,
  rename_and_edit,
  rename_folder,
  remove_folder,
  swap,
  recase,
  touch,
  become_folder,
  become_file,
  ignore,  ///< a line of `.wsignore` comes or goes
  sync,
};

/// Every random decision of a step is read off its own bytes.
struct Step {
  Deed deed = Deed::edit;
  std::uint8_t who = 0;
  std::uint8_t what = 0;
  std::uint8_t where = 0;
  std::uint8_t how = 0;
  bool operator==(const Step&) const = default;
};
using Script = std::vector<Step>;

/// Between 3 and `most` steps.
Script make_script(std::uint64_t seed, std::size_t most);
/// "2 rename_file 17 3 200".
std::string render(const Step& step);

}  // namespace ws::property
