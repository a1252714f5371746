#include "sync-engine/state/attachment_store.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "sync-engine/state/columns.hpp"

namespace ws::sync {
namespace {

Attachment attachment_at(const sqlite::Statement& row, int first) {
  return {.size_bytes = number_at(row, first),
          .hash = hash_of(row.blob(first + 1)),
          .media_type = row.string(first + 2),
          .asset = row.string(first + 3)};
}

Result<Attachment> read_asset(const sqlite::Statement& row) { return attachment_at(row, 0); }
Result<std::string> read_note(const sqlite::Statement& row) { return row.string(0); }
Result<Sha256> read_upload_hash(const sqlite::Statement& row) { return hash_of(row.blob(0)); }
Result<SentUpload> read_upload(const sqlite::Statement& row) {
  return SentUpload{.upload_id = row.string(0), .blob_name = row.string(1)};
}

Result<AttachmentVersion> read_attachment_version(const sqlite::Statement& row) {
  WS_LET(RelativePath path, RelativePath::parse(row.text(2)));
  AttachmentVersion version{
      .place = number_at(row, 0), .seconds = row.integer(1), .path = std::move(path), .how = row.string(3)};
  if (!row.is_null(5)) version.file = attachment_at(row, 4);
  return version;
}

Json attachment_to_json(const std::optional<Attachment>& file) {
  if (!file) return Json();
  return {{"bytes", file->size_bytes},
          {"sha256", file->hash.hex()},
          {"media_type", file->media_type},
          {"asset", file->asset}};
}

std::optional<Attachment> attachment_in(const Json& value, std::string_view key) {
  const Json* const file = find(value, key);
  if (file == nullptr || !file->is_object()) return std::nullopt;
  const auto hash = Sha256::from_hex(find_text(*file, "sha256").value_or(""));
  if (!hash) return std::nullopt;
  return Attachment{.size_bytes = static_cast<std::uint64_t>(find_integer(*file, "bytes").value_or(0)),
                    .hash = *hash,
                    .media_type = find_text(*file, "media_type").value_or(""),
                    .asset = find_text(*file, "asset").value_or("")};
}

Result<OpenAttachment> decode_open(std::string_view text) {
  WS_LET(const Json value, parse_bounded(text));
  OpenAttachment open{.id = find_text(value, "id").value_or(""),
                      .base = attachment_in(value, "base"),
                      .local = attachment_in(value, "local"),
                      .remote = attachment_in(value, "remote"),
                      .seconds = find_integer(value, "seconds").value_or(0)};
  if (const auto beside = find_text(value, "beside")) {
    WS_LET(open.beside, RelativePath::parse(*beside));
  }
  if (const auto from = find_text(value, "from")) {
    WS_LET(open.from, RelativePath::parse(*from));
  }
  if (const auto there = find_text(value, "there")) {
    WS_LET(open.there, RelativePath::parse(*there));
  }
  return open;
}

}  // namespace

template <class... Values>
Result<void> AttachmentStore::write(const char* sql, const Values&... values) {
  // What a power cut takes away is found again by comparing the two sides.
  return write_unflushed(*database_, [&] { return write_counted(sql, values...); });
}

template <class... Values>
Result<void> AttachmentStore::write_counted(const char* sql, const Values&... values) {
  WS_TRY(run_sql(*database_, sql, values...));
  if (database_->changes() == 0) return {};
  return run_sql(*database_,
                 "insert into numbers values ('file_changes', 1) on conflict do update set value = value + 1");
}

Result<std::uint64_t> AttachmentStore::changes() {
  WS_LET(const std::int64_t found, integer_of(*database_, "select value from numbers where key = 'file_changes'"));
  return static_cast<std::uint64_t>(found);
}

Result<AttachmentTree> AttachmentStore::base() {
  AttachmentTree tree;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    WS_LET(RelativePath path, RelativePath::parse(row.text(0)));
    tree.emplace_hint(tree.end(), std::move(path), attachment_at(row, 1));
    return {};
  };
  WS_TRY(each_row(*database_, "select path, bytes, hash, media, asset from base where kind = 1 order by path", add));
  return tree;
}

