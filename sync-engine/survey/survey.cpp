#include "sync-engine/survey/survey.hpp"

#include <algorithm>
#include <utility>

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/model/change.hpp"
#include "sync-engine/reconcile/guard.hpp"
#include "sync-engine/reconcile/identify.hpp"
#include "sync-engine/reconcile/narrow_plan.hpp"
#include "sync-engine/reconcile/reconcile.hpp"
#include "sync-engine/survey/cached_walk.hpp"
#include "sync-engine/survey/held_documents.hpp"
#include "sync-engine/survey/incoming.hpp"
#include "sync-engine/survey/out_of_sight.hpp"
#include "sync-engine/survey/renamed_conflicts.hpp"
#include "sync-engine/survey/resolved_elsewhere.hpp"
#include "sync-engine/survey/try_plan.hpp"

namespace ws::sync {
namespace {

/// Beyond this the plan of the service is not what a run waits for.
constexpr std::size_t max_expected_documents = 20'000;

Guard guard_of_absent(const Survey& survey) {
  return {.absent = survey.remote.absent.size(), .tracked = count_in_sight(survey.base)};
}

bool has_name_in_other_case(const Survey& survey) {
  return std::ranges::any_of(survey.local.tracked, [&](const auto& file) {
    const RelativePath& known = survey.base.disk_path(file.first);
    const RelativePath& now = file.second.path;
    return known != now && known.twin_key() == now.twin_key() && !same_name(known, now);
  });
}

class Surveyor {
 public:
  Surveyor(Session& session, const RunOptions& options, PullMode mode, TextEdits edits = {})
      : session_(session), options_(options), mode_(mode) {
    survey_.edits = std::move(edits);
    survey_.absent = options.absent;
  }

  Result<Survey> survey() {
    session_.progress(Stage::scan, 0, 0);
    WS_LET(survey_.scan, walk_tree(session_, false));
    if (options_.was_any_removed && options_.was_any_removed()) return fail(removed_meanwhile());
    WS_LET(generation_, session_.state.generation());
    WS_LET(survey_.revision_before, session_.state.source_revision());
    survey_.revision = survey_.revision_before;
    WS_LET(invalid_paths_, session_.state.invalid_paths());
    WS_LET(const bool unsettled, session_.state.has_pending_or_conflicts());
    const bool looks_at_all = unsettled || options_.whole || !survey_.edits.empty();
    cache_match_ = looks_at_all ? CacheMatch::no : match_cache(survey_.scan, generation_);
    if (cache_match_ == CacheMatch::no && !looks_at_all) {
      WS_LET(survey_.agreed, files_as_agreed(session_, survey_.scan));
      if (survey_.agreed) cache_match_ = CacheMatch::all;
    }
    if (cache_match_ == CacheMatch::no) WS_TRY(load_and_identify());
    if (!options_.offline) {
      WS_TRY(expect_plan());
      WS_TRY(ask_service());
    }
    survey_.remote.refused = skipped_invalid_paths(invalid_paths_, incoming_.without_id);
    if (cache_match_ != CacheMatch::no && !identified_ && is_quiet_there()) {
      WS_LET(const bool known, plan_edits());
      if (known) return finish();
    }
    WS_TRY(load_and_identify());
    if (is_foreign()) {
      survey_.plan.guard = Guard{.tracked = count_in_sight(survey_.base), .foreign_source = true};
      survey_.plan.skipped = survey_.local.skipped;
      return std::move(survey_);
    }
    if (rewound_) {
      survey_.plan.conflicts = {rewound_service()};
      survey_.plan.skipped = survey_.local.skipped;
      // What a rule hides meanwhile, and what goes missing then, is no delete after the decision.
      note_out_of_sight(survey_, mode_, false);
      return std::move(survey_);
    }
    if (!options_.offline) WS_TRY(take_over());
    follow_renames(survey_);
    build_remote();
    WS_TRY(make_plan());
    WS_TRY(leave_cache(CacheExtent::at_all));
    return finish();
  }

 private:
  Result<Survey> finish() {
    Unstored& unstored = survey_.unstored;
    const bool came = incoming_.any || survey_.revision != survey_.revision_before;
    unstored.any = mode_ == PullMode::store && !options_.offline && came;
    // A delete that the guard held back is not stored either: the next run pulls it again.
    std::erase_if(unstored.pending, [this](const DocumentId& document) { return held_.contains(document); });
    unstored.paths = std::move(invalid_paths_);
    // Unreadable documents must be pulled again.
    unstored.moves_revision =
        incoming_.out_of_reach.empty() && incoming_.without_id.empty() && survey_.unavailable.empty() && held_.empty();
    return std::move(survey_);
  }

