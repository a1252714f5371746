#include "sync-engine/steps/conflict_files.hpp"

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/uuid.hpp"

namespace ws::sync {
namespace {

constexpr const char* by_hand_name = "by-hand";

/// The id comes from the service: anything but a UUID must not become a path.
std::string folder_name(const std::string& id) { return is_uuid(id) ? id : Sha256::of(id).hex(); }

std::filesystem::path folder_of(const std::filesystem::path& root, const std::string& id) {
  return root / ".ws" / "conflicts" / folder_name(id);
}

std::optional<std::string> read_optional(const std::filesystem::path& path) {
  auto text = read_file(path);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

constexpr std::size_t most_open_folders = 500;
/// Up to so many folders, single fsyncs are cheaper than a barrier over the whole file system.
constexpr std::size_t max_single_flushes = 4;

/// One conflict's folder, while its texts are written: beside their names first, so that none is ever half there.
class ConflictFolder {
 public:
  static Result<ConflictFolder> open(const RootFolder& root, const std::string& id) {
    const std::string path = ".ws/conflicts/" + folder_name(id);
    Descriptor folder = root.make_folders(path, [](std::string_view) {});
    if (!folder) return disk_failure("make", path);
    return ConflictFolder(std::move(folder), path);
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
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    const Descriptor file(::openat(folder_.get(), (name + ".new").c_str(), flags, 0600));
    if (!file) return disk_failure("write", path_ + "/" + name);
    while (!text.empty()) {
      const ssize_t count = ::write(file.get(), text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return disk_failure("write", path_ + "/" + name);
      text.remove_prefix(static_cast<std::size_t>(count));
    }
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
  if (folders.size() > max_single_flushes) return flush_all(session);
  for (const ConflictFolder& folder : folders) WS_TRY(folder.flush_texts());
  return {};
}

Result<void> flush_names(const Session& session, const std::vector<ConflictFolder>& folders) {
  if (folders.size() > max_single_flushes) return flush_all(session);
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
    if (folders.size() == most_open_folders) WS_TRY(place_all(session, folders));
  }
  WS_TRY(place_all(session, folders));
  return session.history.record_aside(kept, "The texts of a conflict");
}

ThreeTexts read_conflict_texts(const std::filesystem::path& root, const std::string& id) {
  const std::filesystem::path folder = folder_of(root, id);
  return {.base = read_optional(folder / "base.md"),
          .local = read_optional(folder / "local.md"),
          .remote = read_optional(folder / "remote.md")};
}

Result<void> note_merging_by_hand(const std::filesystem::path& root, const std::string& id) {
  return write_file(folder_of(root, id) / by_hand_name, "");
}

bool is_merging_by_hand(const std::filesystem::path& root, const std::string& id) {
  std::error_code ignored;
  return std::filesystem::exists(folder_of(root, id) / by_hand_name, ignored);
}

void remove_conflict_files(const std::filesystem::path& root, const std::string& id) {
  std::error_code ignored;
  std::filesystem::remove_all(folder_of(root, id), ignored);
}

}  // namespace ws::sync
