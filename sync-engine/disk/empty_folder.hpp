/// Folders with nothing in them but folders: nobody misses one that a file takes the place of.
#pragma once

namespace ws::sync {

/// Whether `name` in the folder `above` is one. No link is followed.
bool is_empty_folder(int above, const char* name);
/// Takes it away, from the innermost out. Nothing but rmdir(2): a file that comes in between stays. False: it is there
/// still, and errno says why.
bool remove_empty_folder(int above, const char* name);

}  // namespace ws::sync
