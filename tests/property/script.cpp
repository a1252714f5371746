#include "tests/property/script.hpp"

#include <fmt/format.h>

#include "api-client/base/random.hpp"

namespace ws::property {
namespace {

struct Share {
  Deed deed;
  unsigned weight;
  const char* name;
};

constexpr Share shares[] = {
    {Deed::edit, 8, "edit"},
    {Deed::same_size_edit, 3, "same_size_edit"},
    {Deed::create, 9, "create"},
    {Deed::remove, 4, "remove"},
    {Deed::rename_file, 5, "rename_file"},
    {Deed::rename_and_edit, 3, "rename_and_edit"},
    {Deed::rename_folder, 3, "rename_folder"},
    {Deed::remove_folder, 1, "remove_folder"},
    {Deed::swap, 3, "swap"},
    {Deed::recase, 2, "recase"},
    {Deed::touch, 2, "touch"},
    {Deed::become_folder, 2, "become_folder"},
    {Deed::become_file, 2, "become_file"},
    {Deed::ignore, 1, "ignore"},
    {Deed::sync, 14, "sync"},
};

constexpr unsigned total_weight() {
  unsigned total = 0;
  for (const Share& share : shares) total += share.weight;
  return total;
}

}  // namespace

Script make_script(std::uint64_t seed, std::size_t most) {
  // Mix the seed first: the generator only increments it, so the next seed would give this script without its first
  // step.
  SeededRandom random(SeededRandom(seed).next());
  Script script(3 + random.below(most - 2));
  for (Step& step : script) {
    std::uint64_t place = random.below(total_weight());
    for (const Share& share : shares) {
      step.deed = share.deed;
      if (place < share.weight) break;
      place -= share.weight;
    }
    const std::uint64_t bytes = random.next();
    step.who = static_cast<std::uint8_t>(bytes);
    step.what = static_cast<std::uint8_t>(bytes >> 8U);
    step.where = static_cast<std::uint8_t>(bytes >> 16U);
    step.how = static_cast<std::uint8_t>(bytes >> 24U);
  }
  return script;
}

std::string render(const Step& step) {
  const char* name = "";
  for (const Share& share : shares) {
    if (share.deed == step.deed) name = share.name;
  }
  return fmt::format("{} {} {} {} {}", step.who, name, step.what, step.where, step.how);
}

}  // namespace ws::property