Result<void> AttachmentStore::put_base(const RelativePath& path, const Attachment& file) {
  return write(
      "insert into base (kind, path, bytes, hash, media, asset) values (1, ?, ?, ?, ?, ?) on conflict (path) where "
      "kind = 1 do update set bytes = excluded.bytes, hash = excluded.hash, media = excluded.media, "
      "asset = excluded.asset, left_out = 0",
      path,
      file);
}

Result<void> AttachmentStore::forget_base(const RelativePath& path) {
  return write("delete from base where kind = 1 and path = ?", path);
}

Result<std::map<RelativePath, FileId>> AttachmentStore::files() {
  std::map<RelativePath, FileId> files;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    WS_LET(RelativePath path, RelativePath::parse(row.text(0)));
    files.emplace_hint(files.end(),
                       std::move(path),
                       FileId{.inode = number_at(row, 1), .device = number_at(row, 2), .born_ns = row.integer(3)});
    return {};
  };
  WS_TRY(each_row(*database_,
                  "select path, inode, device, born from base where kind = 1 and inode is not null order by path",
                  add));
  return files;
}

Result<void> AttachmentStore::put_file(const RelativePath& path, const FileId& file) {
  return write("update base set inode = ?, device = ?, born = ? where kind = 1 and path = ?", file, path);
}

Result<void> AttachmentStore::put_written(const RelativePath& path,
                                          const std::optional<FileId>& before,
                                          const FileId& now) {
  if (before) {
    WS_TRY(write(
        "update base set inode = ?, device = ?, born = ? where kind = 1 and inode = ? and device = ? and born = ?",
        now,
        *before));
  }
  return put_file(path, now);
}

Result<std::map<Sha256, FailedTransfer>> AttachmentStore::failed() {
  std::map<Sha256, FailedTransfer> failed;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    failed.emplace(hash_of(row.blob(0)),
                   FailedTransfer{.asset = row.string(1),
                                  .times = number_at(row, 2),
                                  .until_seconds = row.integer(3),
                                  .failure = {.kind = static_cast<Failure::Kind>(row.integer(4)),
                                              .what = row.string(6),
                                              .hint = row.string(7),
                                              .code = row.string(5)}});
    return {};
  };
  WS_TRY(each_row(*database_, "select hash, asset, times, until, kind, code, what, hint from failed", add));
  return failed;
}

Result<void> AttachmentStore::put_failed(const Sha256& hash, const FailedTransfer& failed) {
  return write("insert or replace into failed values (?, ?, ?, ?, ?, ?, ?, ?)",
               hash,
               failed.asset,
               failed.times,
               failed.until_seconds,
               failed.failure.kind,
               failed.failure.code,
               failed.failure.what,
               failed.failure.hint);
}

Result<void> AttachmentStore::drop_failed(const Sha256& hash) {
  return write("delete from failed where hash = ?", hash);
}

Result<std::set<RelativePath>> AttachmentStore::left_out() {
  return paths("select path from base where kind = 1 and left_out = 1");
}

Result<void> AttachmentStore::set_left_out(const RelativePath& path, bool left_out) {
  return write("update base set left_out = ? where kind = 1 and path = ?", left_out, path);
}

Result<std::map<DocumentId, StoredPart>> AttachmentStore::parts() {
  std::map<DocumentId, StoredPart> parts;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    parts.emplace(DocumentId(row.text(0)),
                  StoredPart{.path = row.string(1),
                             .revision = {number_at(row, 2)},
                             .hash = hash_of(row.blob(3)),
                             .is_gone = row.integer(4) != 0,
                             .is_due = row.integer(5) != 0,
                             .rows = row.string(6)});
    return {};
  };
  WS_TRY(each_row(*database_, "select document, path, revision, hash, gone, due, rows from list_parts", add));
  return parts;
}