  static Failure removed_meanwhile() {
    return {.kind = Failure::Kind::pending,
            .what = "files were removed while they were looked at",
            .code = "removed_meanwhile"};
  }

  Result<void> leave_cache(CacheExtent looked) {
    if (options_.dry_run || !survey_.edits.empty() || !survey_.absent.empty()) return {};
    WS_LET(auto unrecorded, find_unrecorded(session_, survey_));
    if (mode_ != PullMode::inspect && !unrecorded.empty())
      WS_TRY(session_.state.put_files(std::exchange(unrecorded, {})));
    save_cache(session_, survey_, generation_, looked, unrecorded.empty());
    return {};
  }

  /// The service plans what this side sends where nothing comes, while it is asked what comes: one round trip less.
  Result<void> expect_plan() {
    const bool sends = mode_ == PullMode::store && options_.half == Half::both && !options_.only &&
                       survey_.edits.empty() && session_.remote != nullptr;
    if (!sends || cache_match_ == CacheMatch::all || !survey_.pending.empty()) return {};
    Survey edits;
    if (!identified_) {
      std::swap(edits.scan, survey_.scan);
      const Result<bool> loaded = load_edits(session_, edits);
      std::swap(edits.scan, survey_.scan);
      if (!loaded.value_or(false)) return {};  // what it fails with is met again
    }
    const Survey& seen = identified_ ? survey_ : edits;
    if (seen.base.documents.size() + seen.local.created.size() > max_expected_documents) return {};
    LocalTree local = seen.local;
    WS_TRY(hold_refused(session_, seen.base, {}, local));
    Plan plan = reconcile(seen.base, local, {}, {.half = options_.half});
    std::erase_if(plan.actions, [](const Action& action) { return !is_push(action.kind); });
    if (plan.guard || plan.actions.empty()) return {};
    std::vector<PushItem> items;
    for (const Action& action : plan.actions) items.push_back(push_item_of(action));
    PushItems by_path;
    for (std::size_t i = 0; i < items.size(); ++i) by_path.emplace(plan.actions[i].path.text(), &items[i]);
    note_sizes(survey_.scan, by_path);
    session_.remote->expect_plan(session_.binding.source_id, survey_.revision, session_.binding.client_id, items);
    return {};
  }

  /// The pull brought nothing to compare with the base.
  bool is_quiet_there() const { return !incoming_.any && !incoming_.end.complete && !rewound_ && !is_foreign(); }

  /// The fast path where only local texts changed. False: the whole base is needed.
  Result<bool> plan_edits() {
    if (cache_match_ == CacheMatch::all) {
      survey_.plan.skipped = survey_.local.skipped = survey_.scan.skipped();
      survey_.plan.skipped.insert(
          survey_.plan.skipped.end(), survey_.remote.refused.begin(), survey_.remote.refused.end());
      std::sort(survey_.plan.skipped.begin(), survey_.plan.skipped.end());
      if (survey_.agreed) WS_TRY(leave_cache(CacheExtent::at_all));
      return true;
    }
    WS_LET(const bool known, load_edits(session_, survey_));
    if (!known) return false;
    WS_TRY(make_plan());
    // Texts became empty: the guard counts them against the whole tree, so the whole tree is needed.
    if (survey_.plan.guard || survey_.plan.held) {
      survey_.plan = {};
      held_.clear();
      return false;
    }
    WS_TRY(leave_cache(CacheExtent::at_edits));
    return true;
  }

  Result<void> load() {
    WS_LET(survey_.base_rows, session_.state.base());
    WS_LET(survey_.pending, session_.state.pending());
    WS_LET(survey_.known_conflicts, session_.state.conflicts());
    rewound_ = rewound_ || std::ranges::any_of(survey_.known_conflicts, [](const Conflict& each) {
                 return each.which == ConflictCase::service_went_back;
               });
    build_base();
    return {};
  }

  void build_base() {
    survey_.base = {};
    for (const auto& [document, row] : survey_.base_rows) {
      survey_.base.documents.emplace_hint(survey_.base.documents.end(), document, row.entry);
      if (row.displaced_to) survey_.base.displaced_to.emplace(document, *row.displaced_to);
      if (row.left_out) survey_.base.left_out.insert(document);
    }
  }

