#include <nlohmann/json.hpp>

#include "server-mock/services/services.hpp"
#include "server-mock/services/sync/resolution.hpp"
#include "server-mock/services/sync/shared.hpp"

namespace ws::mock {
namespace {

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

}  // namespace

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

}  // namespace ws::mock
