#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/documents/document_changes.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/sync/shared.hpp"
#include "server-mock/services/sync_sources/paths.hpp"

namespace ws::mock {
namespace {

/// The body of `sync.conflict_resolve`.
struct ResolutionRequest {
  std::string_view resolution = {};  ///< "keep_local", "keep_remote", "merged", "keep_both"
  std::string_view content = {};     ///< with "merged"
  std::string content_sha256 = {};   ///< of that content; else empty
  std::optional<std::string> path = {};
  std::optional<std::string> path_for_local_copy = {};
  std::optional<std::int64_t> expected_content_revision = {};  ///< empty: there is no remote side
};
ApiResult<std::optional<std::string>> read_path(const ServiceCall& call, std::string_view name) {
  const std::string_view given = text_of(call.body, name);
  if (given.empty()) return std::optional<std::string>();
  std::string path = utf8::nfc(given);
  if (const auto problem = path_problem(path)) {
    return invalid("body", name, "value_error", "The path is refused: " + *problem, given);
  }
  return std::optional(std::move(path));
}

class Resolving {
 public:
  Resolving(World& world,
            const ServiceCall& call,
            const VisibleSource& seen,
            const Conflict& conflict,
            DocumentChanges changes)
      : world_(world),
        caller_(call.caller),
        seen_(seen),
        conflict_(conflict),
        changes_(std::move(changes)),
        pages_(world, call.caller, seen) {}

  /// Reads the remote side; 403 if the resolution changes it and the caller may not, 409 if it has changed since the
  /// client decided.
  ApiResult<void> look_up(const ResolutionRequest& wanted) {
    WS_API_LET(entry_, find_entry(world_, seen_.source.id, conflict_.document_id));
    WS_API_LET(document_, find_entered(world_, entry_, WithContent::no));
    if (!document_) return {};
    const bool takes_remote = wanted.resolution == "keep_remote" || wanted.resolution == "keep_both";
    if (!takes_remote && !gone() && !takes_new_document()) {
      WS_API_TRY(require_edit(world_, caller_, seen_, *document_));
    }
    if (!wanted.expected_content_revision && !entry_->present) return {};
    if (wanted.expected_content_revision == document_->content_revision) return {};
    return revision_conflict(world_, *document_, wanted.expected_content_revision.value_or(0));
  }

  /// The result as JSON text; empty if no document remains.
  ApiResult<std::string> apply(const ResolutionRequest& wanted) {
    if (wanted.resolution == "merged") {
      return gone() || takes_new_document() ? create(wanted.content, wanted.path.value_or(conflict_.local_path))
                                            : rewrite(wanted.content, wanted.path.value_or(entry_->path));
    }
    if (wanted.resolution == "keep_local") return keep_local(wanted);
    if (wanted.resolution == "keep_both" && conflict_.local_content && !conflict_.local_deleted) {
      if (gone()) return create(*conflict_.local_content, wanted.path_for_local_copy.value_or(conflict_.local_path));
      WS_API_TRY(create_copy(wanted));
    }
    if (gone()) return std::string();
    return result(*document_, entry_->path);
  }

 private:
  bool gone() const { return !document_ || !entry_->present; }
  /// Whether the local file needs a new document: its path belongs to another document or a folder.
  bool takes_new_document() const { return conflict_.is_creation() && conflict_.kind == "path"; }

  ApiResult<std::string> keep_local(const ResolutionRequest& wanted) {
    if (conflict_.local_deleted) {
      if (!gone()) {
        const std::string page = document_->parent_node_id;
        WS_API_TRY(changes_.archive(*document_));
        WS_API_TRY(pages_.prune(page));
      }
      return std::string();
    }
    const std::string text = conflict_.local_content.value_or("");
    if (gone() || takes_new_document()) return create(text, wanted.path.value_or(conflict_.local_path));
    const std::string own = conflict_.local_previous_path ? conflict_.local_path : entry_->path;
    return rewrite(text, wanted.path.value_or(own));
  }

  ApiResult<void> need_free(std::string_view path, std::string_view document_id) {
    WS_API_LET(const std::string free, free_path(world_, seen_.source.id, path, document_id));
    if (free != path) return conflict("sync_conflict", "The path is taken by another document; give another one");
    return {};
  }

  ApiResult<std::string> rewrite(std::string_view text, const std::string& path) {
    const std::string sha = Sha256::of(text).hex();
    WS_API_TRY(need_free(path, document_->id));
    if (sha != document_->content_sha256) {
      WS_API_TRY(changes_.rewrite(*document_, {.content = text, .content_sha256 = sha}));
    }
    if (path != entry_->path) {
      const std::string page = document_->parent_node_id;
      WS_API_LET(const Node parent, pages_.find_or_make(folder_of(path)));
      WS_API_TRY(changes_.move(*document_, parent, RequestedPath{.source_id = seen_.source.id, .path = path}));
      WS_API_TRY(pages_.prune(page));
    }
    return result(*document_, path);
  }

  ApiResult<std::string> create(std::string_view text, const std::string& path) {
    WS_API_TRY(need_free(path, ""));
    WS_API_LET(const Node parent, pages_.find_or_make(folder_of(path)));
    const std::string title(stem_of(file_name_of(path)));
    WS_API_LET(const Document made,
               changes_.create({.workspace_id = parent.workspace_id,
                                .parent_node_id = parent.id,
                                .project_id = parent.project_id,
                                .title = title,
                                .content = text},
                               RequestedPath{.source_id = seen_.source.id, .path = path}));
    return result(made, path);
  }