Result<void> AttachmentStore::put_part(const DocumentId& document, const StoredPart& part) {
  return write("insert or replace into list_parts values (?, ?, ?, ?, ?, ?, ?)",
               document,
               part.path,
               part.revision,
               part.hash,
               part.is_gone,
               part.is_due,
               part.rows);
}

Result<void> AttachmentStore::drop_part(const DocumentId& document) {
  return write("delete from list_parts where document = ?", document);
}

Result<std::optional<Attachment>> AttachmentStore::find_asset(const Sha256& hash) {
  return find_row(*database_, "select bytes, hash, media, asset from assets where hash = ?", read_asset, hash);
}

Result<void> AttachmentStore::put_asset(const Attachment& asset) {
  return write("insert or replace into assets (bytes, hash, media, asset) values (?, ?, ?, ?)", asset);
}

Result<void> AttachmentStore::forget_assets() { return write("delete from assets"); }

Result<std::optional<SentUpload>> AttachmentStore::find_upload(const Sha256& hash) {
  return find_row(*database_, "select upload, blob from uploads where hash = ?", read_upload, hash);
}

Result<void> AttachmentStore::put_upload(const Sha256& hash, const SentUpload& upload) {
  return write("insert or replace into uploads values (?, ?, ?)", hash, upload.upload_id, upload.blob_name);
}

Result<void> AttachmentStore::drop_upload(const Sha256& hash) {
  return write("delete from uploads where hash = ?", hash);
}

Result<std::vector<Sha256>> AttachmentStore::uploads() {
  return all_rows(*database_, "select hash from uploads", read_upload_hash);
}

Result<std::map<RelativePath, OpenAttachment>> AttachmentStore::conflicts() { return decided_conflicts(0); }

Result<std::map<RelativePath, OpenAttachment>> AttachmentStore::decided_conflicts(std::uint64_t operation) {
  std::map<RelativePath, OpenAttachment> conflicts;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    WS_LET(RelativePath path, RelativePath::parse(row.text(0)));
    WS_LET(OpenAttachment open, decode_open(row.text(1)));
    conflicts.emplace(std::move(path), std::move(open));
    return {};
  };
  WS_TRY(each_row(*database_, "select path, value from file_conflicts where decided_by = ?", add, operation));
  return conflicts;
}

Result<void> AttachmentStore::put_conflict(const RelativePath& path, const OpenAttachment& conflict) {
  const Json value{{"id", conflict.id},
                   {"base", attachment_to_json(conflict.base)},
                   {"local", attachment_to_json(conflict.local)},
                   {"remote", attachment_to_json(conflict.remote)},
                   {"beside", conflict.beside ? Json(conflict.beside->string()) : Json()},
                   {"from", conflict.from ? Json(conflict.from->string()) : Json()},
                   {"there", conflict.there ? Json(conflict.there->string()) : Json()},
                   {"seconds", conflict.seconds}};
  return write("insert or replace into file_conflicts values (?, 0, ?)", path, dump(value));
}

Result<void> AttachmentStore::drop_conflict(const RelativePath& path) { return forget_decided(path, 0); }

Result<void> AttachmentStore::set_decided(const RelativePath& path, std::uint64_t from, std::uint64_t to) {
  return write("update or replace file_conflicts set decided_by = ? where path = ? and decided_by = ?", to, path, from);
}

Result<void> AttachmentStore::forget_decided(const RelativePath& path, std::uint64_t operation) {
  return write("delete from file_conflicts where path = ? and decided_by = ?", path, operation);
}

Result<std::set<RelativePath>> AttachmentStore::paths(const char* sql) {
  std::set<RelativePath> paths;
  WS_TRY(each_row(*database_, sql, [&](const sqlite::Statement& row) -> Result<void> {
    WS_LET(RelativePath path, RelativePath::parse(row.text(0)));
    paths.insert(std::move(path));
    return {};
  }));
  return paths;
}

