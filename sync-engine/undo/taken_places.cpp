#include "sync-engine/undo/taken_places.hpp"

#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>

#include "api-client/base/utf8.hpp"

namespace ws::sync {
namespace {

/// Of files that notes show, the NFC tells.
bool leaves(std::string_view path, const std::set<RelativePath>& leaving) {
  const auto parsed = RelativePath::parse(path);
  if (parsed && leaving.contains(*parsed)) return true;
  const auto formed = RelativePath::parse(utf8::nfc(path));
  return formed && leaving.contains(*formed);
}

}  // namespace

bool TakenPlaces::is_taken(const RelativePath& path, const std::set<RelativePath>& leaving) {
  std::string_view place = path.text();
  std::string_view missing;
  if (!missing_folder_.empty() && place.starts_with(missing_folder_)) return false;
  while (!place.empty()) {
    const Descriptor there = root_->open_beneath(place, O_PATH | O_NOFOLLOW);
    struct stat status = {};
    const bool is_there = there && ::fstat(there.get(), &status) == 0;
    if (is_there && !S_ISDIR(status.st_mode) && !leaves(place, leaving)) return true;
    const bool is_own_folder = is_there && S_ISDIR(status.st_mode) && place == path.text();
    const auto is_leaving = [&](const std::string& inside) { return leaves(inside, leaving); };
    if (is_own_folder && !holds_only(*root_, path.string(), is_leaving)) return true;
    if (there) break;
    missing = place;
    place = parent_folder(place);
  }
  if (!missing.empty()) missing_folder_ = std::string(missing) + "/";
  return false;
}

}  // namespace ws::sync
