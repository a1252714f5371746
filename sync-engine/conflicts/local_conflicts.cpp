#include "sync-engine/conflicts/local_conflicts.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "sync-engine/apply/replace_file.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/survey/refused_documents.hpp"

namespace ws::sync {
namespace {

constexpr std::size_t max_at_once = 500;  // conflicts whose texts are written together

/// The base is not compared: for a displaced document it may be the service's text by now.
bool says_the_same(const Conflict& a, const Conflict& b) {
  return a.kind() == b.kind() && a.local == b.local && a.remote == b.remote;
}

std::optional<std::string> text_of(Session& session, const git::ObjectId& blob) {
  if (blob.empty()) return std::nullopt;
  auto text = session.history.text(blob);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

ThreeTexts texts_of(Session& session, const Survey& survey, const SafeWriter& files, const Conflict& conflict) {
  ThreeTexts texts;
  const auto base = survey.base_rows.find(conflict.document);
  if (base != survey.base_rows.end()) texts.base = text_of(session, base->second.blob);
  if (conflict.local) {
    if (auto text = read_if_there(files, conflict.local->path)) texts.local = std::move(*text);
  }
  if (!conflict.remote) return texts;
  const auto there = survey.pending.find(conflict.document);
  if (there != survey.pending.end()) texts.remote = text_of(session, there->second.blob);
  if (!texts.remote && base != survey.base_rows.end() && base->second.entry.hash == conflict.remote->hash) {
    texts.remote = texts.base;
  }
  return texts;
}

/// The rows of conflicts, by what they are about.
class ConflictRows {
 public:
  explicit ConflictRows(std::vector<Row>& rows) {
    for (Row& row : rows) {
      if (row.action.kind == ActionKind::conflict) rows_.emplace(std::pair(row.action.document, row.action.path), &row);
    }
  }

  /// Whether the service cannot record it: the key may not write, or the service refuses the text.
  bool could_not_be_sent(const Conflict& conflict) const {
    const auto [first, last] = rows_.equal_range({conflict.document, conflict.path});
    return std::any_of(first, last, [](const auto& each) {
      const auto& error = each.second->error;
      return error && (error->kind == Failure::Kind::forbidden || is_refused_as_it_is(error->code));
    });
  }

  /// Marks the rows of a conflict that is kept here as done.
  void close(const Conflict& conflict) {
    const auto [first, last] = rows_.equal_range({conflict.document, conflict.path});
    for (auto each = first; each != last; ++each) {
      if (each->second->state == Row::State::planned) each->second->state = Row::State::done;
    }
  }

 private:
  std::multimap<std::pair<DocumentId, RelativePath>, Row*> rows_;
};

}  // namespace

Result<void> keep_local_conflicts(Session& session, const Survey& survey, std::vector<Row>& rows) {
  ConflictRows of_conflicts(rows);
  const auto is_ours = [&](const Conflict& conflict) {
    return !conflict.row().pushed_as || of_conflicts.could_not_be_sent(conflict);
  };
  if (std::none_of(survey.plan.conflicts.begin(), survey.plan.conflicts.end(), is_ours)) return {};
  WS_LET(const std::vector<Conflict> known, session.state.conflicts());
  std::map<std::pair<DocumentId, RelativePath>, const Conflict*> known_by_place;
  for (const Conflict& each : known) known_by_place.try_emplace({each.document, each.path}, &each);
  WS_LET(const SafeWriter files, SafeWriter::open(session.root));
  std::map<std::string, ThreeTexts> texts;
  std::vector<std::string> replaced;
  std::vector<Conflict> now;
  for (const Conflict& planned : survey.plan.conflicts) {
    if (!is_ours(planned)) continue;
    of_conflicts.close(planned);
    Conflict conflict = planned;
    conflict.id = local_conflict_id(conflict);
    conflict.record = ConflictRecord::here;
    const auto same = known_by_place.find({conflict.document, conflict.path});
    const Conflict* const kept = same == known_by_place.end() ? nullptr : same->second;
    if (kept != nullptr && says_the_same(*kept, conflict)) continue;
    if (kept != nullptr && !kept->is_here_only()) {
      // A conflict recorded on the service is kept, unless its file became a folder or was removed.
      if (!conflict.is_about(ConflictSubject::place) || kept->is_about(ConflictSubject::place)) continue;
      conflict.id = kept->id;
      conflict.record = ConflictRecord::service;
    }
    if (conflict.which != ConflictCase::service_went_back)
      texts.insert_or_assign(conflict.id, texts_of(session, survey, files, conflict));
    if (texts.size() == max_at_once) {
      WS_TRY(write_conflict_texts(session, texts));
      texts.clear();
    }
    if (kept != nullptr) replaced.push_back(kept->id);
    now.push_back(std::move(conflict));
  }
  WS_TRY(write_conflict_texts(session, texts));
  if (now.empty()) return {};
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const std::string& id : replaced) WS_TRY(session.state.drop_conflict(id));
  for (const Conflict& conflict : now) WS_TRY(session.state.put_conflict(conflict));
  return transaction.commit();
}

}  // namespace ws::sync
