#include "api-client/base/owner.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"

namespace ws {
namespace {

std::string owner_name(unsigned user) {
  const passwd* entry = ::getpwuid(user);
  return entry == nullptr ? fmt::format("the user {}", user) : fmt::format("the user {} ({})", entry->pw_name, user);
}

bool is_own(unsigned owner, const TrustedFolders& trusted) {
  const unsigned user = ::geteuid();
  return owner == user || (user == 0 && trusted.sudo_user == owner);
}

}  // namespace

TrustedFolders TrustedFolders::parse(std::string_view list, std::string_view sudo_uid) {
  TrustedFolders trusted;
  while (!list.empty()) {
    const std::size_t colon = std::min(list.find(':'), list.size());
    if (colon != 0) trusted.folders.emplace_back(list.substr(0, colon));
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
  unsigned user = 0;
  const auto [end, error] = std::from_chars(sudo_uid.data(), sudo_uid.data() + sudo_uid.size(), user);
  if (!sudo_uid.empty() && error == std::errc() && end == sudo_uid.data() + sudo_uid.size()) trusted.sudo_user = user;
  return trusted;
}

bool TrustedFolders::holds(const std::filesystem::path& folder) const {
  std::error_code ignored;
  const auto real = [&](const std::filesystem::path& path) {
    std::string text = std::filesystem::weakly_canonical(path, ignored).string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
  };
  const std::string wanted = real(std::filesystem::absolute(folder, ignored));
  return std::ranges::any_of(folders, [&](const std::string& named) {
    if (named == "*") return true;
    if (!named.starts_with('/')) return false;
    if (!named.ends_with("/*")) return real(named) == wanted;
    const std::string above = real(named.substr(0, named.size() - 1));
    return wanted.starts_with(above == "/" ? above : above + "/");
  });
}

Result<void> check_owner(const struct stat& found,
                         const std::filesystem::path& path,
                         const std::filesystem::path& folder,
                         const TrustedFolders& trusted) {
  if (is_own(found.st_uid, trusted) || trusted.holds(folder)) return {};
  Failure failure{.kind = Failure::Kind::disk,
                  .what = fmt::format("{} belongs to {}, not to you", shown_path(path), owner_name(found.st_uid)),
                  .hint =
                      "if you trust who owns it, name its folder in WS_TRUSTED_FOLDERS or as `trusted_folders` in "
                      "your config.yaml"};
  failure.code = "foreign_owner";
  return fail(std::move(failure));
}

Result<std::string> read_trusted_file(const std::filesystem::path& path,
                                      std::size_t max_bytes,
                                      const TrustedFolders& trusted) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) {
    const int error = errno;
    if (error == ENOENT) return fail(Failure::Kind::not_found, fmt::format("{} does not exist", shown_path(path)));
    const char* const why = error == ELOOP ? "it is a symbolic link" : std::strerror(error);
    return fail(Failure::Kind::disk, fmt::format("cannot open {}: {}", shown_path(path), why));
  }
  struct stat found {};
  if (::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return fail(Failure::Kind::disk, fmt::format("{} is not a regular file", shown_path(path)));
  }
  WS_TRY(check_owner(found, path, path.parent_path(), trusted));
  return read_open_file(file.get(), path, max_bytes);
}

}  // namespace ws
