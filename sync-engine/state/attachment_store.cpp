#include "sync-engine/state/attachment_store.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/json.hpp"
#include "sync-engine/state/columns.hpp"

namespace ws::sync {
namespace {

constexpr std::int64_t attachment_format = 1;

constexpr const char* attachment_settings =
    "pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = normal";

constexpr const char* attachment_schema = R"(
  create table base (path text primary key, bytes integer not null, hash blob not null, media text not null,
                     asset text not null) without rowid;
  create table parts (document text primary key, path text not null, revision integer not null, hash blob not null,
                     gone integer not null, due integer not null, rows text not null) without rowid;
  create table assets (hash blob primary key, bytes integer not null, media text not null, asset text not null)
                     without rowid;
  create table uploads (hash blob primary key, upload text not null, blob text not null) without rowid;
  create table conflicts (path text primary key, value text not null) without rowid;
  create table wanted (path text primary key) without rowid;
  create table notes (key text primary key, value text not null) without rowid;
  create table moments (place integer primary key, seconds integer not null, path text not null, how text not null,
                     bytes integer, hash blob, media text, asset text);
  create index moments_by_path on moments (path, place);
  pragma user_version = 1;
)";

void bind_attachment(sqlite::Statement& statement, int first, const Attachment& file) {
  statement.bind(first, static_cast<std::int64_t>(file.size_bytes));
  statement.bind_blob(first + 1, bytes_of(file.hash));
  statement.bind(first + 2, file.media_type);
  statement.bind(first + 3, file.asset);
}

Attachment attachment_at(const sqlite::Statement& row, int first) {
  return {.size_bytes = static_cast<std::uint64_t>(row.integer(first)),
          .hash = hash_of(row.blob(first + 1)),
          .media_type = row.string(first + 2),
          .asset = row.string(first + 3)};
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
  return open;
}

}  // namespace

Result<AttachmentStore> AttachmentStore::open(const std::filesystem::path& file) {
  WS_LET(sqlite::Database database, sqlite::Database::open(file.string(), sqlite::OpenMode::in_place));
  WS_TRY(database.execute(attachment_settings));
  std::int64_t found = 0;
  {
    WS_LET(sqlite::Statement version, database.prepare("pragma user_version"));
    WS_TRY(version.step());
    found = version.integer(0);
  }
  if (found > attachment_format) {
    Failure newer{
        .kind = Failure::Kind::disk,
        .what = fmt::format("{} has format {}, this version knows {}", shown_path(file), found, attachment_format),
        .hint = "use the version of ws that wrote it"};
    newer.code = "newer_format";
    return fail(std::move(newer));
  }
  if (found == 0) {
    WS_LET(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
    WS_TRY(database.execute(attachment_schema));
    WS_TRY(transaction.commit());
  }
  return AttachmentStore(std::move(database));
}

Result<void> AttachmentStore::flush() { return database_.execute("pragma wal_checkpoint(passive)"); }

Result<AttachmentTree> AttachmentStore::base() {
  WS_LET(const sqlite::CachedStatement all,
         database_.cached("select path, bytes, hash, media, asset from base order by path"));
  AttachmentTree tree;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return tree;
    WS_LET(RelativePath path, RelativePath::parse(all->text(0)));
    tree.emplace_hint(tree.end(), std::move(path), attachment_at(*all, 1));
  }
}

Result<void> AttachmentStore::put_base(const RelativePath& path, const Attachment& file) {
  WS_LET(const sqlite::CachedStatement put, database_.cached("insert or replace into base values (?, ?, ?, ?, ?)"));
  put->bind(1, path.text());
  bind_attachment(*put, 2, file);
  return put->run();
}

Result<void> AttachmentStore::forget_base(const RelativePath& path) {
  WS_LET(const sqlite::CachedStatement drop, database_.cached("delete from base where path = ?"));
  drop->bind(1, path.text());
  return drop->run();
}

