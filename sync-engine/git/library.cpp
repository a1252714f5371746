#include "sync-engine/git/library.hpp"

#include <fmt/format.h>

#include "api-client/base/shared_library.hpp"

namespace ws::sync::git {
namespace {

Result<Library> open_library() {
  // The structs that we pass are those of the header we were built with, so its soname and no other.
  WS_LET(SharedLibrary opened,
         SharedLibrary::open("libgit2.so." LIBGIT2_SOVERSION, "install it: apt install libgit2-" LIBGIT2_SOVERSION));
  Library git;
  opened.find(git.libgit2_init, "git_libgit2_init");
  opened.find(git.libgit2_opts, "git_libgit2_opts");
  opened.find(git.error_last, "git_error_last");
  opened.find(git.repository_free, "git_repository_free");
  opened.find(git.repository_wrap_odb, "git_repository_wrap_odb");
  opened.find(git.repository_set_config, "git_repository_set_config");
  opened.find(git.config_new, "git_config_new");
  opened.find(git.config_free, "git_config_free");
  opened.find(git.odb_new, "git_odb_new");
  opened.find(git.odb_add_backend, "git_odb_add_backend");
  opened.find(git.odb_backend_loose, "git_odb_backend_loose");
  opened.find(git.odb_backend_pack, "git_odb_backend_pack");
  opened.find(git.odb_free, "git_odb_free");
  opened.find(git.odb_read, "git_odb_read");
  opened.find(git.odb_write, "git_odb_write");
  opened.find(git.odb_refresh, "git_odb_refresh");
  opened.find(git.odb_exists_prefix, "git_odb_exists_prefix");
  opened.find(git.oid_fromstrn, "git_oid_fromstrn");
  opened.find(git.odb_object_data, "git_odb_object_data");
  opened.find(git.odb_object_size, "git_odb_object_size");
  opened.find(git.odb_object_type, "git_odb_object_type");
  opened.find(git.odb_object_free, "git_odb_object_free");
  opened.find(git.packbuilder_new, "git_packbuilder_new");
  opened.find(git.packbuilder_insert, "git_packbuilder_insert");
  opened.find(git.packbuilder_write, "git_packbuilder_write");
  opened.find(git.packbuilder_name, "git_packbuilder_name");
  opened.find(git.packbuilder_free, "git_packbuilder_free");
  opened.find(git.patch_from_buffers, "git_patch_from_buffers");
  opened.find(git.patch_to_buf, "git_patch_to_buf");
  opened.find(git.patch_num_hunks, "git_patch_num_hunks");
  opened.find(git.patch_get_hunk, "git_patch_get_hunk");
  opened.find(git.patch_free, "git_patch_free");
  opened.find(git.buf_dispose, "git_buf_dispose");
  WS_TRY(opened.complete());
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
  const std::string reason = last != nullptr && last->message != nullptr ? last->message : "no reason given";
  return Failure{.kind = Failure::Kind::disk, .what = fmt::format("cannot {}: {}", doing, reason)};
}

}  // namespace ws::sync::git
