/// libgit2, opened when it is first needed: a `ws` that syncs nothing does not pay the 4 ms of its start.
///
/// For `sync-engine/git/` alone; what leaves this folder are `Repository`, `changed_lines`,
/// `diff_text`, `merge_file`.
#pragma once

#include <string_view>

#include <git2.h>
#include <git2/odb_backend.h>
#include <git2/sys/repository.h>

#include "api-client/base/result.hpp"

namespace ws::sync::git {

/// The functions that we call, each with the type that its header gives it.
struct Library {
  decltype(&git_libgit2_init) libgit2_init = nullptr;
  decltype(&git_libgit2_opts) libgit2_opts = nullptr;
  decltype(&git_error_last) error_last = nullptr;
  decltype(&git_repository_free) repository_free = nullptr;
  decltype(&git_repository_wrap_odb) repository_wrap_odb = nullptr;
  decltype(&git_repository_set_config) repository_set_config = nullptr;
  decltype(&git_config_new) config_new = nullptr;
  decltype(&git_config_free) config_free = nullptr;
  decltype(&git_odb_new) odb_new = nullptr;
  decltype(&git_odb_add_backend) odb_add_backend = nullptr;
  decltype(&git_odb_backend_loose) odb_backend_loose = nullptr;
  decltype(&git_odb_backend_pack) odb_backend_pack = nullptr;
  decltype(&git_odb_free) odb_free = nullptr;
  decltype(&git_odb_read) odb_read = nullptr;
  decltype(&git_odb_write) odb_write = nullptr;
  decltype(&git_odb_refresh) odb_refresh = nullptr;
  decltype(&git_odb_read_header) odb_read_header = nullptr;
  decltype(&git_odb_exists_ext) odb_exists_ext = nullptr;
  decltype(&git_odb_exists_prefix) odb_exists_prefix = nullptr;
  decltype(&git_oid_fromstrn) oid_fromstrn = nullptr;
  decltype(&git_odb_object_data) odb_object_data = nullptr;
  decltype(&git_odb_object_size) odb_object_size = nullptr;
  decltype(&git_odb_object_type) odb_object_type = nullptr;
  decltype(&git_odb_object_free) odb_object_free = nullptr;
  decltype(&git_packbuilder_new) packbuilder_new = nullptr;
  decltype(&git_packbuilder_insert) packbuilder_insert = nullptr;
  decltype(&git_packbuilder_write) packbuilder_write = nullptr;
  decltype(&git_packbuilder_name) packbuilder_name = nullptr;
  decltype(&git_packbuilder_free) packbuilder_free = nullptr;
  decltype(&git_patch_from_buffers) patch_from_buffers = nullptr;
  decltype(&git_patch_to_buf) patch_to_buf = nullptr;
  decltype(&git_patch_num_hunks) patch_num_hunks = nullptr;
  decltype(&git_patch_get_hunk) patch_get_hunk = nullptr;
  decltype(&git_patch_free) patch_free = nullptr;
  decltype(&git_buf_dispose) buf_dispose = nullptr;
  decltype(&git_merge_file) merge_file = nullptr;
  decltype(&git_merge_file_result_free) merge_file_result_free = nullptr;
};

/// Opened and initialised once for the life of the process: libgit2 counts its own state in globals, so this one
/// mirrors it. Fails with `internal`, naming the package to install.
Result<const Library*> library();

/// "cannot read the history: object not found".
Failure failure(const Library& git, std::string_view doing);

}  // namespace ws::sync::git
