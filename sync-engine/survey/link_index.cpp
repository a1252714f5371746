#include "sync-engine/survey/link_index.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <numeric>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/state/columns.hpp"

namespace ws::sync {
namespace {

using links::NoteLinks;
using links::Reference;

constexpr const char* index_name = "links.cache";
constexpr std::string_view index_magic = "ws links 3\n";
constexpr std::size_t hash_bytes = 32;
/// To write the index costs about what it costs to read one note in so many.
constexpr std::size_t notes_a_write = 64;
/// For fewer another thread is not worth its start.
constexpr std::size_t notes_a_thread = 64;

/// FNV-1a over words of eight bytes: against damage, not against malice.
std::uint64_t checksum(std::string_view text, std::uint64_t state = 0xCBF29CE484222325ULL) {
  constexpr std::uint64_t prime = 0x100000001B3ULL;
  while (text.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    state = (state ^ word) * prime;
    state ^= state >> 29U;
    text.remove_prefix(sizeof word);
  }
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * prime;
  return state ^ (state >> 32U);
}

void put_number(std::string& out, std::uint64_t number) {
  while (number >= 0x80) {
    out += static_cast<char>((number & 0x7F) | 0x80);
    number >>= 7U;
  }
  out += static_cast<char>(number);
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

class PackedReader {
 public:
  explicit PackedReader(std::string_view text) : rest_(text) {}
  bool ok() const { return ok_; }
  bool done() const { return rest_.empty() || !ok_; }
  std::string_view rest() const { return rest_; }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view text() { return bytes(number()); }
  std::string_view bytes(std::uint64_t count) {
    if (!ok_ || count > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(static_cast<std::size_t>(count));
    return taken;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::string packed(const NoteLinks& note) {
  std::string out;
  if (note.references.empty() && note.anchors.empty() && !note.is_cut) return out;
  put_number(out, note.references.size() * 2 + (note.is_cut ? 1 : 0));
  for (const Reference& each : note.references) {
    put_number(out,
               static_cast<std::uint64_t>(each.kind) * 8 + static_cast<std::uint64_t>(each.encoding) * 2 +
                   (each.has_fragment ? 1 : 0));
    put_number(out, each.begin);
    put_number(out, each.end - each.begin);
    put_number(out, each.target_begin - each.begin);
    put_number(out, each.target_end - each.target_begin);
    put_number(out, each.path_end - each.target_begin);
    put_text(out, each.path);
    put_text(out, each.fragment);
  }
  for (const std::string& anchor : note.anchors) put_text(out, anchor);
  return out;
}

NoteLinks unpacked(std::string_view text) {
  NoteLinks note;
  PackedReader reader(text);
  const std::uint64_t head = text.empty() ? 0 : reader.number();
  const std::uint64_t count = head / 2;
  note.is_cut = head % 2 != 0;
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    Reference each;
    const std::uint64_t traits = reader.number();
    each.kind = static_cast<Reference::Kind>(traits / 8 % 8);
    each.encoding = static_cast<Reference::Encoding>(traits / 2 % 4);
    each.has_fragment = traits % 2 != 0;
    each.begin = static_cast<std::size_t>(reader.number());
    each.end = each.begin + static_cast<std::size_t>(reader.number());
    each.target_begin = each.begin + static_cast<std::size_t>(reader.number());
    each.target_end = each.target_begin + static_cast<std::size_t>(reader.number());
    each.path_end = each.target_begin + static_cast<std::size_t>(reader.number());
    each.path = reader.text();
    each.fragment = reader.text();
    note.references.push_back(std::move(each));
  }
  while (!reader.done()) note.anchors.emplace_back(reader.text());
  return note;
}

/// Where the anchors begin.
std::string_view packed_anchors(std::string_view text) {
  PackedReader reader(text);
  const std::uint64_t count = text.empty() ? 0 : reader.number() / 2;
  constexpr int numbers_of_a_reference = 6;
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    for (int number = 0; number < numbers_of_a_reference; ++number) reader.number();
    reader.text();
    reader.text();
  }
  return reader.ok() ? reader.rest() : std::string_view();
}

/// The whole text where it is the one of this hash: while the stamp is that of the walk, it is not hashed again. What
/// stands at the path now may be anything. `buffer` is scratch space and grows.
std::optional<std::string_view> read_as_hashed(
    FilesInOrder& files, const std::string& path, const Sha256& hash, const FileStamp& stamp, std::string& buffer) {
  constexpr std::size_t first_guess = std::size_t{64} << 10U;
  const Descriptor file = files.open(path);
  if (!file) return std::nullopt;
  if (buffer.size() < first_guess) buffer.resize(first_guess);
  std::size_t filled = 0;
  while (true) {
    if (filled == buffer.size()) buffer.resize(buffer.size() * 2);
    const ssize_t count = read_some(file.get(), buffer.data() + filled, buffer.size() - filled);
    if (count < 0 || filled > (std::size_t{1} << 30U)) return std::nullopt;
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    struct statx status {};
    if (filled == stamp.size_bytes &&
        ::statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_SYNC_AS_STAT, stamp_mask, &status) == 0 &&
        stamp_of(status) == stamp)
      return std::string_view(buffer).substr(0, filled);
  }
  const std::string_view text = std::string_view(buffer).substr(0, filled);
  return Sha256::of(text) == hash ? std::optional(text) : std::nullopt;
}

}  // namespace

LinkIndex LinkIndex::load(Session& session, const Scan& scan, IndexFile file) {
  LinkIndex index;
  index.take_walk(scan, Others::all);
  index.take_left_out(session);
  const std::uint64_t names = index.names_;
  const std::uint64_t texts = index.texts_;
  auto cached = read_file(session.own(index_name), std::uint64_t{1} << 30U);
  if (cached) index.cached_ = std::move(*cached);
  std::vector<Sha256> wanted;
  wanted.reserve(index.entries_.size());
  for (const Entry& entry : index.entries_) wanted.push_back(entry.hash);
  const bool is_read = index.read_cache(index.cached_);
  const bool same_names = is_read && std::exchange(index.names_, names) == names;
  if (same_names && index.texts_ == texts) return index;
  index.texts_ = texts;

  std::vector<std::size_t> changed;
  for (std::size_t place = 0; place < index.entries_.size(); ++place) {
    Entry& entry = index.entries_[place];
    if (!entry.is_known || entry.hash != wanted[place]) changed.push_back(place);
    entry.hash = wanted[place];
  }
  std::vector<std::string_view> before;
  before.reserve(changed.size());
  for (const std::size_t place : changed) before.push_back(index.entries_[place].links);
  index.read_changed(session.root, scan, changed, session.options.threads);
  bool same_targets = same_names;
  for (std::size_t i = 0; i < changed.size() && same_targets; ++i) {
    const Entry& entry = index.entries_[changed[i]];
    same_targets = entry.is_known && packed_anchors(before[i]) == packed_anchors(entry.links);
  }
  index.broken_ = 0;
  auto next_changed = changed.begin();
  for (std::size_t place = 0; place < index.entries_.size(); ++place) {
    const bool is_changed = next_changed != changed.end() && *next_changed == place;
    if (is_changed) ++next_changed;
    if (is_changed || !same_targets) index.entries_[place].broken = index.count_broken(place);
    index.broken_ += index.entries_[place].broken;
  }
  const bool is_worth_it = !same_targets || changed.size() * notes_a_write > index.entries_.size();
  if (is_worth_it && file == IndexFile::update) index.save(session);
  return index;
}

LinkIndex LinkIndex::read(const RootFolder& root, const Scan& scan, unsigned threads) {
  LinkIndex index;
  index.take_walk(scan, Others::not_ignored);
  std::vector<std::size_t> all(index.entries_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  index.read_changed(root, scan, all, threads);
  for (std::size_t place = 0; place < index.entries_.size(); ++place) {
    index.entries_[place].broken = index.count_broken(place);
    index.broken_ += index.entries_[place].broken;
  }
  return index;
}

void LinkIndex::take_walk(const Scan& scan, Others others) {
  std::vector<std::pair<std::string, Sha256>> notes;
  notes.reserve(scan.entry_count());
  scan.each_file([&](const std::string& path, const CachedEntry& file) {
    names_ += checksum(path);
    if (is_markdown(path)) {
      const Sha256 hash(file.hash);
      texts_ += checksum(path, checksum(bytes_of(hash)));
      notes.emplace_back(path, hash);
    } else {
      others_.push_back(path);
    }
  });
  scan.each_other([&](const std::string& path) {
    if (others == Others::not_ignored) {
      const auto parsed = RelativePath::parse(path);
      if (!parsed || scan.is_ignored(*parsed)) return;
    }
    names_ += checksum(path);
    others_.push_back(path);
  });
  if (others == Others::not_ignored) {
    // Notes that cannot be read as text can still be linked to.
    for (const Skipped& each : scan.skipped()) {
      using enum SkipReason;
      if (each.reason == not_utf8 || each.reason == holds_nul || each.reason == too_large) others_.push_back(each.path);
    }
  }
  std::ranges::sort(notes, {}, &std::pair<std::string, Sha256>::first);
  notes_.reserve(notes.size());
  entries_.reserve(notes.size());
  for (auto& [path, hash] : notes) {
    notes_.push_back(std::move(path));
    entries_.push_back({.hash = hash});
  }
}

/// What is not here on purpose is on the service: a link to it is whole.
void LinkIndex::take_left_out(Session& session) {
  if (session.config.left_out.empty()) return;
  const auto rows = session.state.base();
  const auto files = session.attachments().left_out();
  const auto add = [&](const RelativePath& path) {
    names_ += checksum(path.text());
    others_.push_back(path.string());
  };
  for (const auto& [document, row] : rows ? *rows : std::map<DocumentId, BaseRow>()) {
    if (row.left_out) add(row.disk_path());
  }
  for (const RelativePath& path : files ? *files : std::set<RelativePath>()) add(path);
}

/// Puts what it knows of the notes into `entries_`, with the hash that it knows; false where it cannot be used.
bool LinkIndex::read_cache(std::string_view text) {
  constexpr std::size_t sum_bytes = sizeof(std::uint64_t);
  if (text.size() < index_magic.size() + sum_bytes || !text.starts_with(index_magic)) return false;
  std::uint64_t sum = 0;
  std::memcpy(&sum, text.data() + text.size() - sum_bytes, sum_bytes);
  text.remove_suffix(sum_bytes);
  if (sum != checksum(text)) return false;
  PackedReader reader(text.substr(index_magic.size()));
  names_ = reader.number();
  texts_ = reader.number();
  broken_ = reader.number();
  const std::uint64_t count = reader.number();
  std::size_t place = 0;
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    const std::string_view path = reader.text();
    const std::string_view hash = reader.bytes(hash_bytes);
    const std::uint64_t broken = reader.number();
    const std::string_view links = reader.text();
    // Both are in order of path.
    while (place < notes_.size() && notes_[place] < path) ++place;
    if (!reader.ok() || place == notes_.size() || notes_[place] != path) continue;
    entries_[place] = {.hash = hash_of(hash), .links = links, .broken = broken, .is_known = true};
  }
  if (!reader.ok()) {
    for (Entry& entry : entries_) entry = {};
  }
  return reader.ok();
}

/// Of a note that is not as the walk saw it nothing is known, and its hash is none.
void LinkIndex::read_changed(const RootFolder& root,
                             const Scan& scan,
                             const std::vector<std::size_t>& places,
                             unsigned threads_wanted) {
  fresh_.resize(places.size());
  std::vector<FileStamp> stamps;
  if (places.size() >= notes_a_thread) {
    stamps.resize(notes_.size());
    scan.each_file([&](const std::string& path, const CachedEntry& file) {
      // Where any change since it was hashed shows in the stamp.
      if (const auto place = place_of(path); place && file.trusted != 0) stamps[*place] = file.stamp;
    });
  }
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> changed_meanwhile = false;
  const auto work = [&] {
    FilesInOrder files(root);
    std::string buffer;
    for (std::size_t i = next++; i < places.size(); i = next++) {
      Entry& entry = entries_[places[i]];
      const FileStamp stamp = stamps.empty() ? FileStamp{} : stamps[places[i]];
      const auto text = read_as_hashed(files, notes_[places[i]], entry.hash, stamp, buffer);
      if (text) {
        fresh_[i] = packed(links::read_note(*text));
      } else {
        entry.hash = {};
        changed_meanwhile = true;
      }
      entry.links = fresh_[i];
    }
  };
  const std::size_t max_threads = std::max(1U, threads_wanted);
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(max_threads, places.size() / notes_a_thread + 1); ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (changed_meanwhile) texts_ = 0;  // not current the next time
}

void LinkIndex::save(Session& session) const {
  std::string out(index_magic);
  out.reserve(cached_.size() + cached_.size() / 8 + 4096);
  put_number(out, names_);
  put_number(out, texts_);
  put_number(out, broken_);
  put_number(out, notes_.size());
  for (std::size_t place = 0; place < notes_.size(); ++place) {
    put_text(out, notes_[place]);
    out += bytes_of(entries_[place].hash);
    put_number(out, entries_[place].broken);
    put_text(out, entries_[place].links);
  }
  const std::uint64_t sum = checksum(out);
  out.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  static_cast<void>(replace_disposable(session.own(index_name), {out}));
}

const links::TreeFiles& LinkIndex::files() const {
  if (!files_) {
    std::ranges::sort(others_);
    std::vector<std::string> paths;
    paths.reserve(notes_.size() + others_.size());
    std::ranges::merge(notes_, others_, std::back_inserter(paths));
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());  // what is left out may lie here
    files_.emplace(std::move(paths));
  }
  return *files_;
}

std::optional<std::size_t> LinkIndex::place_of(std::string_view note) const {
  const auto found = std::ranges::lower_bound(notes_, note);
  if (found == notes_.end() || *found != note) return std::nullopt;
  return static_cast<std::size_t>(found - notes_.begin());
}

NoteLinks LinkIndex::links_of(const std::string& note) const { return find_links(note).value_or(NoteLinks()); }

std::optional<NoteLinks> LinkIndex::find_links(const std::string& note) const {
  const auto place = place_of(note);
  if (!place || entries_[*place].hash == Sha256{}) return std::nullopt;
  return unpacked(entries_[*place].links);
}

std::vector<std::string> LinkIndex::cut_notes() const {
  std::vector<std::string> cut;
  for (std::size_t place = 0; place < notes_.size(); ++place) {
    const std::string_view links = entries_[place].links;
    if (!links.empty() && PackedReader(links).number() % 2 != 0) cut.push_back(notes_[place]);
  }
  return cut;
}

const LinkIndex::Anchors& LinkIndex::anchors_in(const std::string& note) const {
  const auto [known, is_new] = anchors_.try_emplace(note);
  Anchors& anchors = known->second;
  if (is_new) {
    anchors.in_order = links_of(note).anchors;
    anchors.names.insert(anchors.in_order.begin(), anchors.in_order.end());
  }
  return anchors;
}

bool LinkIndex::has_anchor(const std::string& note, std::string_view fragment) const {
  // Blocks of a wiki and the top of a page are no headings.
  if (fragment.empty() || fragment == "top" || fragment.starts_with('^')) return true;
  if (!place_of(note)) return true;  // its headings are not known
  const Anchors& anchors = anchors_in(note);
  const std::size_t last = fragment.rfind('#');  // [[note#Part#Part of it]]
  const std::string_view wanted = last == std::string_view::npos ? fragment : fragment.substr(last + 1);
  return anchors.names.contains(wanted) || anchors.names.contains(utf8::slug(wanted));
}

bool LinkIndex::is_broken(const std::string& note, const Reference& reference) const {
  if (reference.is_guess()) return false;
  const links::Resolution found = files().resolve(note, reference);
  if (found.state == links::Resolution::State::folder) return false;
  if (found.state != links::Resolution::State::file) return true;
  return reference.has_fragment && is_markdown(found.path) && !has_anchor(found.path, reference.fragment);
}

std::uint64_t LinkIndex::count_broken(std::size_t place) const {
  std::uint64_t count = 0;
  for (const Reference& reference : unpacked(entries_[place].links).references) {
    count += is_broken(notes_[place], reference) ? 1 : 0;
  }
  return count;
}

std::optional<std::string> text_of_note(const RootFolder& root, const std::string& path) {
  const Descriptor folder = root.open_beneath(parent_folder(path), O_RDONLY | O_DIRECTORY);
  if (!folder || !RelativePath::parse(path)) return std::nullopt;
  auto text = read_file_at(folder.get(), std::string(last_part(path)));
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

}  // namespace ws::sync
