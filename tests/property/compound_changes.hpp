/// What people do to two documents between two syncs, every change and every pair of changes, made and not written
/// down.
///
/// Each side has `a.md`, one line long, and `d/b.md`, ten lines long; `z.md` is nobody's business. A compound change
/// is what happened to one of the two, or to both at once (names that change places, a log rotation, a renamed folder).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ws::property {

/// One thing done to a folder. A text is the same whoever wrote it, or names its writer.
struct Act {
  enum class Kind {
    edit,     ///< in place: the same file
    save,     ///< as many editors save: a new file takes the place of the old one
    write,    ///< a new file
    remove,   ///< a file or a folder
    move,     ///< over what stands there
    link,     ///< in the place of the file
    set_off,  ///< a folder of that name stands where a file `to` within it was the file: `a.md` becomes `a.md/x.md`
  };
  Kind kind = Kind::edit;
  std::string path = {};
  std::string to = {};
  bool own = false;  ///< the text names its writer
};

struct CompoundChange {
  std::string name = {};
  std::vector<Act> acts = {};
};

std::map<std::string, std::string> compound_start();  ///< texts by path

/// Of the first, of the second, and of both at once.
std::vector<CompoundChange> compound_changes();
/// Each change of the first with each of the second, where both can be made.
std::vector<CompoundChange> compound_pairs();

void carry_out(const CompoundChange& change, const std::filesystem::path& root, const std::string& writer);

}  // namespace ws::property