  /// Creates `STEM (local).md`, or the requested path.
  ApiResult<void> create_copy(const ResolutionRequest& wanted) {
    std::string path = wanted.path_for_local_copy.value_or("");
    if (path.empty()) {
      WS_API_LET(path, free_path(world_, seen_.source.id, with_suffix(conflict_.local_path, " (local)"), ""));
    }
    WS_API_TRY(create(*conflict_.local_content, path));
    return {};
  }

  static std::string result(const Document& document, std::string_view path) {
    return dump(Json{{"document_id", document.id},
                     {"content_revision", document.content_revision},
                     {"content_sha256", document.content_sha256},
                     {"path", path}});
  }

  World& world_;
  const Caller& caller_;
  const VisibleSource& seen_;
  const Conflict& conflict_;
  DocumentChanges changes_;
  Pages pages_;
  std::optional<Document> document_ = {};
  std::optional<SyncEntry> entry_ = {};
};

/// 422 for an invalid path, "merged" without content, or a wrong hash of the content.
ApiResult<ResolutionRequest> read_resolution(const ServiceCall& call) {
  ResolutionRequest wanted = {.resolution = text_of(call.body, "resolution"),
                              .expected_content_revision = find_integer(call.body, "expected_content_revision")};
  WS_API_LET(wanted.path, read_path(call, "path"));
  WS_API_LET(wanted.path_for_local_copy, read_path(call, "path_for_local_copy"));
  if (wanted.resolution != "merged") return wanted;
  const Json* content = find(call.body, "content");
  if (content == nullptr || !content->is_string()) {
    return invalid("body", "content", "missing", "Field required with the resolution merged", nullptr);
  }
  wanted.content = text_of(call.body, "content");
  wanted.content_sha256 = Sha256::of(wanted.content).hex();
  const std::string_view given = text_of(call.body, "content_sha256");
  if (!given.empty() && given != wanted.content_sha256) {
    return invalid("body", "content_sha256", "value_error", "It is not the SHA-256 of the content", given);
  }
  return wanted;
}

/// Applies the resolution and sets the conflict's resolution, result and remote side. 409 `revision_conflict` if the
/// remote side has changed again (the conflict then shows it), 409 `sync_conflict` if a path is taken.
ApiResult<void> apply_resolution(World& world,
                                 const ServiceCall& call,
                                 const VisibleSource& seen,
                                 const ResolutionRequest& wanted,
                                 Conflict& conflict) {
  WS_API_LET(DocumentChanges changes, DocumentChanges::by(world, call.caller));
  Resolving resolving(world, call, seen, conflict, std::move(changes));
  WS_API_TRY(resolving.look_up(wanted));
  WS_API_LET(const Json remote, remote_side(world, conflict));
  WS_API_LET(std::string result, resolving.apply(wanted));
  conflict.remote_body = dump(remote);
  conflict.result_body = std::move(result);
  conflict.resolution = wanted.resolution;
  conflict.resolved_sha256 = wanted.content_sha256;
  conflict.resolved_at = world.now();
  conflict.resolved = true;
  return {};
}

struct VisibleConflict {
  Conflict conflict = {};
  VisibleSource source = {};
};

ApiResult<VisibleConflict> find_visible_conflict(World& world, const ServiceCall& call) {
  WS_API_LET(std::optional<Conflict> conflict, find_conflict(world, id_of(call.parameters, "conflict_id")));
  if (!conflict) return not_found("conflict");
  auto source = find_visible_source(world, call, conflict->source_id);
  if (!source && source.error().status == 404) return not_found("conflict");
  WS_API_TRY(source);
  WS_API_LET(const bool shown, shows(world, call.caller, *source, conflict->document_id));
  if (!shown) return not_found("conflict");
  return VisibleConflict{.conflict = std::move(*conflict), .source = std::move(*source)};
}

ServiceResult get_conflict(World& world, const ServiceCall& call) {
  WS_API_LET(const VisibleConflict seen, find_visible_conflict(world, call));
  WS_API_LET(Json body, to_json(world, seen.conflict));
  return Answer{.body = std::move(body)};
}

ServiceResult resolve_conflict(World& world, const ServiceCall& call) {
  WS_API_LET(const ResolutionRequest wanted, read_resolution(call));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(VisibleConflict seen, find_visible_conflict(world, call));
  if (seen.conflict.resolved) {
    const bool same =
        seen.conflict.resolution == wanted.resolution && seen.conflict.resolved_sha256 == wanted.content_sha256;
    if (!same)
      return conflict("conflict_resolved",
                      "The conflict was already resolved in another way: " + seen.conflict.resolution);
  } else {
    WS_API_TRY(apply_resolution(world, call, seen.source, wanted, seen.conflict));
    WS_API_TRY(save_resolution(world, seen.conflict));
    WS_API_TRY(work.commit());
  }
  WS_API_LET(Json body, to_json(world, seen.conflict));
  return Answer{.body = std::move(body)};
}

}  // namespace

ServiceTable sync_conflict_services() {
  static constexpr ServiceEntry entries[] = {
      {"sync.conflict_get", get_conflict},
      {"sync.conflict_resolve", resolve_conflict},
  };
  return entries;
}

}  // namespace ws::mock
