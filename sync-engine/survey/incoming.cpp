#include "sync-engine/survey/incoming.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "sync-engine/remote/answers.hpp"

namespace ws::sync {
namespace {

class Puller {
 public:
  Puller(Session& session,
         const std::map<DocumentId, BaseRow>& base,
         const std::map<DocumentId, PendingRow>& pending,
         const IncomingOptions& options)
      : session_(session), base_(base), pending_(pending), options_(options) {}

  Result<Incoming> pull() {
    WS_LET(incoming_.end,
           session_.remote->pull(session_.binding.source_id, options_.since_revision, [this](PulledItem item) {
             return take(std::move(item));
           }));
    WS_TRY(fetch_missing_texts());
    incoming_.foreign = !incoming_.end.source_id.empty() && incoming_.end.source_id != session_.binding.source_id;
    return std::move(incoming_);
  }

 private:
  /// What came without its text.
  struct UnavailableText {
    PulledItem item;
    RelativePath path;
  };

  /// The pending or base entry of a document, which fills in what the service leaves out.
  const Entry* last_known(const DocumentId& document) const {
    if (const auto row = pending_.find(document); row != pending_.end() && row->second.entry)
      return &*row->second.entry;
    if (const auto row = base_.find(document); row != base_.end()) return &row->second.entry;
    return nullptr;
  }

  Result<void> take(PulledItem item) {
    WS_TRY(session_.check_cancelled());
    if (!incoming_.any) WS_TRY(begin());
    session_.progress(Stage::pull, ++count_, 0);
    incoming_.any = true;
    if (item.document.empty()) {
      incoming_.without_id.insert(std::move(item.path));
      return {};
    }
    incoming_.invalid_paths.erase(item.document);
    incoming_.damaged.erase(item.document);
    // Only documents of the base can be missing from a listing.
    if (base_.contains(item.document)) incoming_.listed.insert(item.document);
    if (is_of_list(item)) return take_list(std::move(item));
    if (item.deleted) {
      incoming_.rows.insert_or_assign(item.document,
                                      PendingRow{.revision = item.revision, .author = std::move(item.author)});
      return {};
    }
    if (const Entry* known = last_known(item.document); !item.revision.is_known() && known != nullptr) {
      item.revision = known->revision;
      untold_.insert(item.document);
    }
    auto path = path_of(item);
    if (!path) return {};
    if (item.damage) {
      unavailable_.erase(item.document);
      leave_damaged(item.document, *path, std::move(*item.damage));
      return {};
    }
    if (!item.hash && item.content) item.hash = Sha256::of(*item.content);
    if (needs_text(item)) {
      // Fetched later: the response with this item is still being read.
      const DocumentId document = item.document;
      unavailable_.insert_or_assign(document, UnavailableText{.item = std::move(item), .path = *path});
      return {};
    }
    unavailable_.erase(item.document);
    return keep(item, *path);
  }

  /// Whether it is a part of the list of attachments: a known part, or a text of that format at a reserved path. Other
  /// documents at those paths are ordinary ones.
  bool is_of_list(const PulledItem& item) const {
    if (list_parts_.contains(item.document)) return true;
    if (!is_manifest_path(item.path) || base_.contains(item.document) || item.deleted) return false;
    return item.damage || !item.content || parse_manifest(*item.content);
  }

  Result<void> take_list(PulledItem item) {
    PulledPart part{.document = item.document, .path = std::move(item.path), .revision = item.revision};
    if (!item.deleted && !item.content) {
      const auto known = list_parts_.find(item.document);
      const bool is_same = item.hash && known != list_parts_.end() && known->second == *item.hash;
      if (is_same) return {};
      auto fetched =
          item.damage ? Result<PulledItem>(fail(std::move(*item.damage))) : session_.remote->content(item.document);
      if (!fetched && ends_everything(fetched.error())) return fail(std::move(fetched).error());
      if (!fetched || fetched->deleted || !fetched->content) {
        incoming_.out_of_reach.push_back(item.document);  // the next pull asks for it again
        return {};
      }
      part.text = std::move(fetched->content);
      if (!list_parts_.contains(item.document) && !parse_manifest(*part.text)) return keep_as_document(item, part);
    } else if (!item.deleted) {
      part.text = std::move(item.content);
    }
    incoming_.parts.push_back(std::move(part));
    return {};
  }

  Result<void> keep_as_document(PulledItem& item, PulledPart& part) {
    WS_LET(RelativePath path, RelativePath::parse(part.path));
    item.hash = Sha256::of(*part.text);
    item.content = std::move(part.text);
    return keep(item, path);
  }

