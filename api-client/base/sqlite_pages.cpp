#include "api-client/base/sqlite_pages.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include <sqlite3.h>

namespace ws::sqlite {
namespace {

/// SQLite's own, for databases in files.
sqlite3_pcache_methods2 usual = {};

struct Page {
  sqlite3_pcache_page shown = {};  // first: SQLite gives this back
  unsigned number = 0;
};

/// What follows a `Page` in its allocation: SQLite's own data about it.
constexpr std::size_t page_bytes = (sizeof(Page) + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);

void release(Page* page) {
  if (page == nullptr) return;
  std::free(page->shown.pBuf);
  std::free(page);
}

/// A cache: SQLite's own, or the pages of one database in memory by their numbers.
class Cache {
 public:
  Cache(int size, int extra) : size_(static_cast<std::size_t>(size)), extra_(static_cast<std::size_t>(extra)) {}
  explicit Cache(sqlite3_pcache* file) : file_(file) {}
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  ~Cache() {
    if (file_ != nullptr) usual.xDestroy(file_);
    for (Page* page : pages_) release(page);
    release(parked_);
  }

  sqlite3_pcache* file() const { return file_; }
  int count() const { return count_; }

  sqlite3_pcache_page* fetch(unsigned number, bool may_make) {
    if (number < pages_.size() && pages_[number] != nullptr) return &pages_[number]->shown;
    return may_make ? make(number) : nullptr;
  }

  void drop(unsigned number) {
    if (number >= pages_.size() || pages_[number] == nullptr) return;
    release(std::exchange(pages_[number], nullptr));
    --count_;
  }

  /// SQLite exchanges the numbers of two pages by way of the one at its lock byte, 1 GiB behind the start, where no
  /// page lies otherwise: a table up to there would take 8 MiB.
  void rename(Page& page, unsigned number) {
    drop(number);
    (parked_ == &page ? parked_ : pages_[page.number]) = nullptr;
    page.number = number;
    (number < pages_.size() ? pages_[number] : parked_) = &page;
  }

  void drop_from(unsigned first) {
    for (std::size_t number = first; number < pages_.size(); ++number) drop(static_cast<unsigned>(number));
    if (first < pages_.size()) pages_.resize(first);
  }

 private:
  bool make_room(unsigned number) {
    try {
      if (number >= pages_.size()) pages_.resize(std::size_t{number} + 1);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  sqlite3_pcache_page* make(unsigned number) {
    if (!make_room(number)) return nullptr;
    void* const text = std::malloc(size_);
    void* const room = std::malloc(page_bytes + extra_);
    if (text == nullptr || room == nullptr) {
      std::free(text);
      std::free(room);
      return nullptr;
    }
    auto* const page = new (room) Page;
    page->shown.pBuf = text;
    page->shown.pExtra = static_cast<char*>(room) + page_bytes;
    page->number = number;
    std::memset(page->shown.pExtra, 0, extra_);
    pages_[number] = page;
    ++count_;
    return &page->shown;
  }

  sqlite3_pcache* file_ = nullptr;
  std::size_t size_ = 0;
  std::size_t extra_ = 0;
  std::vector<Page*> pages_ = {};
  Page* parked_ = nullptr;  // under a number behind them
  int count_ = 0;
};

Cache& of(sqlite3_pcache* cache) { return *reinterpret_cast<Cache*>(cache); }
Page& of(sqlite3_pcache_page* page) { return *reinterpret_cast<Page*>(page); }

sqlite3_pcache* create(int size, int extra, int is_purgeable) {
  if (is_purgeable == 0) return reinterpret_cast<sqlite3_pcache*>(new (std::nothrow) Cache(size, extra));
  sqlite3_pcache* const file = usual.xCreate(size, extra, is_purgeable);
  if (file == nullptr) return nullptr;
  auto* const cache = new (std::nothrow) Cache(file);
  if (cache == nullptr) usual.xDestroy(file);
  return reinterpret_cast<sqlite3_pcache*>(cache);
}

void destroy(sqlite3_pcache* cache) { delete &of(cache); }

void set_size(sqlite3_pcache* cache, int pages) {
  if (of(cache).file() != nullptr) usual.xCachesize(of(cache).file(), pages);
}

int page_count(sqlite3_pcache* cache) {
  return of(cache).file() != nullptr ? usual.xPagecount(of(cache).file()) : of(cache).count();
}

sqlite3_pcache_page* fetch(sqlite3_pcache* cache, unsigned number, int create_flag) {
  if (of(cache).file() != nullptr) return usual.xFetch(of(cache).file(), number, create_flag);
  return of(cache).fetch(number, create_flag != 0);
}

void unpin(sqlite3_pcache* cache, sqlite3_pcache_page* page, int discard) {
  if (of(cache).file() != nullptr) return usual.xUnpin(of(cache).file(), page, discard);
  if (discard != 0) of(cache).drop(of(page).number);
}

void rekey(sqlite3_pcache* cache, sqlite3_pcache_page* page, unsigned before, unsigned after) {
  if (of(cache).file() != nullptr) return usual.xRekey(of(cache).file(), page, before, after);
  of(cache).rename(of(page), after);
}

void truncate(sqlite3_pcache* cache, unsigned first) {
  if (of(cache).file() != nullptr) return usual.xTruncate(of(cache).file(), first);
  of(cache).drop_from(first);
}

void shrink(sqlite3_pcache* cache) {
  if (of(cache).file() != nullptr) usual.xShrink(of(cache).file());
}

int initialize(void* argument) { return usual.xInit == nullptr ? SQLITE_OK : usual.xInit(argument); }
void shut_down(void* argument) {
  if (usual.xShutdown != nullptr) usual.xShutdown(argument);
}

}  // namespace

void use_memory_pages() {
  if (sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &usual) != SQLITE_OK) return;
  sqlite3_pcache_methods2 ours = {.iVersion = 1,
                                  .pArg = usual.pArg,
                                  .xInit = initialize,
                                  .xShutdown = shut_down,
                                  .xCreate = create,
                                  .xCachesize = set_size,
                                  .xPagecount = page_count,
                                  .xFetch = fetch,
                                  .xUnpin = unpin,
                                  .xRekey = rekey,
                                  .xTruncate = truncate,
                                  .xDestroy = destroy,
                                  .xShrink = shrink};
  sqlite3_config(SQLITE_CONFIG_PCACHE2, &ours);
}

}  // namespace ws::sqlite