  Result<void> take_over() {
    const std::size_t open = survey_.known_conflicts.size();
    WS_TRY(take_over_resolutions(session_, survey_, mode_));
    if (survey_.known_conflicts.size() == open) return {};
    build_base();
    identify_files();
    return {};
  }

  /// A document that follows its displaced file counts as renamed here.
  void release_places() {
    for (const auto& [document, row] : survey_.base_rows) {
      if (row.document_follows_file) survey_.base.displaced_to.erase(document);
    }
  }

  Result<void> load_and_identify() {
    if (identified_) return {};
    identified_ = true;
    WS_TRY(load());
    identify_files();
    // A missing file may be ignored now, also where one of its name in another case lies here: the rules decide.
    const auto may_be_ignored = [this] {
      return survey_.local.tracked.size() < survey_.base.documents.size() || has_name_in_other_case(survey_);
    };
    if (!survey_.scan.rules_loaded() && may_be_ignored()) {
      WS_LET(survey_.scan, walk_tree(session_, true));
      identify_files();
    }
    return {};
  }

  void identify_files() {
    const Scan& scan = survey_.scan;
    // A file kind that is no longer included hides a file like an ignore rule.
    const auto ignored = [&](const RelativePath& path) {
      return !session_.kinds.takes(path.text()) || (scan.rules_loaded() && scan.is_ignored(path));
    };
    const auto hidden = [&] { return scan.hidden(session_.root); };
    const auto elsewhere = [&](const RelativePath& path) { return is_kept_elsewhere(session_.root, path.text()); };
    std::optional<BaseTree> in_sight;
    if (!session_.config.left_out.empty()) in_sight = without_left_out(session_, survey_.base);
    survey_.local = identify(in_sight ? *in_sight : survey_.base,
                             scan.found(),
                             {.ignored = ignored,
                              .elsewhere = elsewhere,
                              .renames = evidence(),
                              .hidden = hidden,
                              .busy = options_.busy,
                              .made = [this](const RelativePath& path) { return options_.made.contains(path); }});
    hide_out_of_sight(session_, survey_);
    take_absent();
    take_edits();
  }

  void take_absent() {
    if (survey_.absent.empty()) return;
    LocalTree& local = survey_.local;
    std::erase_if(local.tracked, [&](const auto& file) { return survey_.absent.contains(file.second.path); });
    std::erase_if(local.created, [&](const auto& file) { return survey_.absent.contains(file.first); });
  }

  void take_edits() {
    if (survey_.edits.empty()) return;
    for (auto& [document, entry] : survey_.local.tracked) {
      const auto edit = survey_.edits.find(entry.path);
      if (edit != survey_.edits.end()) entry.hash = Sha256::of(edit->second);
    }
    for (auto& [path, hash] : survey_.local.created) {
      const auto edit = survey_.edits.find(path);
      if (edit != survey_.edits.end()) hash = Sha256::of(edit->second);
    }
  }

  /// A text that is not available, or not the expected one, matches nothing.
  RenameEvidence evidence() {
    const auto files = [this] { return session_.state.files().value_or(std::map<DocumentId, FileId>()); };
    const auto written = [this] { return session_.state.written().value_or(std::map<DocumentId, WrittenFile>()); };
    const auto base_text = [this](const DocumentId& document) -> std::optional<std::string> {
      auto text = session_.history.text(survey_.base_rows.at(document).blob);
      return text ? std::optional(std::move(*text)) : std::nullopt;
    };
    const auto file_text = [this](const RelativePath& path) -> std::optional<std::string> {
      const auto writer = SafeWriter::open(session_.root);
      auto text = writer ? writer->read(path) : fail(Failure(writer.error()));
      return text ? std::optional(std::move(*text)) : std::nullopt;
    };
    return {.files = files, .written = written, .base_text = base_text, .file_text = file_text};
  }

  bool changed_here(const DocumentId& document) const {
    const auto base = survey_.base.documents.find(document);
    const auto here = survey_.local.tracked.find(document);
    return base != survey_.base.documents.end() && here != survey_.local.tracked.end() &&
           here->second.hash != base->second.hash;
  }

