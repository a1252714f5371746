#include "sync-engine/conflict_store/conflict_texts.hpp"

#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "sync-engine/merge/merge.hpp"
#include "sync-engine/model/file_name.hpp"
#include "sync-engine/session/written_files.hpp"

namespace ws::sync {
namespace {

constexpr const char* by_hand_name = "by-hand";
constexpr std::size_t max_text_bytes = std::size_t{64} << 20U;

std::string folder_name(const std::string& id) { return file_name(NamedBy::id, id); }

std::string folder_of(const std::string& id) { return ".ws/conflicts/" + folder_name(id); }

std::filesystem::path shown_in(const RootFolder& root, const std::string& id, const char* name) {
  return root.path() / folder_of(id) / name;
}

/// Opens the conflict's folder, made where it is missing.
Result<Descriptor> make_folder_of(const RootFolder& root, const std::string& id) {
  Descriptor folder = root.make_folders(folder_of(id), [](std::string_view) {});
  if (!folder) return disk_failure("make", (root.path() / folder_of(id)).string());
  return folder;
}

/// Empty: no file, or none that can be read.
std::optional<std::string> read_optional(const RootFolder& root, const std::string& id, const char* name) {
  const Descriptor file = root.open_beneath(folder_of(id) + "/" + name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  auto text = read_open_file(file.get(), shown_in(root, id, name), max_text_bytes);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

constexpr std::size_t max_open_folders = 500;
/// Up to so many folders, single fsyncs are cheaper than a barrier over the whole file system.
constexpr std::size_t max_folder_flushes = 4;

/// Writes the texts of one conflict to temporary names first, so that a file is never incomplete.
class ConflictFolder {
 public:
  static Result<ConflictFolder> open(const RootFolder& root, const std::string& id) {
    WS_LET(Descriptor folder, make_folder_of(root, id));
    return ConflictFolder(std::move(folder), folder_of(id));
  }

  /// The texts, as the history has them.
  Result<TextChanges> stage(Session& session, const ThreeTexts& texts) {
    TextChanges kept;
    const std::pair<const char*, const std::optional<std::string>*> named[] = {
        {"base.md", &texts.base}, {"local.md", &texts.local}, {"remote.md", &texts.remote}};
    for (const auto& [name, text] : named) {
      if (!*text) {
        static_cast<void>(::unlinkat(folder_.get(), name, 0));
        continue;
      }
      WS_LET(const git::ObjectId blob, session.history.keep(**text));
      kept.push_back({.path = name, .blob = blob});
      WS_TRY(write(name, **text));
      staged_.emplace_back(name);
    }
    return kept;
  }

  Result<void> flush_texts() const {
    for (const std::string& name : staged_) {
      const Descriptor file(::openat(folder_.get(), (name + ".new").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
      if (!file || ::fsync(file.get()) != 0) return disk_failure("flush", path_ + "/" + name);
    }
    return {};
  }

  Result<void> flush_names() const {
    if (::fsync(folder_.get()) != 0) return disk_failure("flush", path_);
    return {};
  }

  Result<void> place() const {
    for (const std::string& name : staged_) {
      if (::renameat(folder_.get(), (name + ".new").c_str(), folder_.get(), name.c_str()) != 0)
        return disk_failure("write", path_ + "/" + name);
    }
    return {};
  }

 private:
  ConflictFolder(Descriptor folder, std::string path) : folder_(std::move(folder)), path_(std::move(path)) {}

  Result<void> write(const std::string& name, std::string_view text) const {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    // A leftover of a killed run, or a planted pipe or hard link: removed, never written to.
    ::unlinkat(folder_.get(), (name + ".new").c_str(), 0);
    const Descriptor file(::openat(folder_.get(), (name + ".new").c_str(), flags, 0600));
    if (!file) return disk_failure("write", path_ + "/" + name);
    if (!write_all(file.get(), text)) return disk_failure("write", path_ + "/" + name);
    return {};
  }

  Descriptor folder_;
  std::string path_;
  std::vector<std::string> staged_;
};

Result<void> flush_all(const Session& session) {
  if (::syncfs(session.root.fd()) != 0) return disk_failure("flush", ".ws/conflicts");
  return {};
}

Result<void> flush_texts(const Session& session, const std::vector<ConflictFolder>& folders) {
  if (folders.size() > max_folder_flushes) return flush_all(session);
  for (const ConflictFolder& folder : folders) WS_TRY(folder.flush_texts());
  return {};
}

Result<void> flush_names(const Session& session, const std::vector<ConflictFolder>& folders) {
  if (folders.size() > max_folder_flushes) return flush_all(session);
  for (const ConflictFolder& folder : folders) WS_TRY(folder.flush_names());
  const Descriptor above = session.root.open_beneath(".ws/conflicts", O_RDONLY | O_DIRECTORY);
  if (!above || ::fsync(above.get()) != 0) return disk_failure("flush", ".ws/conflicts");
  return {};
}

Result<void> place_all(const Session& session, std::vector<ConflictFolder>& folders) {
  if (folders.empty()) return {};
  WS_TRY(flush_texts(session, folders));
  for (const ConflictFolder& folder : folders) WS_TRY(folder.place());
  WS_TRY(flush_names(session, folders));
  folders.clear();
  return {};
}

Result<void> store(Session& session, const EndedConflict& ended) {
  StateStore& state = session.state;
  if (ended.end.decided) WS_TRY(state.operations().record(*ended.end.decided));
  for (const auto& [document, row] : ended.end.base) {
    WS_TRY(row ? state.put_base(document, *row) : state.forget_base(document));
    if (row && row->left_out) WS_TRY(state.set_left_out(document, true));
  }
  for (const DecidedFile& file : ended.end.files) WS_TRY(record_written(session, file.document, file.path, file.text));
  for (const OperationRow& row : ended.end.recorded) WS_TRY(state.operations().record(row));
  for (const auto& [document, row] : ended.end.pending) {
    WS_TRY(row ? state.put_pending(document, *row) : state.drop_pending(document));
  }
  if (ended.end.source_revision) WS_TRY(state.set_source_revision(*ended.end.source_revision));
  if (ended.end.drops_staged) WS_TRY(state.clear_staged());
  return state.drop_conflict(ended.id);
}

}  // namespace

std::string conflict_branch(const std::string& id) { return "conflicts/" + folder_name(id); }

Result<void> write_conflict_texts(Session& session, const std::string& id, const ThreeTexts& texts) {
  return write_conflict_texts(session, {{id, texts}});
}

Result<void> write_conflict_texts(Session& session, const std::map<std::string, ThreeTexts>& by_id) {
  if (by_id.empty()) return {};
  std::map<std::string, TextChanges> kept;
  std::vector<ConflictFolder> folders;
  for (const auto& [id, texts] : by_id) {
    WS_LET(ConflictFolder folder, ConflictFolder::open(session.root, id));
    WS_LET(kept[conflict_branch(id)], folder.stage(session, texts));
    folders.push_back(std::move(folder));
    // A descriptor each: more than a process may have open.
    if (folders.size() == max_open_folders) WS_TRY(place_all(session, folders));
  }
  WS_TRY(place_all(session, folders));
  return session.history.record_aside(kept, "The texts of a conflict");
}

ThreeTexts read_conflict_texts(const RootFolder& root, const std::string& id) {
  return {.base = read_optional(root, id, "base.md"),
          .local = read_optional(root, id, "local.md"),
          .remote = read_optional(root, id, "remote.md")};
}

Result<void> mark_merging_by_hand(const RootFolder& root, const std::string& id, const Sha256& local) {
  WS_LET(const Descriptor folder, make_folder_of(root, id));
  return write_file_at(folder.get(), by_hand_name, local.hex(), std::nullopt, shown_in(root, id, by_hand_name));
}

bool is_merging_by_hand(const RootFolder& root, const std::string& id) {
  return static_cast<bool>(root.open_beneath(folder_of(id) + "/" + by_hand_name, O_PATH | O_NOFOLLOW));
}

bool is_merged_by_hand(const RootFolder& root, const std::string& id, const std::string& text) {
  const auto before = read_optional(root, id, by_hand_name);
  return before && !before->empty() && *before != Sha256::of(text).hex();
}

bool is_being_merged(const RootFolder& root, const std::string& id, const std::string& text) {
  if (id.empty() || !is_merging_by_hand(root, id)) return false;
  const ThreeTexts texts = read_conflict_texts(root, id);
  return merge::adds_markers(text, {texts.base.value_or(""), texts.local.value_or(""), texts.remote.value_or("")});
}

void remove_conflict_files(const RootFolder& root, const std::string& id) {
  const Descriptor above = root.open_beneath(".ws/conflicts", O_RDONLY | O_DIRECTORY);
  std::error_code ignored;
  // Not through links: those in the folder are removed themselves.
  if (above)
    std::filesystem::remove_all(path_through(above.get(), root.path() / ".ws/conflicts") / folder_name(id), ignored);
}

Result<void> end_conflicts(Session& session, const std::vector<EndedConflict>& ended) {
  if (ended.empty()) return {};
  WS_TRY(session.history.flush());
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const EndedConflict& each : ended) WS_TRY(store(session, each));
  WS_TRY(transaction.commit());
  for (const EndedConflict& each : ended) remove_conflict_files(session.root, each.id);
  return {};
}

Result<void> end_conflict(Session& session, const Conflict& conflict, const ConflictEnd& end) {
  return end_conflicts(session, {{.id = conflict.id, .end = end}});
}

}  // namespace ws::sync