Result<std::map<DocumentId, StoredPart>> AttachmentStore::parts() {
  WS_LET(const sqlite::CachedStatement all,
         database_.cached("select document, path, revision, hash, gone, due, rows from parts"));
  std::map<DocumentId, StoredPart> parts;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return parts;
    parts.emplace(DocumentId{all->string(0)},
                  StoredPart{.path = all->string(1),
                             .revision = {static_cast<std::uint64_t>(all->integer(2))},
                             .hash = hash_of(all->blob(3)),
                             .is_gone = all->integer(4) != 0,
                             .is_due = all->integer(5) != 0,
                             .rows = all->string(6)});
  }
}

Result<void> AttachmentStore::put_part(const DocumentId& document, const StoredPart& part) {
  WS_LET(const sqlite::CachedStatement put,
         database_.cached("insert or replace into parts values (?, ?, ?, ?, ?, ?, ?)"));
  put->bind(1, document.text);
  put->bind(2, part.path);
  put->bind(3, static_cast<std::int64_t>(part.revision.number));
  put->bind_blob(4, bytes_of(part.hash));
  put->bind(5, part.is_gone);
  put->bind(6, part.is_due);
  put->bind(7, part.rows);
  return put->run();
}

Result<void> AttachmentStore::drop_part(const DocumentId& document) {
  WS_LET(const sqlite::CachedStatement drop, database_.cached("delete from parts where document = ?"));
  drop->bind(1, document.text);
  return drop->run();
}

Result<std::optional<Attachment>> AttachmentStore::find_asset(const Sha256& hash) {
  WS_LET(const sqlite::CachedStatement find,
         database_.cached("select bytes, hash, media, asset from assets where hash = ?"));
  find->bind_blob(1, bytes_of(hash));
  WS_LET(const bool found, find->step());
  return found ? std::optional(attachment_at(*find, 0)) : std::nullopt;
}

Result<void> AttachmentStore::put_asset(const Attachment& asset) {
  WS_LET(const sqlite::CachedStatement put,
         database_.cached("insert or replace into assets (bytes, hash, media, asset) values (?, ?, ?, ?)"));
  bind_attachment(*put, 1, asset);
  return put->run();
}

Result<std::optional<UploadInDoubt>> AttachmentStore::find_upload(const Sha256& hash) {
  WS_LET(const sqlite::CachedStatement find, database_.cached("select upload, blob from uploads where hash = ?"));
  find->bind_blob(1, bytes_of(hash));
  WS_LET(const bool found, find->step());
  if (!found) return std::optional<UploadInDoubt>{};
  return std::optional(UploadInDoubt{.upload_id = find->string(0), .blob_name = find->string(1)});
}

Result<void> AttachmentStore::put_upload(const Sha256& hash, const UploadInDoubt& upload) {
  WS_LET(const sqlite::CachedStatement put, database_.cached("insert or replace into uploads values (?, ?, ?)"));
  put->bind_blob(1, bytes_of(hash));
  put->bind(2, upload.upload_id);
  put->bind(3, upload.blob_name);
  return put->run();
}

Result<void> AttachmentStore::drop_upload(const Sha256& hash) {
  WS_LET(const sqlite::CachedStatement drop, database_.cached("delete from uploads where hash = ?"));
  drop->bind_blob(1, bytes_of(hash));
  return drop->run();
}

Result<std::vector<Sha256>> AttachmentStore::uploads() {
  WS_LET(const sqlite::CachedStatement all, database_.cached("select hash from uploads"));
  std::vector<Sha256> hashes;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return hashes;
    hashes.push_back(hash_of(all->blob(0)));
  }
}

Result<std::map<RelativePath, OpenAttachment>> AttachmentStore::conflicts() {
  WS_LET(const sqlite::CachedStatement all, database_.cached("select path, value from conflicts"));
  std::map<RelativePath, OpenAttachment> conflicts;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return conflicts;
    WS_LET(RelativePath path, RelativePath::parse(all->text(0)));
    WS_LET(OpenAttachment open, decode_open(all->text(1)));
    conflicts.emplace(std::move(path), std::move(open));
  }
}

