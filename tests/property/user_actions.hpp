/// What users do between two syncs, in a folder and on the service. Few distinct names and texts, so that collisions
/// are frequent.
#pragma once

#include <cstdint>
#include <string>

#include "tests/property/bound_folder.hpp"
#include "tests/property/script.hpp"
#include "tests/property/service.hpp"

namespace ws::property {

/// Generates new words, so that some texts are unique.
class Words {
 public:
  std::string word(std::uint8_t how);

 private:
  unsigned next_ = 0;
};

/// Does nothing if the step does not apply: the file is missing, or no name is free.
void act_in_folder(const BoundFolder& place, const Step& step, Words& words);
/// Enlarges a note beyond a limit: of some hundred bytes, of the 1 MiB that the service accepts, or of the 8 MiB of a
/// request.
void enlarge_in_folder(const BoundFolder& place, const Step& step, Words& words);
void act_on_service(Service& service, const Step& step, Words& words);

}  // namespace ws::property
