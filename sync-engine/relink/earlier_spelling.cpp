#include "sync-engine/relink/earlier_spelling.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sync-engine/links/references.hpp"

namespace ws::sync {
namespace {

using links::Reference;

/// The text without the paths of its links.
std::string without_targets(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  std::vector<Reference> references = links::read_references(text);
  std::ranges::sort(references, {}, &Reference::target_begin);
  for (const Reference& each : references) {
    if (each.target_begin < at) continue;
    out += text.substr(at, each.target_begin - at) + '\0';
    at = each.path_end;
  }
  return out + text.substr(at);
}

}  // namespace

Result<EarlierSpelling> EarlierSpelling::find(Session& session, const links::Renames& renames) {
  constexpr std::size_t max_operations = 50;
  EarlierSpelling found;
  if (renames.empty()) return found;
  WS_LET(const std::vector<Operation> operations, session.state.operations().list(max_operations));
  for (const Operation& operation : operations) {
    WS_LET(std::vector<OperationRow> rows, session.state.operations().rows(operation.id));
    links::Renames inverse;
    for (const OperationRow& row : rows) {
      if (row.before && row.after && row.before->path != row.after->path)
        inverse.emplace(row.after->path.string(), row.before->path.string());
    }
    if (inverse != renames) continue;
    for (OperationRow& row : rows) {
      if (row.before && row.after && row.before->hash != row.after->hash)
        found.rows_.emplace(row.after->path.string(), std::move(row));
    }
    return found;
  }
  return found;
}

std::optional<std::string> EarlierSpelling::text(Session& session,
                                                 const std::string& place,
                                                 const std::string& now) const {
  const auto row = rows_.find(place);
  if (row == rows_.end() || row->second.after->hash != Sha256::of(now)) return std::nullopt;
  auto text = session.history.text(row->second.before->blob);
  if (!text || without_targets(*text) != without_targets(now)) return std::nullopt;
  return std::move(*text);
}

}  // namespace ws::sync
