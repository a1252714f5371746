#include "sync-engine/steps/conflict_files.hpp"

#include <system_error>
#include <utility>

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

}  // namespace

std::string conflict_branch(const std::string& id) { return "conflicts/" + folder_name(id); }

Result<void> write_conflict_texts(Session& session, const std::string& id, const ThreeTexts& texts) {
  const std::filesystem::path folder = folder_of(session.root.path(), id);
  WS_TRY(make_folders(folder));
  TextChanges kept;
  const auto write = [&](const char* name, const std::optional<std::string>& text) -> Result<void> {
    if (!text) {
      std::error_code ignored;
      std::filesystem::remove(folder / name, ignored);
      return {};
    }
    WS_LET(const git::ObjectId blob, session.history.keep(*text));
    kept.push_back({.path = name, .blob = blob});
    return write_file(folder / name, *text);
  };
  WS_TRY(write("base.md", texts.base));
  WS_TRY(write("local.md", texts.local));
  WS_TRY(write("remote.md", texts.remote));
  return session.history.record_aside(conflict_branch(id), kept, "The texts of a conflict");
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
