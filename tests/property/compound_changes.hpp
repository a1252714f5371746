/// Generates what users can do to two documents between two syncs: every single change and every pair of changes.
///
/// Each side has `a.md` with one line and `d/b.md` with ten lines; `z.md` is not changed. A compound change affects one
/// of the two or both at once (swapped names, log rotation, a renamed folder).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ws::property {

/// One operation on a folder. A text is the same for all writers, or contains the writer's name.
struct Act {
  enum class Kind {
    edit,     ///< in place: the inode stays the same
    save,     ///< as many editors save: a new file replaces the old one
    write,    ///< a new file
    remove,   ///< a file or a folder
    move,     ///< replaces an existing file
    link,     ///< replaces the file
    set_off,  ///< replaces the file by a folder of the same name that contains it as `to`: `a.md` becomes `a.md/x.md`
  };
  Kind kind = Kind::edit;
  std::string path = {};
  std::string to = {};
  bool own = false;  ///< the text contains the writer's name
};

struct CompoundChange {
  std::string name = {};
  std::vector<Act> acts = {};
};

std::map<std::string, std::string> compound_start();  ///< texts by path

/// Changes of the first document, of the second, and of both at once.
std::vector<CompoundChange> compound_changes();
/// Each change of the first combined with each of the second, where both are possible.
std::vector<CompoundChange> compound_pairs();

void carry_out(const CompoundChange& change, const std::filesystem::path& root, const std::string& writer);

}  // namespace ws::property
