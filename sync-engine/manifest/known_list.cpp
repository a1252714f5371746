#include "sync-engine/manifest/known_list.hpp"

#include <algorithm>
#include <utility>

namespace ws::sync {
namespace {

std::uint64_t edition_of(const StoredPart& part) {
  const auto parsed = parse_manifest(part.rows);
  return parsed ? parsed->edition : 0;
}

/// The document that had the place of `part` before and was archived: what it said is in the newer one.
void drop_replaced(KnownList& list, const PulledPart& part, std::uint64_t edition) {
  std::erase_if(list.parts, [&](const auto& other) {
    const auto& [document, old] = other;
    if (document == part.document || !old.is_gone || old.path != part.path || edition_of(old) >= edition) return false;
    list.rows_by_part.erase(document);
    list.changed.insert(document);
    return true;
  });
}

}  // namespace

AttachmentTree KnownList::rows() const {
  std::vector<std::pair<std::uint64_t, const AttachmentTree*>> by_edition;
  for (const auto& [document, rows] : rows_by_part) by_edition.emplace_back(edition_of(parts.at(document)), &rows);
  std::ranges::stable_sort(by_edition, {}, &std::pair<std::uint64_t, const AttachmentTree*>::first);
  AttachmentTree all;
  for (const auto& [number, rows] : by_edition) {
    for (const auto& [path, row] : *rows) all.insert_or_assign(path, row);
  }
  return all;
}

bool KnownList::is_due() const {
  return std::ranges::any_of(parts, [](const auto& part) { return part.second.is_due; });
}

Result<KnownList> load_list(AttachmentStore& store) {
  KnownList list;
  WS_LET(list.parts, store.parts());
  for (const auto& [document, part] : list.parts) {
    auto parsed = parse_manifest(part.rows);
    if (!parsed) parsed.emplace();
    list.edition = std::max(list.edition, parsed->edition);
    list.rows_by_part.emplace(document, std::move(parsed->rows));
  }
  return list;
}

bool take_part(KnownList& list, const PulledPart& part) {
  const bool is_known = list.parts.contains(part.document);
  if (!part.text) {
    if (!is_known || list.parts.at(part.document).is_gone) return false;
    StoredPart& stored = list.parts.at(part.document);
    stored.is_gone = stored.is_due = true;
    list.changed.insert(part.document);
    return true;
  }
  const Sha256 hash = Sha256::of(*part.text);
  if (is_known) {
    StoredPart& stored = list.parts.at(part.document);
    if (stored.hash == hash && stored.path == part.path && !stored.is_gone) {
      // Its title changed: that raises the revision, which the next write has to name.
      const bool is_new = std::exchange(stored.revision, part.revision) != part.revision;
      if (is_new) list.changed.insert(part.document);
      return is_new;
    }
  }
  auto parsed = parse_manifest(*part.text);
  const bool is_list = parsed.has_value();
  if (!parsed) parsed = ManifestPart{.is_whole = false};
  const std::uint64_t known_edition = is_known ? edition_of(list.parts.at(part.document)) : 0;
  const bool is_older = is_list && parsed->is_whole && parsed->edition < known_edition;
  AttachmentTree& rows = list.rows_by_part[part.document];
  if (is_list && parsed->is_whole && !is_older) {
    rows = std::move(parsed->rows);
  } else if (!is_older) {
    for (auto& [path, row] : parsed->rows) {
      // The bytes of an Asset never change: a row that names other ones, or another Asset for them, was edited by hand.
      const auto known = rows.find(path);
      if (known != rows.end() && (known->second.hash == row.hash || known->second.asset == row.asset)) continue;
      rows.insert_or_assign(path, std::move(row));
    }
  }
  const std::uint64_t edition = std::max(known_edition, std::max<std::uint64_t>(parsed->edition, 1));
  list.edition = std::max(list.edition, edition);
  list.parts.insert_or_assign(part.document,
                              StoredPart{.path = part.path,
                                         .revision = part.revision,
                                         .hash = hash,
                                         .is_due = is_older || !parsed->is_whole,
                                         .rows = render_manifest(rows, edition)});
  if (is_list && parsed->is_whole) drop_replaced(list, part, edition);
  list.changed.insert(part.document);
  return true;
}

void put_back_part(KnownList& list, const PulledPart& part) {
  const auto known = list.parts.find(part.document);
  const std::uint64_t edition = known == list.parts.end() ? 0 : edition_of(known->second);
  list.parts.erase(part.document);
  list.rows_by_part.erase(part.document);
  list.changed.insert(part.document);
  if (!take_part(list, part)) return;
  StoredPart& now = list.parts.at(part.document);
  if (edition > edition_of(now)) now.rows = render_manifest(list.rows_by_part.at(part.document), edition);
}

Result<void> store_parts(AttachmentStore& store, KnownList& list) {
  for (const DocumentId& document : std::exchange(list.changed, {})) {
    const auto part = list.parts.find(document);
    WS_TRY(part == list.parts.end() ? store.drop_part(document) : store.put_part(document, part->second));
  }
  return {};
}

}  // namespace ws::sync