  Result<void> ask_service() {
    if (session_.remote == nullptr)
      return fail(Failure::Kind::usage, "this cannot be done without the service", "run `ws login`, or give --offline");
    std::size_t arrived = 0;
    const auto arrives = [&](const DocumentId& document, const Entry& entry, std::string text) {
      if (++arrived > jobs_worth_a_thread) stage_ahead(document, entry, std::move(text));
    };
    // Where it went back and is ahead again by now, all of it tells whether that was a wrong answer.
    IncomingOptions options{.since_revision = rewound_ ? SourceRevision{} : survey_.revision_before,
                            .keep_texts = mode_ == PullMode::store,
                            .arrives = arrives,
                            .wants_text = [this](const DocumentId& document) { return changed_here(document); },
                            .before_first = [this] { return load_and_identify(); }};
    WS_LET(incoming_, pull_incoming(session_, survey_.base_rows, survey_.pending, options));
    if (survey_.ahead) survey_.ahead->close();
    if (options.since_revision != SourceRevision{} && shows_another_past()) {
      options.since_revision = {};
      options.arrives = {};
      WS_LET(incoming_, pull_incoming(session_, survey_.base_rows, survey_.pending, options));
    }
    if (is_foreign()) return {};
    const SourceRevision now = incoming_.end.revision.value_or(survey_.revision_before);
    // The service was restored from a backup or emptied: nothing of it is applied until the user decides.
    rewound_ = now < survey_.revision_before || (rewound_ && !has_all_of_base());
    if (rewound_) return {};
    survey_.revision = now;
    survey_.same_revision = std::move(incoming_.same_revision);
    survey_.list_parts = std::move(incoming_.parts);
    survey_.unstored.paths_before = std::exchange(invalid_paths_, invalid_paths_after(invalid_paths_, incoming_));
    leave_out_damaged(incoming_, survey_);
    if (mode_ == PullMode::store) WS_TRY(write_incoming(session_, incoming_, survey_));
    choose_pending();
    return {};
  }

  /// Whether a document has a revision of the base with another text, or one before it: the service went back, and was
  /// written to until it passed the revision that this side knew. Then what did not come may differ as well.
  bool shows_another_past() const {
    return !incoming_.same_revision.empty() || std::ranges::any_of(incoming_.rows, [this](const auto& came) {
      const auto known = survey_.base_rows.find(came.first);
      return known != survey_.base_rows.end() && came.second.revision.is_known() &&
             came.second.revision < known->second.entry.revision;
    });
  }

  /// Whether nothing that both sides agreed on is missing on the service, or older there. Of what was written past the
  /// state that it went back to, a revision alone tells nothing.
  bool has_all_of_base() const {
    if (!incoming_.end.complete || !incoming_.same_revision.empty()) return false;
    return std::ranges::all_of(survey_.base_rows, [this](const auto& known) {
      const auto there = incoming_.rows.find(known.first);
      if (there == incoming_.rows.end()) return incoming_.listed.contains(known.first);
      const DocumentRevision& revision = there->second.entry ? there->second.entry->revision : there->second.revision;
      return !revision.is_known() || !(revision < known.second.entry.revision);
    });
  }

  /// Only if it is likely to become a file. After a failure it is written later, as any other.
  void stage_ahead(const DocumentId& document, const Entry& entry, std::string text) {
    if (survey_.local.created.contains(entry.path)) return;
    if (!survey_.ahead) {
      auto opened = StagedAhead::open(session_.root);
      if (!opened) return;
      survey_.ahead = std::move(*opened);
    }
    survey_.ahead->add(document, entry.hash, std::move(text));
  }

  /// Another source: nothing of it is applied unless the user confirms.
  bool is_foreign() const { return incoming_.foreign && !options_.allow_deletes; }

  /// A complete listing without any document.
  bool is_empty_listing() const { return incoming_.end.complete && !incoming_.any && !survey_.base.documents.empty(); }

  bool is_as_base(const DocumentId& document, const PendingRow& row) const {
    const auto base = survey_.base_rows.find(document);
    if (!row.entry) return base == survey_.base_rows.end();
    return base != survey_.base_rows.end() && base->second.entry == *row.entry;
  }

  /// Selects the pulled rows to store, before `build_remote` merges them with the pending ones.
  void choose_pending() {
    for (const auto& [document, row] : incoming_.rows) {
      const auto known = survey_.pending.find(document);
      const bool is_known = known != survey_.pending.end();
      if (!is_as_base(document, row)) {
        if (!is_known || known->second != row) survey_.unstored.pending.push_back(document);
      } else if (is_known) {
        survey_.unstored.dropped.push_back(document);
      }
    }
  }

