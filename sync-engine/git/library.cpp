#include "sync-engine/git/library.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "api-client/base/files.hpp"
#include "api-client/base/shared_library.hpp"

namespace ws::sync::git {
namespace {

Result<Library> open_library() {
  Library git;
#ifdef WS_GIT2_LINKED
// NOLINTNEXTLINE(bugprone-macro-parentheses): an assignment
#define WS_FIND(name) git.name = &::git_##name
#else
  // The structs that we pass are those of the header we were built with, so its soname and no other.
  WS_LET(SharedLibrary opened,
         SharedLibrary::open("libgit2.so." LIBGIT2_SOVERSION, "install it: apt install libgit2-" LIBGIT2_SOVERSION));
#define WS_FIND(name) opened.find(git.name, "git_" #name)
#endif
  WS_FIND(libgit2_init);
  WS_FIND(libgit2_opts);
  WS_FIND(error_last);
  WS_FIND(repository_free);
  WS_FIND(repository_wrap_odb);
  WS_FIND(repository_set_config);
  WS_FIND(config_new);
  WS_FIND(config_free);
  WS_FIND(odb_new);
  WS_FIND(odb_add_backend);
  WS_FIND(odb_backend_loose);
  WS_FIND(odb_backend_pack);
  WS_FIND(odb_free);
  WS_FIND(odb_read);
  WS_FIND(odb_write);
  WS_FIND(odb_refresh);
  WS_FIND(odb_read_header);
  WS_FIND(odb_exists_ext);
  WS_FIND(odb_exists_prefix);
  WS_FIND(oid_fromstrn);
  WS_FIND(odb_object_data);
  WS_FIND(odb_object_size);
  WS_FIND(odb_object_type);
  WS_FIND(odb_object_free);
  WS_FIND(packbuilder_new);
  WS_FIND(packbuilder_insert);
  WS_FIND(packbuilder_write);
  WS_FIND(packbuilder_name);
  WS_FIND(packbuilder_free);
  WS_FIND(patch_from_buffers);
  WS_FIND(patch_to_buf);
  WS_FIND(patch_num_hunks);
  WS_FIND(patch_get_hunk);
  WS_FIND(patch_free);
  WS_FIND(buf_dispose);
  WS_FIND(merge_file);
  WS_FIND(merge_file_result_free);
#undef WS_FIND
#ifndef WS_GIT2_LINKED
  WS_TRY(opened.complete());
#endif
  if (git.libgit2_init() < 0) return fail(failure(git, "start libgit2"));
  // Objects reach the disk before a call returns.
  git.libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
  // We open no repository by path (see git_folder.hpp). Should one be opened all the same, it is of the user's own.
  git.libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
  // What the user or the system tells git is not told to us.
  for (const int level :
       {GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_PROGRAMDATA}) {
    git.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "");
  }
  // Packs are looked at through small windows: a large history takes no more memory than a small one.
  git.libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, std::size_t{1} << 20U);
  git.libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, std::size_t{8} << 20U);
  // Every text is checked by its SHA-256 above this floor.
  git.libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
  return git;
}

}  // namespace

Result<const Library*> library() {
  static const Result<Library> opened = open_library();
  if (!opened) return fail(opened.error());
  return &*opened;
}

Failure failure(const Library& git, std::string_view doing) {
  const git_error* last = git.error_last();
  std::string reason = last != nullptr && last->message != nullptr ? last->message : "no reason given";
  // libgit2 quotes paths; ours lead through a descriptor.
  constexpr std::string_view through = "'/proc/self/fd/";
  if (const std::size_t at = reason.find(through); at != std::string::npos) {
    const std::size_t size = std::min(reason.find('\'', at + 1), reason.size()) - at - 1;
    reason.replace(at + 1, size, shown_path(reason.substr(at + 1, size)));
  }
  return Failure{.kind = Failure::Kind::disk, .what = fmt::format("cannot {}: {}", doing, reason)};
}

}  // namespace ws::sync::git
