#include "sync-engine/attachments/choose_attachments.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "sync-engine/tree/wildmatch.hpp"

namespace ws::sync {
namespace {

bool is_glob(std::string_view name) { return name.find_first_of("*?[") != std::string_view::npos; }

std::optional<SkipReason> reason_of(const AttachmentSurvey& found, const RelativePath& path) {
  const auto skipped = std::ranges::find(found.plan.skipped, path.text(), &Skipped::path);
  return skipped == found.plan.skipped.end() ? std::nullopt : std::optional(skipped->reason);
}

Failure no_such_file(const std::string& name) {
  return {.kind = Failure::Kind::not_found,
          .what = fmt::format("there is no file {} that could be synced", name),
          .hint =
              "notes, hidden and ignored files, and those that `attachments_exclude` names, are not attachments; `ws "
              "sync attachments` lists the files"};
}

/// The files that one word names.
Result<std::vector<RelativePath>> files_to_add(const AttachmentSurvey& found, const std::string& name) {
  std::vector<RelativePath> files;
  const std::string form = utf8::nfc(name);
  for (const RelativePath& file : found.files) {
    const bool is_one = file.text() == form || (is_glob(form) && wildmatch(form, file.text()));
    if (is_one) files.push_back(file);
  }
  if (files.empty()) return fail(no_such_file(name));
  return files;
}

/// The bytes that the decision is about: what waits on the service, else the file here.
Result<Sha256> bytes_to_decide(const AttachmentSurvey& found, const RelativePath& path, FileChoice choice) {
  const auto reason = reason_of(found, path);
  const auto there = found.sides.remote.find(path);
  const auto here = found.sides.local.find(path);
  const bool is_waiting = reason == SkipReason::held || reason == SkipReason::declined;
  if (is_waiting && there != found.sides.remote.end()) return there->second.hash;
  if (is_waiting && found.sides.base.contains(path)) {
    return fail(Failure{.kind = Failure::Kind::not_found,
                        .what = fmt::format("{} was renamed on the service, and its new name is held", path.text()),
                        .hint = "decide about the new name; `ws sync attachments` lists it"});
  }
  const bool is_here = reason == SkipReason::foreign || reason == SkipReason::declined;
  if (choice == FileChoice::refuse && is_here && here != found.sides.local.end()) return here->second.hash;
  const std::string_view what = choice == FileChoice::accept ? "held" : "held, and no text from the service shows it";
  return fail(Failure{.kind = Failure::Kind::not_found,
                      .what = fmt::format("{} is not {}", path.text(), what),
                      .hint = "`ws sync attachments` lists the files with their states"});
}

/// Where a note names it, the wish ends with the last link, as one that a link makes.
Result<void> add_file(AttachmentStore& store, const AttachmentSurvey& found, const RelativePath& path) {
  if (!found.shown.notes.contains(path)) WS_TRY(store.put_wanted(path));
  WS_TRY(store.wish_for(path));
  return store.drop_decisions(path);
}

}  // namespace

Result<std::vector<RelativePath>> choose_attachments(Session& session,
                                                     const AttachmentSurvey& found,
                                                     FileChoice choice,
                                                     const std::vector<std::string>& names) {
  std::vector<std::pair<RelativePath, Sha256>> chosen;
  for (const std::string& name : names) {
    if (choice == FileChoice::add) {
      WS_LET(std::vector<RelativePath> files, files_to_add(found, utf8::nfc(name)));
      for (RelativePath& file : files) chosen.emplace_back(std::move(file), Sha256());
      continue;
    }
    WS_LET(RelativePath path, RelativePath::parse(utf8::nfc(name)));
    WS_LET(const Sha256 hash, bytes_to_decide(found, path, choice));
    chosen.emplace_back(std::move(path), hash);
  }
  AttachmentStore store = session.attachments();
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  std::vector<RelativePath> paths;
  for (auto& [path, hash] : chosen) {
    WS_TRY(choice == FileChoice::add ? add_file(store, found, path)
                                     : store.put_decision(path, hash, choice == FileChoice::accept));
    paths.push_back(std::move(path));
  }
  WS_TRY(transaction.commit());
  return paths;
}

Result<void> carry_marks(Session& session, const links::Renames& renamed) {
  if (renamed.empty() || !session.knows_attachments()) return {};
  AttachmentStore store = session.attachments();
  WS_LET(const TargetMarks marks, store.marks());
  WS_LET(const std::set<RelativePath> wanted, store.wanted());
  WS_LET(const FileDecisions decisions, store.decisions());
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const auto& [from, to] : renamed) {
    const auto old_path = RelativePath::parse(utf8::nfc(from));
    const auto new_path = RelativePath::parse(utf8::nfc(to));
    if (!old_path || !new_path) continue;
    const auto mark = marks.find(old_path->string());
    if (mark != marks.end()) WS_TRY(store.put_mark(new_path->string(), mark->second));
    if (wanted.contains(*old_path)) WS_TRY(store.put_wanted(*new_path));
    for (const auto& [decided, is_accepted] : decisions) {
      if (decided.first == *old_path) WS_TRY(store.put_decision(*new_path, decided.second, is_accepted));
    }
  }
  return transaction.commit();
}

}  // namespace ws::sync
