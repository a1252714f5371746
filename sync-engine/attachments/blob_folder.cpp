#include "sync-engine/attachments/blob_folder.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sync-engine/manifest/known_list.hpp"
#include "sync-engine/remote/assets.hpp"

namespace ws::sync {
namespace {

class BytesCollector {
 public:
  BytesCollector(Session& session, AttachmentStore& store, const GcOptions& options, GcReport& report)
      : session_(session), store_(store), options_(options), report_(report) {}

  Result<void> collect() {
    WS_TRY(need_open_and_listed());
    WS_TRY(need_operations());
    WS_TRY(need_states());
    // A dry run makes no folder.
    if (!session_.ws.has(attachments_folder)) return options_.dry_run ? Result<void>() : forget_states();
    WS_LET(const SafeWriter writer, SafeWriter::open(session_.root, attachments_folder));
    WS_LET(const std::vector<StagingFile> files, writer.files());
    std::vector<std::string> to_drop;
    for (const StagingFile& file : files) {
      report_.bytes_before += file.size_bytes;
      const bool stays = file.modified >= options_.keep_from || is_needed(file.name);
      if (stays || options_.dry_run) report_.bytes_after += file.size_bytes;
      if (stays) {
        here_.insert(file.name);
      } else {
        to_drop.push_back(file.name);
      }
    }
    report_.files_dropped += to_drop.size();
    if (options_.dry_run) return {};
    // First the states: none names bytes that are gone.
    WS_TRY(forget_states());
    for (const std::string& name : to_drop) {
      WS_TRY(session_.check_cancelled());
      WS_TRY(writer.remove_leftover(name));
    }
    return {};
  }

 private:
  void need(const std::optional<Attachment>& file) {
    if (file) needed_.insert(file->hash.hex());
  }
  void need(const std::optional<Version>& version) {
    if (version) needed_.insert(version->hash.hex());
  }

  /// `name`: of bytes, or of an unfinished download of such, `.HASH.ws-part`.
  bool is_needed(const std::string& name) const {
    const std::size_t begin = name.starts_with('.') ? 1 : 0;
    return needed_.contains(name.substr(begin, name.find('.', begin) - begin));
  }

  Result<void> need_open_and_listed() {
    WS_LET(const auto open, store_.conflicts());
    for (const auto& [path, conflict] : open) {
      need(conflict.base);
      need(conflict.local);
      need(conflict.remote);
    }
    WS_LET(const std::vector<Sha256> uploads, store_.uploads());
    for (const Sha256& hash : uploads) needed_.insert(hash.hex());
    WS_LET(const AttachmentTree base, store_.base());
    WS_LET(const KnownList list, load_list(store_));
    for (const auto& [path, row] : base) on_service_.insert(row.hash.hex());
    for (const auto& [path, row] : list.rows()) {
      on_service_.insert(row.hash.hex());
      needed_.insert(row.hash.hex());
    }
    return {};
  }

  /// Those that the history's cleaning left, or would leave.
  Result<void> need_operations() {
    Operations operations = session_.state.operations();
    WS_LET(const std::vector<Operation> all, operations.list());
    WS_LET(const std::uint64_t first, operations.first_since(options_.keep_from));
    for (const Operation& operation : all) {
      if (operation.id < first && operation.stage == Operation::Stage::closed) continue;
      WS_LET(const std::vector<OperationRow> rows, operations.rows(operation.id));
      for (const OperationRow& row : rows) {
        need(row.before);
        need(row.after);
      }
      WS_LET(const std::vector<FileStep> steps, operations.undo_steps(operation.id));
      for (const FileStep& step : steps) {
        if (step.seen) needed_.insert(step.seen->hex());
        if (step.result) needed_.insert(step.result->hex());
      }
    }
    return {};
  }

  /// The newest state of a path that is older than the time wanted was in force when it began.
  Result<void> need_states() {
    WS_LET(versions_, store_.versions({}));
    std::set<RelativePath> in_force;
    for (const AttachmentVersion& version : versions_) {
      if (version.file && !version.file->asset.empty()) on_service_.insert(version.file->hash.hex());
      const bool is_young = Time(std::chrono::seconds(version.seconds)) >= options_.keep_from;
      if (is_young || in_force.insert(version.path).second) {
        need(version.file);
      } else {
        old_.insert(version.place);
      }
    }
    return {};
  }

  Result<void> forget_states() {
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const AttachmentVersion& version : versions_) {
      if (!old_.contains(version.place) || !version.file) continue;
      const std::string name = version.file->hash.hex();
      if (here_.contains(name) || on_service_.contains(name)) continue;
      WS_LET(const auto there, store_.find_asset(version.file->hash));
      if (!there) WS_TRY(store_.drop_version(version.place));
    }
    return transaction.commit();
  }

  Session& session_;
  AttachmentStore& store_;
  const GcOptions& options_;
  GcReport& report_;
  std::vector<AttachmentVersion> versions_;
  std::set<std::uint64_t> old_;       ///< places of states that nothing asks to keep
  std::set<std::string> needed_;      ///< hashes in hexadecimal digits, as in the next two
  std::set<std::string> here_;        ///< kept in `.ws/attachments`
  std::set<std::string> on_service_;  ///< an Asset is known to hold them
};

}  // namespace

Result<void> recover_blob_folder(AttachmentStore& store, SafeWriter& writer) {
  WS_LET(const std::vector<std::string> names, writer.leftovers());
  for (const std::string& name : names) {
    if (Sha256::from_hex(name)) continue;
    WS_LET(const Sha256 hash, writer.hash_leftover(name));
    WS_LET(const auto there, store.find_asset(hash));
    if (there) {
      WS_TRY(writer.remove_leftover(name));
    } else {
      WS_TRY(writer.rename_leftover(name, hash.hex()));
    }
  }
  return {};
}

Result<void> ensure_backup(Session& session,
                           SafeWriter& writer,
                           const RelativePath& disk,
                           const Sha256& hash,
                           const std::optional<Attachment>& known) {
  Assets* const assets = session.assets();
  if (known && known->hash == hash && assets != nullptr) {
    const auto there = assets->holds(*known);
    if (there && *there) return {};
    if (!there && there.error().kind == Failure::Kind::auth) return fail(Failure(there.error()));
  }
  return writer.keep_copy(disk, hash);
}

Result<void> collect_bytes(Session& session, const GcOptions& options, GcReport& report) {
  if (!session.knows_attachments()) return {};
  AttachmentStore store = session.attachments();
  return BytesCollector(session, store, options, report).collect();
}

}  // namespace ws::sync