  void build_remote() {
    for (auto& [document, row] : incoming_.rows) survey_.pending.insert_or_assign(document, std::move(row));
    incoming_.rows.clear();
    for (const auto& [document, row] : survey_.pending) {
      if (is_as_base(document, row)) continue;
      if (row.entry) {
        survey_.remote.changed.emplace(document, *row.entry);
      } else {
        survey_.remote.gone.emplace(document, row.revision);
      }
    }
    std::set<DocumentId> absent(incoming_.out_of_reach.begin(), incoming_.out_of_reach.end());
    std::erase_if(absent, [&](const DocumentId& document) { return !survey_.base.documents.contains(document); });
    if (incoming_.end.complete) {
      for (const auto& [document, entry] : survey_.base.documents) {
        if (!incoming_.listed.contains(document) && !survey_.remote.gone.contains(document)) absent.insert(document);
      }
    }
    survey_.remote.absent.assign(absent.begin(), absent.end());
  }

  /// A pulled document whose path is ignored here is reported, not written.
  Result<void> refuse_ignored() {
    std::vector<DocumentId> arriving;
    for (const auto& [document, entry] : survey_.remote.changed) {
      const auto base = survey_.base.documents.find(document);
      if (base == survey_.base.documents.end() || base->second.path != entry.path) arriving.push_back(document);
    }
    if (arriving.empty()) return {};
    if (!survey_.scan.rules_loaded()) {
      WS_LET(survey_.scan, walk_tree(session_, true));
      identify_files();
    }
    for (const DocumentId& document : arriving) {
      const RelativePath& path = survey_.remote.changed.at(document).path;
      const bool is_out = session_.config.left_out.takes(document, path);
      std::optional<SkipReason> why = why_out_of_sight(session_, survey_.scan, path);
      if (is_out) why = SkipReason::left_out;
      if (!why && !session_.kinds.takes(path.text())) why = SkipReason::ignored;
      if (!why) continue;
      if (!is_out) survey_.remote.refused.push_back({.path = path.string(), .reason = *why});
      survey_.remote.changed.erase(document);
      // A known document moved to an ignored path: it is detached on both sides and not pushed.
      if (!survey_.base.documents.contains(document)) continue;
      survey_.local.unsyncable.emplace(document, is_out ? *why : SkipReason::ignored);
      survey_.remote.moved_out.insert(document);
    }
    return {};
  }

  /// Plans until there are no new obstacles and every merge of the plan succeeds. An overlapping merge becomes a
  /// conflict, which may hold back other files.
  Result<void> plan_and_merge() {
    ReconcileOptions how{.merge = options_.merge,
                         .accept_deletes = options_.accept_deletes,
                         .allow_deletes = options_.allow_deletes,
                         .half = options_.half};
    while (true) {
      survey_.plan = reconcile(survey_.base, survey_.local, survey_.remote, how);
      if (find_obstacles(session_, survey_)) continue;
      WS_LET(std::set<DocumentId> colliding, try_merges(session_, survey_, incoming_.texts, options_.offline));
      if (colliding.empty()) return {};
      how.colliding.merge(colliding);
    }
  }

  Result<void> make_plan() {
    WS_TRY(refuse_ignored());
    show_moved_out(session_, survey_);
    WS_TRY(hold_refused(session_, survey_.base, survey_.remote, survey_.local));
    note_out_of_sight(survey_, mode_, options_.keep_archived);
    hold_unavailable(survey_, survey_.local);
    release_places();
    WS_TRY(plan_and_merge());
    hush_left_out(survey_);
    if (is_empty_listing() && !options_.allow_deletes) {
      if (!survey_.plan.guard) survey_.plan.guard = guard_of_absent(survey_);
      survey_.plan.guard->empty_listing = true;
    }
    if (options_.only) narrow(options_.only);
    if (options_.hold_deletes) hold_deletes();
    std::multimap<DocumentId, const Conflict*> known_by_document;
    for (const Conflict& known : survey_.known_conflicts) known_by_document.emplace(known.document, &known);
    for (Conflict& conflict : survey_.plan.conflicts) {
      if (conflict.document.empty()) continue;
      const auto [first, last] = known_by_document.equal_range(conflict.document);
      for (auto known = first; known != last; ++known) {
        const bool is_here_only = known->second->is_here_only();
        if (is_here_only && known->second->path != conflict.path) continue;
        conflict.id = known->second->id;
        conflict.record = is_here_only ? ConflictRecord::here : ConflictRecord::service;
      }
    }
    return {};
  }

