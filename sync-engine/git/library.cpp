#include "sync-engine/git/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace ws::sync::git {
namespace {

/// Looks up symbols and remembers the first that is missing.
class Symbols {
 public:
  explicit Symbols(void* handle) : handle_(handle) {}

  template <class Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(handle_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

Result<Library> open_library() {
  // The structs that we pass are those of the header we were built with, so its soname and no other.
  void* handle = ::dlopen("libgit2.so." LIBGIT2_SOVERSION, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return fail(Failure::Kind::internal,
                "the library libgit2.so." LIBGIT2_SOVERSION " cannot be opened",
                "install it: apt install libgit2-" LIBGIT2_SOVERSION);
  }
  Library git;
  Symbols symbols(handle);
  symbols.load(git.libgit2_init, "git_libgit2_init");
  symbols.load(git.libgit2_opts, "git_libgit2_opts");
  symbols.load(git.error_last, "git_error_last");
  symbols.load(git.repository_free, "git_repository_free");
  symbols.load(git.repository_wrap_odb, "git_repository_wrap_odb");
  symbols.load(git.repository_set_config, "git_repository_set_config");
  symbols.load(git.config_new, "git_config_new");
  symbols.load(git.config_free, "git_config_free");
  symbols.load(git.odb_new, "git_odb_new");
  symbols.load(git.odb_add_backend, "git_odb_add_backend");
  symbols.load(git.odb_backend_loose, "git_odb_backend_loose");
  symbols.load(git.odb_backend_pack, "git_odb_backend_pack");
  symbols.load(git.odb_free, "git_odb_free");
  symbols.load(git.odb_read, "git_odb_read");
  symbols.load(git.odb_write, "git_odb_write");
  symbols.load(git.odb_refresh, "git_odb_refresh");
  symbols.load(git.odb_exists_prefix, "git_odb_exists_prefix");
  symbols.load(git.oid_fromstrn, "git_oid_fromstrn");
  symbols.load(git.odb_object_data, "git_odb_object_data");
  symbols.load(git.odb_object_size, "git_odb_object_size");
  symbols.load(git.odb_object_type, "git_odb_object_type");
  symbols.load(git.odb_object_free, "git_odb_object_free");
  symbols.load(git.packbuilder_new, "git_packbuilder_new");
  symbols.load(git.packbuilder_insert, "git_packbuilder_insert");
  symbols.load(git.packbuilder_write, "git_packbuilder_write");
  symbols.load(git.packbuilder_name, "git_packbuilder_name");
  symbols.load(git.packbuilder_free, "git_packbuilder_free");
  symbols.load(git.patch_from_buffers, "git_patch_from_buffers");
  symbols.load(git.patch_to_buf, "git_patch_to_buf");
  symbols.load(git.patch_num_hunks, "git_patch_num_hunks");
  symbols.load(git.patch_get_hunk, "git_patch_get_hunk");
  symbols.load(git.patch_free, "git_patch_free");
  symbols.load(git.buf_dispose, "git_buf_dispose");
  symbols.load(git.merge_file, "git_merge_file");
  symbols.load(git.merge_file_options_init, "git_merge_file_options_init");
  symbols.load(git.merge_file_input_init, "git_merge_file_input_init");
  symbols.load(git.merge_file_result_free, "git_merge_file_result_free");
  if (!symbols.missing().empty()) {
    return fail(Failure::Kind::internal, fmt::format("libgit2 lacks {}", symbols.missing()));
  }
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
