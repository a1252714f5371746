#include "api-client/base/nameless_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws {
namespace {

std::vector<std::string> temporary_folders() {
  std::vector<std::string> folders;
  if (const char* chosen = std::getenv("TMPDIR"); chosen != nullptr && *chosen != '\0') folders.emplace_back(chosen);
  folders.insert(folders.end(), {"/var/tmp", "/tmp", "."});
  return folders;
}

/// Opened with O_TMPFILE, or unlinked right after creation if the file system does not support that.
int open_nameless(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0) return file;
  std::string path = folder + "/ws-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(path.c_str());
  return named;
}

}  // namespace

Result<Descriptor> open_nameless_file() {
  for (const std::string& folder : temporary_folders()) {
    Descriptor file(open_nameless(folder));
    if (file) return file;
  }
  return fail(Failure::Kind::disk, std::string("cannot make a temporary file: ") + std::strerror(errno));
}

}  // namespace ws