Result<void> AttachmentStore::put_conflict(const RelativePath& path, const OpenAttachment& conflict) {
  const Json value{{"id", conflict.id},
                   {"base", attachment_to_json(conflict.base)},
                   {"local", attachment_to_json(conflict.local)},
                   {"remote", attachment_to_json(conflict.remote)},
                   {"beside", conflict.beside ? Json(conflict.beside->string()) : Json()},
                   {"seconds", conflict.seconds}};
  WS_LET(const sqlite::CachedStatement put, database_.cached("insert or replace into conflicts values (?, ?)"));
  put->bind(1, path.text());
  put->bind(2, dump(value));
  return put->run();
}

Result<void> AttachmentStore::drop_conflict(const RelativePath& path) {
  WS_LET(const sqlite::CachedStatement drop, database_.cached("delete from conflicts where path = ?"));
  drop->bind(1, path.text());
  return drop->run();
}

Result<std::set<RelativePath>> AttachmentStore::wanted() {
  WS_LET(const sqlite::CachedStatement all, database_.cached("select path from wanted"));
  std::set<RelativePath> paths;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return paths;
    WS_LET(RelativePath path, RelativePath::parse(all->text(0)));
    paths.insert(std::move(path));
  }
}

Result<void> AttachmentStore::put_wanted(const RelativePath& path) {
  WS_LET(const sqlite::CachedStatement put, database_.cached("insert or replace into wanted values (?)"));
  put->bind(1, path.text());
  return put->run();
}

Result<std::string> AttachmentStore::note(const std::string& key) {
  WS_LET(const sqlite::CachedStatement find, database_.cached("select value from notes where key = ?"));
  find->bind(1, key);
  WS_LET(const bool found, find->step());
  return found ? find->string(0) : std::string();
}

Result<void> AttachmentStore::set_note(const std::string& key, const std::string& value) {
  WS_LET(const std::string known, note(key));
  if (known == value) return {};
  WS_LET(const sqlite::CachedStatement put,
         value.empty() ? database_.cached("delete from notes where key = ?")
                       : database_.cached("insert or replace into notes values (?, ?)"));
  put->bind(1, key);
  if (!value.empty()) put->bind(2, value);
  return put->run();
}

Result<void> AttachmentStore::add_version(const AttachmentVersion& version) {
  WS_LET(const sqlite::CachedStatement add,
         database_.cached("insert into moments (seconds, path, how, bytes, hash, media, asset) values (?, ?, ?, ?, ?, "
                          "?, ?)"));
  add->bind(1, version.seconds);
  add->bind(2, version.path.text());
  add->bind(3, version.how);
  if (version.file) {
    bind_attachment(*add, 4, *version.file);
  } else {
    for (int place = 4; place <= 7; ++place) add->bind(place, nullptr);
  }
  return add->run();
}

Result<std::vector<AttachmentVersion>> AttachmentStore::versions(const std::optional<RelativePath>& path) {
  WS_LET(const sqlite::CachedStatement all,
         database_.cached("select place, seconds, path, how, bytes, hash, media, asset from moments where ?1 is null "
                          "or path = ?1 order by place desc"));
  all->bind(1, path ? std::optional(path->string()) : std::nullopt);
  std::vector<AttachmentVersion> versions;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return versions;
    WS_LET(RelativePath where, RelativePath::parse(all->text(2)));
    AttachmentVersion version{.place = static_cast<std::uint64_t>(all->integer(0)),
                              .seconds = all->integer(1),
                              .path = std::move(where),
                              .how = all->string(3)};
    if (!all->is_null(5)) version.file = attachment_at(*all, 4);
    versions.push_back(std::move(version));
  }
}

Result<void> AttachmentStore::drop_version(std::uint64_t place) {
  WS_LET(const sqlite::CachedStatement drop, database_.cached("delete from moments where place = ?"));
  drop->bind(1, static_cast<std::int64_t>(place));
  return drop->run();
}

}  // namespace ws::sync
