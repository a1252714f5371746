/// Stories in which each step is needed: few random ones would take them all, in this order. The seed chooses names,
/// numbers and sides. What must come out is said by the specs, in the words of a person: what lies here, what is there,
/// which document it is.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ws::property {

struct Occasion {
  const char* name = "";
  void (*play)(std::uint64_t seed) = nullptr;  ///< throws `std::runtime_error` where a promise is broken
};
std::span<const Occasion> occasions();

}  // namespace ws::property
