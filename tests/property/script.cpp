#include "tests/property/script.hpp"

#include <fmt/format.h>

#include "api-client/base/random.hpp"

namespace ws::property {
namespace {

struct Share {
  StepKind kind;
  unsigned weight;
  const char* name;
};

constexpr Share shares[] = {
    {StepKind::edit, 8, "edit"},
    {StepKind::same_size_edit, 3, "same_size_edit"},
    {StepKind::create, 9, "create"},
    {StepKind::remove, 4, "remove"},
    {StepKind::rename_file, 5, "rename_file"},
    {StepKind::rename_and_edit, 3, "rename_and_edit"},
    {StepKind::rename_folder, 3, "rename_folder"},
    {StepKind::remove_folder, 1, "remove_folder"},
    {StepKind::swap, 3, "swap"},
    {StepKind::recase, 2, "recase"},
    {StepKind::touch, 2, "touch"},
    {StepKind::become_folder, 2, "become_folder"},
    {StepKind::become_file, 2, "become_file"},
    {StepKind::ignore, 1, "ignore"},
    {StepKind::sync, 14, "sync"},
    {StepKind::picture, 10, "picture"},
    {StepKind::edit_picture, 4, "edit_picture"},
    {StepKind::rename_picture, 5, "rename_picture"},
    {StepKind::remove_picture, 4, "remove_picture"},
    {StepKind::picture_becomes_folder, 1, "picture_becomes_folder"},
    {StepKind::show, 8, "show"},
    {StepKind::unshow, 3, "unshow"},
    {StepKind::setting, 4, "setting"},
    {StepKind::command, 10, "command"},
};

bool is_of_vault(StepKind kind) { return kind >= StepKind::picture; }

std::uint64_t total_weight(bool vault) {
  std::uint64_t total = 0;
  for (const Share& share : shares) total += vault || !is_of_vault(share.kind) ? share.weight : 0;
  return total;
}

}  // namespace

Script make_script(std::uint64_t seed, std::size_t most, bool vault) {
  // Mix the seed first: the generator only increments it, so the next seed would give this script without its first
  // step.
  SeededRandom random(SeededRandom(seed).next());
  Script script(3 + random.below(most - 2));
  const std::uint64_t total = total_weight(vault);
  for (Step& step : script) {
    std::uint64_t place = random.below(total);
    for (const Share& share : shares) {
      step.kind = share.kind;
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
    if (share.kind == step.kind) name = share.name;
  }
  return fmt::format("{} {} {} {} {}", step.who, name, step.what, step.where, step.how);
}

}  // namespace ws::property
