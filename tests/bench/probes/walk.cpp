// A bare walk of a tree, the floor beneath `ws sync status`: `walk stat DIR` lists every folder (getdents64) and looks
// at every Markdown file (statx); `walk read DIR` reads each one too, and `walk hash DIR` hashes what it reads
// (SHA-256). Two threads share the folders. Nothing is remembered, compared or printed but the counts.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

class Probe {
 public:
  Probe(std::string root, bool reads, bool hashes) : reads_(reads), hashes_(hashes), folders_{std::move(root)} {}

  void run() {
    std::thread other([this] { work(); });
    work();
    other.join();
    std::printf(
        "%llu files, %llu bytes\n", static_cast<unsigned long long>(files_), static_cast<unsigned long long>(bytes_));
  }

 private:
  struct Scratch {
    std::vector<char> listing = std::vector<char>(std::size_t{64} << 10U);
    std::vector<char> text = std::vector<char>(std::size_t{1} << 20U);
    EVP_MD* sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    ~Scratch() {
      EVP_MD_CTX_free(context);
      EVP_MD_free(sha256);
    }
  };

  void work() {
    Scratch scratch;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !folders_.empty() || busy_ == 0; });
      if (folders_.empty()) break;
      const std::string folder = std::move(folders_.back());
      folders_.pop_back();
      ++busy_;
      lock.unlock();
      std::vector<std::string> below = list(folder, scratch);
      lock.lock();
      --busy_;
      std::move(below.begin(), below.end(), std::back_inserter(folders_));
      changed_.notify_all();
    }
    files_ += scratch.files;
    bytes_ += scratch.bytes;
  }

  std::vector<std::string> list(const std::string& folder, Scratch& scratch) const {
    std::vector<std::string> below;
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return below;
    ssize_t count = 0;
    while ((count = ::getdents64(fd, scratch.listing.data(), scratch.listing.size())) > 0) {
      for (ssize_t place = 0; place < count;) {
        const auto* entry = reinterpret_cast<const dirent64*>(scratch.listing.data() + place);
        place += entry->d_reclen;
        const std::string_view name = static_cast<const char*>(entry->d_name);
        if (name.front() == '.') continue;
        if (entry->d_type == DT_DIR) below.push_back(folder + "/" + std::string(name));
        if (entry->d_type == DT_REG && name.ends_with(".md")) look(fd, name.data(), scratch);
      }
    }
    ::close(fd);
    return below;
  }

  void look(int folder, const char* name, Scratch& scratch) const {
    struct statx status {};
    if (::statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_STATX_SYNC_AS_STAT, STATX_BASIC_STATS, &status) != 0) return;
    ++scratch.files;
    scratch.bytes += status.stx_size;
    if (!reads_) return;
    const int fd = ::openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (hashes_) EVP_DigestInit_ex2(scratch.context, scratch.sha256, nullptr);
    ssize_t count = 0;
    while ((count = ::read(fd, scratch.text.data(), scratch.text.size())) > 0) {
      if (hashes_) EVP_DigestUpdate(scratch.context, scratch.text.data(), static_cast<std::size_t>(count));
    }
    unsigned char hash[EVP_MAX_MD_SIZE];
    if (hashes_) EVP_DigestFinal_ex(scratch.context, hash, nullptr);
    ::close(fd);
  }

  bool reads_;
  bool hashes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> folders_;
  std::size_t busy_ = 0;
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

int main(int count, char** words) {
  const std::string what = count == 3 ? words[1] : "";
  if (what != "stat" && what != "read" && what != "hash") {
    std::fputs("usage: walk stat|read|hash DIR\n", stderr);
    return 2;
  }
  Probe(words[2], what != "stat", what == "hash").run();
  return 0;
}