  Result<void> keep(PulledItem& item, const RelativePath& path) {
    if (!item.hash) return {};
    PendingRow row{.entry = Entry{.path = path, .hash = *item.hash, .revision = item.revision},
                   .revision = item.revision,
                   .author = std::move(item.author)};
    const auto base = base_.find(item.document);
    const bool same_revision = base != base_.end() && base->second.entry.revision == item.revision &&
                               base->second.entry.hash != *item.hash && !untold_.contains(item.document);
    if (same_revision) incoming_.same_revision.push_back(base->second.disk_path());
    WS_TRY(keep_text(item, row));
    incoming_.rows.insert_or_assign(item.document, std::move(row));
    return {};
  }

  /// Leaves both sides as they are until its text can be read.
  void leave_damaged(const DocumentId& document, const RelativePath& path, Failure why) {
    incoming_.rows.erase(document);
    incoming_.damaged.insert_or_assign(document, Damaged{.path = path, .why = std::move(why)});
  }

  std::optional<RelativePath> path_of(const PulledItem& item) {
    const Entry* known = last_known(item.document);
    if (item.path.empty() && known != nullptr) return known->path;
    auto parsed = RelativePath::parse(item.path);
    // The path itself may be damaged: invalid bytes arrive as U+FFFD.
    const bool name_is_damaged = item.damage && item.path.find("\xEF\xBF\xBD") != std::string::npos;
    if (!parsed || name_is_damaged) {
      incoming_.rows.erase(item.document);
      unavailable_.erase(item.document);
      incoming_.invalid_paths.insert_or_assign(item.document, item.path);
      return std::nullopt;
    }
    // Keeps the Unicode form that the disk has.
    const auto base = base_.find(item.document);
    if (base != base_.end() && utf8::nfc(base->second.entry.path.text()) == utf8::nfc(parsed->text())) {
      return base->second.entry.path;
    }
    return in_disk_spelling(*parsed);
  }

  /// Reads the base when the first document arrives, not before.
  Result<void> begin() {
    if (options_.before_first) WS_TRY(options_.before_first());
    for (const auto& [document, row] : base_) note_spelling(row.disk_path());
    if (!session_.knows_attachments()) return {};
    AttachmentStore store = session_.attachments();
    WS_LET(const auto parts, store.parts());
    for (const auto& [document, part] : parts) list_parts_.emplace(document, part.hash);
    return {};
  }

  /// Folders whose names on disk are not in NFC, the service's form.
  void note_spelling(const RelativePath& path) {
    const std::string_view text = path.text();
    const bool is_plain =
        std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
    if (is_plain) return;
    for (std::size_t slash = text.find('/'); slash != std::string_view::npos; slash = text.find('/', slash + 1)) {
      const std::string_view folder = text.substr(0, slash);
      std::string key = utf8::nfc(folder);
      if (key != folder) folders_.emplace(std::move(key), folder);
    }
  }

  /// A new file goes into the existing folder, not into a second one that differs in Unicode form only.
  RelativePath in_disk_spelling(const RelativePath& path) const {
    if (folders_.empty()) return path;
    const std::string text = utf8::nfc(path.text());
    for (std::size_t slash = text.rfind('/'); slash != std::string::npos && slash > 0;
         slash = text.rfind('/', slash - 1)) {
      const auto known = folders_.find(text.substr(0, slash));
      if (known == folders_.end()) continue;
      auto spelt = RelativePath::parse(known->second + text.substr(slash));
      return spelt ? *spelt : path;
    }
    return path;
  }

  bool text_is_known(const PulledItem& item) const {
    if (!item.hash) return false;
    const auto base = base_.find(item.document);
    if (base != base_.end() && base->second.entry.hash == *item.hash) return true;
    const auto pending = pending_.find(item.document);
    return pending != pending_.end() && pending->second.entry && pending->second.entry->hash == *item.hash &&
           !pending->second.blob.empty();
  }

  bool needs_text(const PulledItem& item) const {
    const bool wanted = options_.keep_texts || (options_.wants_text && options_.wants_text(item.document));
    return !item.content && !text_is_known(item) && (!item.hash || wanted);
  }

  /// A service may send a pull without texts.
  Result<void> fetch_missing_texts() {
    std::vector<DocumentId> documents;
    for (const auto& [document, unavailable] : unavailable_) documents.push_back(document);
    if (documents.empty()) return {};
    return session_.remote->contents(documents, [this](const DocumentId& document, Result<PulledItem> fetched) {
      return take_fetched(unavailable_.at(document), std::move(fetched));
    });
  }

