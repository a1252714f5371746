/// What people do between two syncs: in a folder, and on the service. Small alphabets, so that they often do the same.
#pragma once

#include <cstdint>
#include <string>

#include "tests/property/place.hpp"
#include "tests/property/script.hpp"
#include "tests/property/service.hpp"

namespace ws::property {

/// Where new words come from, so that some texts are like no other.
class Words {
 public:
  std::string word(std::uint8_t how);

 private:
  unsigned next_ = 0;
};

/// Nothing happens where a step does not apply: no such file, no free name.
void act_in_folder(const Place& place, const Step& step, Words& words);
/// A note grows: beyond a bound of some hundred bytes, of the 1 MiB that the service takes, or of the 8 MiB of a
/// request.
void enlarge_in_folder(const Place& place, const Step& step, Words& words);
void act_on_service(Service& service, const Step& step, Words& words);

}  // namespace ws::property
