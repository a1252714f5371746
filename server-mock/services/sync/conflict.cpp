#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/documents/document_changes.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/sync/pages.hpp"
#include "server-mock/services/sync/shared.hpp"
#include "server-mock/services/sync_sources/paths.hpp"

namespace ws::mock {
namespace {

/// The body of `sync.conflict_resolve`.
struct Wish {
  std::string_view resolution = {};  ///< "keep_local", "keep_remote", "merged", "keep_both"
  std::string_view content = {};     ///< with "merged"
  std::string content_sha256 = {};   ///< of that content; else empty
  std::optional<std::string> path = {};
  std::optional<std::string> path_for_local_copy = {};
  std::optional<std::int64_t> expected_content_revision = {};  ///< empty: the remote side has none
};
Served<std::optional<std::string>> read_path(const ServiceCall& call, std::string_view name) {
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
  Resolving(
      World& world, const ServiceCall& call, const SeenSource& seen, const Conflict& conflict, DocumentChanges changes)
      : world_(world),
        seen_(seen),
        conflict_(conflict),
        changes_(std::move(changes)),
        pages_(world, call.caller, seen) {}

  /// The remote side as it is now; 409 where it is not what the wish was made from.
  Served<void> look_up(const Wish& wish) {
    WS_SERVE_LET(document_, find_document(world_, conflict_.document_id, WithContent::no));
    WS_SERVE_LET(entry_, find_entry(world_, seen_.source.id, conflict_.document_id));
    if (!document_ || !entry_) return {};
    if (!wish.expected_content_revision && !entry_->present) return {};
    if (wish.expected_content_revision == document_->content_revision) return {};
    return revision_conflict(world_, *document_, wish.expected_content_revision.value_or(0));
  }

  /// The result as JSON text; empty where nothing is left.
  Served<std::string> apply(const Wish& wish) {
    if (wish.resolution == "merged") {
      return gone() || takes_new_document() ? create(wish.content, wish.path.value_or(conflict_.local_path))
                                            : rewrite(wish.content, wish.path.value_or(entry_->path));
    }
    if (wish.resolution == "keep_local") return keep_local(wish);
    if (wish.resolution == "keep_both" && conflict_.local_content && !conflict_.local_deleted) {
      if (gone()) return create(*conflict_.local_content, wish.path_for_local_copy.value_or(conflict_.local_path));
      WS_SERVE(create_copy(wish));
    }
    if (gone()) return std::string();
    return result(*document_, entry_->path);
  }

 private:
  bool gone() const { return !document_ || !entry_ || !entry_->present; }
  /// A local creation whose path somebody else moved onto, or that needs a folder: it never becomes the other's text.
  bool takes_new_document() const { return conflict_.is_creation() && conflict_.kind == "path"; }

  Served<std::string> keep_local(const Wish& wish) {
    if (conflict_.local_deleted) {
      if (!gone()) {
        const std::string page = document_->parent_node_id;
        WS_SERVE(changes_.archive(*document_));
        WS_SERVE(pages_.prune(page));
      }
      return std::string();
    }
    const std::string text = conflict_.local_content.value_or("");
    if (gone() || takes_new_document()) return create(text, wish.path.value_or(conflict_.local_path));
    const std::string own = conflict_.local_previous_path ? conflict_.local_path : entry_->path;
    return rewrite(text, wish.path.value_or(own));
  }

  Served<void> need_free(std::string_view path, std::string_view document_id) {
    WS_SERVE_LET(const std::string free, free_path(world_, seen_.source.id, path, document_id));
    if (free != path) return conflict("sync_conflict", "The path is taken by another document; give another one");
    return {};
  }

  Served<std::string> rewrite(std::string_view text, const std::string& path) {
    const std::string sha = Sha256::of(text).hex();
    WS_SERVE(need_free(path, document_->id));
    if (sha != document_->content_sha256) {
      WS_SERVE(changes_.rewrite(*document_, {.content = text, .content_sha256 = sha}));
    }
    if (path != entry_->path) {
      const std::string page = document_->parent_node_id;
      WS_SERVE_LET(const Node parent, pages_.find_or_make(folder_of(path)));
      WS_SERVE(changes_.move(*document_, parent, PathWish{.source_id = seen_.source.id, .path = path}));
      WS_SERVE(pages_.prune(page));
    }
    return result(*document_, path);
  }

  Served<std::string> create(std::string_view text, const std::string& path) {
    WS_SERVE(need_free(path, ""));
    WS_SERVE_LET(const Node parent, pages_.find_or_make(folder_of(path)));
    const std::string title(stem_of(file_name_of(path)));
    WS_SERVE_LET(const Document made,
                 changes_.create({.workspace_id = parent.workspace_id,
                                  .parent_node_id = parent.id,
                                  .project_id = parent.project_id,
                                  .title = title,
                                  .content = text},
                                 PathWish{.source_id = seen_.source.id, .path = path}));
    return result(made, path);
  }

  /// `STEM (local).md`, or the path that was asked for.
  Served<void> create_copy(const Wish& wish) {
    std::string path = wish.path_for_local_copy.value_or("");
    if (path.empty()) {
      WS_SERVE_LET(path, free_path(world_, seen_.source.id, with_suffix(conflict_.local_path, " (local)"), ""));
    }
    WS_SERVE(create(*conflict_.local_content, path));
    return {};
  }

  static std::string result(const Document& document, std::string_view path) {
    return dump(Json{{"document_id", document.id},
                     {"content_revision", document.content_revision},
                     {"content_sha256", document.content_sha256},
                     {"path", path}});
  }

  World& world_;
  const SeenSource& seen_;
  const Conflict& conflict_;
  DocumentChanges changes_;
  Pages pages_;
  std::optional<Document> document_ = {};
  std::optional<SyncEntry> entry_ = {};
};

/// Fails with 422: a refused path, "merged" without content, a hash that is not the content's.
Served<Wish> read_wish(const ServiceCall& call) {
  Wish wish = {.resolution = text_of(call.body, "resolution"),
               .expected_content_revision = find_integer(call.body, "expected_content_revision")};
  WS_SERVE_LET(wish.path, read_path(call, "path"));
  WS_SERVE_LET(wish.path_for_local_copy, read_path(call, "path_for_local_copy"));
  if (wish.resolution != "merged") return wish;
  const Json* content = find(call.body, "content");
  if (content == nullptr || !content->is_string()) {
    return invalid("body", "content", "missing", "Field required with the resolution merged", nullptr);
  }
  wish.content = text_of(call.body, "content");
  wish.content_sha256 = Sha256::of(wish.content).hex();
  const std::string_view given = text_of(call.body, "content_sha256");
  if (!given.empty() && given != wish.content_sha256) {
    return invalid("body", "content_sha256", "value_error", "It is not the SHA-256 of the content", given);
  }
  return wish;
}

/// Carries it out and fills in the conflict's resolution, result and remote side. 409 `revision_conflict` where the
/// remote side moved again (the conflict then shows it), 409 `sync_conflict` where a path is taken.
Served<void> apply_resolution(
    World& world, const ServiceCall& call, const SeenSource& seen, const Wish& wish, Conflict& conflict) {
  WS_SERVE_LET(DocumentChanges changes, DocumentChanges::by(world, call.caller));
  Resolving resolving(world, call, seen, conflict, std::move(changes));
  WS_SERVE(resolving.look_up(wish));
  WS_SERVE_LET(const Json remote, remote_side(world, conflict));
  WS_SERVE_LET(std::string result, resolving.apply(wish));
  conflict.remote_body = dump(remote);
  conflict.result_body = std::move(result);
  conflict.resolution = wish.resolution;
  conflict.resolved_sha256 = wish.content_sha256;
  conflict.resolved_at = world.now();
  conflict.resolved = true;
  return {};
}

struct SeenConflict {
  Conflict conflict = {};
  SeenSource source = {};
};

Served<SeenConflict> see_conflict(World& world, const ServiceCall& call) {
  WS_SERVE_LET(std::optional<Conflict> conflict, find_conflict(world, id_of(call.parameters, "conflict_id")));
  if (!conflict) return not_found("conflict");
  auto source = see_source(world, call, conflict->source_id);
  if (!source && source.error().status == 404) return not_found("conflict");
  WS_SERVE(source);
  WS_SERVE_LET(const std::optional<Document> document, find_document(world, conflict->document_id, WithContent::no));
  if (document) {
    WS_SERVE_LET(const Sight access, access_in(world, call.caller, *source, *document));
    if (access == Sight::none) return not_found("conflict");
  }
  return SeenConflict{.conflict = std::move(*conflict), .source = std::move(*source)};
}

ServiceResult get_conflict(World& world, const ServiceCall& call) {
  WS_SERVE_LET(const SeenConflict seen, see_conflict(world, call));
  WS_SERVE_LET(Json body, to_json(world, seen.conflict));
  return Answer{.body = std::move(body)};
}

ServiceResult resolve_conflict(World& world, const ServiceCall& call) {
  WS_SERVE_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_SERVE_LET(SeenConflict seen, see_conflict(world, call));
  WS_SERVE_LET(const Wish wish, read_wish(call));
  if (seen.conflict.resolved) {
    const bool same =
        seen.conflict.resolution == wish.resolution && seen.conflict.resolved_sha256 == wish.content_sha256;
    if (!same) return conflict("conflict_resolved", "The conflict was resolved otherwise: " + seen.conflict.resolution);
  } else {
    WS_SERVE(apply_resolution(world, call, seen.source, wish, seen.conflict));
    WS_SERVE(save_resolution(world, seen.conflict));
    WS_SERVE(work.commit());
  }
  WS_SERVE_LET(Json body, to_json(world, seen.conflict));
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