  /// Actions filtered out by --only do not trip the delete guard.
  void narrow(const WantedPath& wanted) {
    Plan& plan = survey_.plan;
    const auto too = options_.makes_room ? with_those_in_the_way(plan, options_.only_too) : options_.only_too;
    narrow_plan(plan, survey_.base, survey_.remote, wanted, too);
    count_again(wanted);
  }

  /// Holds back the deletes and the texts that would become empty, with everything that depends on them.
  void hold_deletes() {
    Plan& plan = survey_.plan;
    if (!plan.guard || plan.guard->empty_listing) return;
    plan.held = std::exchange(plan.guard, std::nullopt);
    std::set<RelativePath> lost;
    for (const Action& action : plan.actions) {
      if (!loses_text(action)) continue;
      lost.insert(action.path);
      held_.insert(action.document);
    }
    narrow_plan(plan, survey_.base, survey_.remote, [&](const RelativePath& path) { return !lost.contains(path); });
    plan.partial = true;
  }

  void count_again(const WantedPath& wanted) {
    Plan& plan = survey_.plan;
    if (!plan.guard || plan.guard->empty_listing) return;
    const std::size_t absent = count_absent(survey_.base, survey_.remote, wanted);
    plan.guard = guard_of(plan, count_in_sight(survey_.base), absent, options_.half);
  }

  Session& session_;
  const RunOptions& options_;
  PullMode mode_;
  Survey survey_;
  Incoming incoming_;
  InvalidPaths invalid_paths_;
  std::set<DocumentId> held_;  ///< whose deletes the guard held back
  std::uint64_t generation_ = 0;
  CacheMatch cache_match_ = CacheMatch::no;  ///< by the cache's account
  bool identified_ = false;
  bool rewound_ = false;
};

/// Stored durably before the source revision moves past them.
Result<void> store_list_parts(Session& session, const std::vector<PulledPart>& parts) {
  if (parts.empty()) return {};
  AttachmentStore store = session.attachments();
  WS_LET(KnownList list, load_list(store));
  for (const PulledPart& part : parts) take_part(list, part);
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(store_parts(store, list));
  return transaction.commit();
}

}  // namespace

Result<void> store_survey(Session& session, const Survey& survey) {
  const Unstored& unstored = survey.unstored;
  if (survey.plan.guard || (!unstored.any && unstored.marked.empty() && unstored.renamed.empty())) return {};
  if (unstored.any) WS_TRY(store_list_parts(session, survey.list_parts));
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const DocumentId& document : unstored.marked)
    WS_TRY(session.state.set_left_out(document, survey.base_rows.at(document).left_out));
  for (const Conflict& conflict : unstored.renamed) WS_TRY(session.state.put_conflict(conflict));
  if (!unstored.any) return transaction.commit();
  for (const DocumentId& document : unstored.pending)
    WS_TRY(session.state.put_pending(document, survey.pending.at(document)));
  for (const DocumentId& document : unstored.dropped) WS_TRY(session.state.drop_pending(document));
  WS_TRY(store_invalid_paths(session.state, unstored.paths_before, unstored.paths));
  if (unstored.moves_revision) WS_TRY(session.state.set_source_revision(survey.revision));
  return transaction.commit();
}

Result<Survey> survey(Session& session, const RunOptions& options, PullMode mode, TextEdits edits) {
  return Surveyor(session, options, mode, std::move(edits)).survey();
}

void note_sizes(const Scan& scan, const PushItems& items) {
  scan.each_file([&](const std::string& path, const CachedEntry& file) {
    const auto found = items.find(path);
    if (found == items.end() || !found->second->hash || found->second->kind == ActionKind::push_move) return;
    found->second->size_bytes = file.stamp.size_bytes;
  });
}

void refresh_cache(Session& session) {
  // An offline survey walks, compares and saves the cache.
  const RunOptions options{.merge = false, .offline = true};
  static_cast<void>(Surveyor(session, options, PullMode::record).survey());
}

}  // namespace ws::sync
