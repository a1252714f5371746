/// The steps of one random story, generated from a seed. Removing steps does not change the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ws::property {

/// What users do to documents, in a folder or on the service, and the commands given to the engine.
enum class StepKind : std::uint8_t {
  edit,
  same_size_edit,  ///< keeps size and time stamp of the old text
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
  ignore,  ///< adds or removes a line of `.wsignore`
  sync,
  // Of a whole vault: pictures, links between notes, and settings.
  picture,  ///< a new one, mostly with a note that shows it
  edit_picture,
  rename_picture,
  remove_picture,
  picture_becomes_folder,
  show,    ///< a note gets a link to a picture or to a note
  unshow,  ///< and loses one
  setting,
  command,  ///< `restore`, `mv`, `links fix`, `undo`, `redo`, `leave`, `take`, `resolve`
  // On purpose: each pair of changes of one entry, before each command.
  rule,           ///< adds or removes a rule of `.wsignore`
  agree,          ///< all folders and the service have some notes and pictures in common
  meet,           ///< two changes of one entry, each here or there: one of `pairs()`
  leave_around,   ///< what meets is left out before the changes, or between them
  decide_around,  ///< what meets is in conflict, which is decided before the changes, between or after them
};

/// Every random choice of a step depends only on its own bytes.
struct Step {
  StepKind kind = StepKind::edit;
  std::uint8_t who = 0;
  std::uint8_t what = 0;
  std::uint8_t where = 0;
  std::uint8_t how = 0;
  bool operator==(const Step&) const = default;
};
using Script = std::vector<Step>;

/// Makes 3 to `most` steps; those of a vault only where `vault` asks for them.
Script make_script(std::uint64_t seed, std::size_t most, bool vault = false);
/// The directed steps: twelve pairs of changes and a command, twice. So many stories with seeds one after another bring
/// about each of `pairs()`.
Script make_meetings(std::uint64_t seed);
std::uint64_t stories_of_all_pairs();

/// Commands by the `where` of a step, and what `leave` and `resolve` are about, by its `how`.
namespace command {
constexpr std::uint8_t undo = 4;
constexpr std::uint8_t redo = 5;
constexpr std::uint8_t undo_all = 6;
constexpr std::uint8_t leave = 7;
constexpr std::uint8_t resolve = 8;
constexpr std::uint8_t take_all = 0;    ///< of three: everything is taken again
constexpr std::uint8_t leave_met = 2;   ///< of three: what met last
constexpr std::uint8_t decide_all = 0;  ///< of two: each open conflict
}  // namespace command

/// "2 rename_file 17 3 200".
std::string render(const Step& step);

}  // namespace ws::property
