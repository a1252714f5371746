#include "server-mock/services/sync/judge.hpp"

namespace ws::mock {
namespace {

/// How a side differs from the base.
struct Difference {
  bool edited = false;
  bool moved = false;
};

Judgement judged_conflict(const LocalFile& local, std::string kind, std::string reason) {
  return {.action = "conflict", .reason = std::move(reason), .path = local.path, .kind = std::move(kind)};
}

/// The file was deleted here (rows D*): the other side's change wins unless there is none.
std::vector<Judgement> judge_deletion(const LocalFile& local, const RemoteFile& remote, const Difference& there) {
  if (!remote.present) return {{.action = "unchanged", .reason = "deleted on both sides", .path = local.path}};
  if (there.edited) return {{.action = "pull_create", .reason = "deleted here, edited there", .path = remote.path}};
  if (there.moved) return {{.action = "pull_create", .reason = "deleted here, moved there", .path = remote.path}};
  return {{.action = "push_delete", .reason = "deleted here", .path = remote.path}};
}

void judge_text(std::vector<Judgement>& rows, const LocalFile& local, const RemoteFile& remote, bool here, bool there) {
  if (local.content_sha256 == remote.content_sha256) return;
  if (here && there) {
    const bool based = local.base_content_revision.has_value();
    rows = {judged_conflict(local, based ? "revision" : "hash", "edited on both sides")};
  } else if (here) {
    rows.push_back({.action = "push_update", .reason = "edited here", .path = remote.path});
  } else if (there) {
    rows.push_back({.action = "pull_update", .reason = "edited there", .path = local.path});
  }
}

void judge_path(std::vector<Judgement>& rows, const LocalFile& local, const RemoteFile& remote, bool here, bool there) {
  if (local.path == remote.path) return;
  if (here && there) {
    rows = {judged_conflict(local, "path", "renamed on both sides")};
  } else if (here) {
    rows.push_back({.action = "push_move", .reason = "moved here", .path = local.path, .previous_path = remote.path});
  } else if (there) {
    rows.push_back({.action = "pull_move", .reason = "moved there", .path = remote.path, .previous_path = local.path});
  }
}

}  // namespace

std::vector<Judgement> judge(const LocalFile& local, const std::string& base_sha256, const RemoteFile& remote) {
  if (local.document_id.empty()) {
    if (!local.content_sha256)
      return {{.action = "unchanged", .reason = "there is no such document", .path = local.path}};
    return {{.action = "push_create", .reason = "created here", .path = local.path}};
  }
  if (!remote.known)
    return {{.action = "unchanged", .reason = "the document is not in this source", .path = local.path}};

  const std::string& base_path = local.previous_path ? *local.previous_path : local.path;
  const Difference there = {.edited = base_sha256.empty() || remote.content_sha256 != base_sha256,
                            .moved = remote.path != base_path};
  if (!local.content_sha256) return judge_deletion(local, remote, there);
  const Difference here = {.edited = base_sha256.empty() || *local.content_sha256 != base_sha256,
                           .moved = local.path != base_path};
  if (!remote.present) {
    if (here.edited || here.moved) return {judged_conflict(local, "edit_delete", "changed here, deleted there")};
    return {{.action = "pull_delete", .reason = "deleted there", .path = local.path}};
  }
  std::vector<Judgement> rows;
  judge_text(rows, local, remote, here.edited, there.edited);
  if (rows.empty() || rows.front().action != "conflict") judge_path(rows, local, remote, here.moved, there.moved);
  if (rows.empty()) rows.push_back({.action = "unchanged", .reason = "same on both sides", .path = local.path});
  return rows;
}

}  // namespace ws::mock