  Result<void> take_fetched(UnavailableText& unavailable, Result<PulledItem> fetched) {
    WS_TRY(session_.check_cancelled());
    PulledItem& item = unavailable.item;
    if (!fetched) {
      const Failure::Kind kind = fetched.error().kind;
      if (kind == Failure::Kind::integrity) {
        leave_damaged(item.document, unavailable.path, std::move(fetched).error());
        return {};
      }
      const bool of_this_one =
          kind == Failure::Kind::not_found || kind == Failure::Kind::forbidden || kind == Failure::Kind::service;
      if (!of_this_one) return fail(std::move(fetched).error());
      incoming_.out_of_reach.push_back(item.document);
      return {};
    }
    if (fetched->deleted) {
      const DocumentRevision revision = fetched->revision.is_known() ? fetched->revision : item.revision;
      incoming_.rows.insert_or_assign(item.document, PendingRow{.revision = revision});
      return {};
    }
    if (!fetched->content) {
      return fail(unusable(fmt::format("document {} without its text", item.document.text())));
    }
    item.hash = Sha256::of(*fetched->content);
    item.content = std::move(fetched->content);
    if (fetched->revision.is_known()) item.revision = fetched->revision;
    return keep(item, unavailable.path);
  }

  Result<void> keep_text(PulledItem& item, PendingRow& row) {
    const auto base = base_.find(item.document);
    if (base != base_.end() && base->second.entry.hash == row.entry->hash) {
      row.blob = base->second.blob;
      return {};
    }
    const auto pending = pending_.find(item.document);
    if (pending != pending_.end() && pending->second.entry && pending->second.entry->hash == row.entry->hash) {
      row.blob = pending->second.blob;
      if (!row.blob.empty()) return {};
    }
    if (!item.content) return {};
    if (options_.keep_texts) {
      WS_LET(row.blob, session_.history.keep(*item.content));
      if (base == base_.end() && options_.arrives) {
        options_.arrives(item.document, *row.entry, std::move(*item.content));
      }
    } else if (options_.wants_text && options_.wants_text(item.document)) {
      incoming_.texts.insert_or_assign(item.document, std::move(*item.content));
    }
    return {};
  }

  Session& session_;
  const std::map<DocumentId, BaseRow>& base_;
  const std::map<DocumentId, PendingRow>& pending_;
  const IncomingOptions& options_;
  Incoming incoming_;
  std::map<DocumentId, UnavailableText> unavailable_;
  std::set<DocumentId> untold_;                 ///< the service does not say their revision
  std::map<DocumentId, Sha256> list_parts_;     ///< of the list of attachments, as they were last heard
  std::map<std::string, std::string> folders_;  ///< as the disk spells them, by NFC
  std::uint64_t count_ = 0;
};

}  // namespace

Result<Incoming> pull_incoming(Session& session,
                               const std::map<DocumentId, BaseRow>& base,
                               const std::map<DocumentId, PendingRow>& pending,
                               const IncomingOptions& options) {
  return Puller(session, base, pending, options).pull();
}

namespace {

/// A file that was renamed here and has its old name there again: the base has it by that, and the rename is sent.
Result<void> put_back_renamed(AttachmentStore& store, const AttachmentTree& agreed, const AttachmentTree& there) {
  WS_LET(const auto files, store.files());
  std::map<Sha256, RelativePath> missing_there;
  for (const auto& [path, file] : agreed) {
    if (!there.contains(path)) missing_there.emplace(file.hash, path);
  }
  for (const auto& [path, file] : there) {
    const auto renamed = missing_there.find(file.hash);
    if (agreed.contains(path) || renamed == missing_there.end()) continue;
    const auto number = files.find(renamed->second);
    WS_TRY(store.put_base(path, file));
    if (number != files.end()) WS_TRY(store.put_file(path, number->second));
    missing_there.erase(renamed);
  }
  return {};
}

}  // namespace

Result<void> put_back_list(Session& session, const std::vector<PulledPart>& parts, Keep keep) {
  if (!session.knows_attachments()) return {};
  AttachmentStore store = session.attachments();
  WS_LET(KnownList list, load_list(store));
  for (const PulledPart& part : parts) put_back_part(list, part);
  WS_LET(const AttachmentTree agreed, store.base());
  const AttachmentTree there = list.rows();
  WS_LET(const std::set<RelativePath> left_out, store.left_out());
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(store.forget_assets());
  WS_TRY(store_parts(store, list));
  if (keep == Keep::local) WS_TRY(put_back_renamed(store, agreed, there));
  for (const auto& [path, file] : agreed) {
    if (keep != Keep::local || parts.empty()) break;
    const auto row = there.find(path);
    WS_TRY(row == there.end() ? store.forget_base(path) : store.put_base(path, row->second));
    if (left_out.contains(path)) WS_TRY(store.set_left_out(path, true));
  }
  return transaction.commit();
}

}  // namespace ws::sync