Result<std::set<RelativePath>> AttachmentStore::wanted() { return paths("select path from wanted"); }

Result<void> AttachmentStore::put_wanted(const RelativePath& path) {
  return write("insert or replace into wanted values (?)", path);
}

Result<TargetMarks> AttachmentStore::marks() {
  TargetMarks marks;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    TargetMark mark{
        .is_foreign = row.integer(1) != 0, .note = row.string(2), .by = row.string(3), .is_told = row.integer(5) != 0};
    if (!row.is_null(4)) mark.hash = hash_of(row.blob(4));
    marks.emplace_hint(marks.end(), row.string(0), std::move(mark));
    return {};
  };
  WS_TRY(each_row(*database_, "select target, is_foreign, note, by, hash, told from marks order by target", add));
  return marks;
}

Result<void> AttachmentStore::put_mark(const std::string& target, const TargetMark& mark) {
  return write("insert or replace into marks values (?, ?, ?, ?, ?, ?)",
               target,
               mark.is_foreign,
               mark.note,
               mark.by,
               mark.hash,
               mark.is_told);
}

Result<void> AttachmentStore::drop_wish(const std::string& target) {
  return write("delete from marks where target = ? and is_foreign = 0", target);
}

Result<void> AttachmentStore::wish_for(const RelativePath& path) { return put_mark(path.string(), {}); }

Result<void> AttachmentStore::hold_again(const RelativePath& path) {
  WS_TRY(forget_base(path));
  WS_TRY(drop_decisions(path));
  WS_TRY(write("delete from wanted where path = ?", path));
  return write("update marks set is_foreign = 1 where target = ?", path);
}

Result<FileDecisions> AttachmentStore::decisions() {
  FileDecisions decisions;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    WS_LET(RelativePath path, RelativePath::parse(row.text(0)));
    decisions.emplace(std::pair(std::move(path), hash_of(row.blob(1))), row.integer(2) != 0);
    return {};
  };
  WS_TRY(each_row(*database_, "select path, hash, accepted from decisions", add));
  return decisions;
}

Result<void> AttachmentStore::put_decision(const RelativePath& path, const Sha256& hash, bool is_accepted) {
  return write("insert or replace into decisions values (?, ?, ?)", path, hash, is_accepted);
}

Result<void> AttachmentStore::drop_decisions(const RelativePath& path) {
  return write("delete from decisions where path = ?", path);
}

Result<std::string> AttachmentStore::note(const std::string& key) {
  WS_LET(std::optional<std::string> found,
         find_row(*database_, "select value from words where key = ?", read_note, key));
  return std::move(found).value_or("");
}

Result<void> AttachmentStore::set_note(const std::string& key, const std::string& value) {
  WS_LET(const std::string known, note(key));
  if (known == value) return {};
  return value.empty() ? write("delete from words where key = ?", key)
                       : write("insert or replace into words values (?, ?)", key, value);
}

Result<void> AttachmentStore::add_version(Time time,
                                          const RelativePath& path,
                                          const std::optional<Attachment>& file,
                                          std::string_view how) {
  return write("insert into moments (seconds, path, how, bytes, hash, media, asset) values (?, ?, ?, ?, ?, ?, ?)",
               std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count(),
               path,
               how,
               file);
}

Result<std::vector<AttachmentVersion>> AttachmentStore::versions(const std::optional<RelativePath>& path) {
  return all_rows(*database_,
                  "select place, seconds, path, how, bytes, hash, media, asset from moments where ?1 is null "
                  "or path = ?1 order by place desc",
                  read_attachment_version,
                  path);
}

Result<void> AttachmentStore::drop_version(std::uint64_t place) {
  return write("delete from moments where place = ?", place);
}

}  // namespace ws::sync
