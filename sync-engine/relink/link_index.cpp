#include "sync-engine/relink/link_index.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8_slug.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/links/targets.hpp"

namespace ws::sync {
namespace {

using links::NoteLinks;
using links::Reference;

constexpr const char* index_name = "links.cache";
constexpr std::string_view index_magic = "ws links 1\n";
constexpr std::size_t hash_bytes = 32;

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
  if (note.references.empty() && note.anchors.empty()) return out;
  put_number(out, note.references.size());
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
  const std::uint64_t count = text.empty() ? 0 : reader.number();
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

std::string_view bytes_of_hash(const Sha256& hash) {
  return {reinterpret_cast<const char*>(hash.bytes().data()), hash.bytes().size()};
}

/// Not flushed: a damaged one is made anew.
void leave_index(const std::filesystem::path& file, std::string_view text) {
  const std::string temporary = file.string() + ".new";
  // What stands there is from a run that was killed, or a second name of a file elsewhere: not to be written to.
  ::unlink(temporary.c_str());
  const Descriptor descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!descriptor) return;
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor.get(), text.data(), text.size());
    if (written < 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  static_cast<void>(::rename(temporary.c_str(), file.c_str()));
}

}  // namespace

LinkIndex LinkIndex::load(Session& session, const Scan& scan) {
  LinkIndex index;
  std::vector<std::pair<std::string, std::string>> notes;
  std::vector<std::string> paths;
  paths.reserve(scan.entry_count());
  std::uint64_t sum = 0;
  scan.each_file([&](const std::string& path, const Sha256& hash, const FileId&) {
    sum += checksum(path, checksum(bytes_of_hash(hash)));
    if (is_markdown(path)) notes.emplace_back(path, std::string(bytes_of_hash(hash)));
    paths.push_back(path);
  });
  scan.each_other([&](const std::string& path) {
    sum += checksum(path);
    paths.push_back(path);
  });
  index.fingerprint_ = sum;
  std::ranges::sort(notes);
  index.files_ = links::TreeFiles(std::move(paths));
  for (auto& [path, hash] : notes) {
    index.notes_.push_back(std::move(path));
    index.hashes_.push_back(std::move(hash));
  }
  auto cached = read_file(session.own(index_name), std::uint64_t{1} << 30U);
  if (cached) index.cached_ = std::move(*cached);
  const std::uint64_t wanted = index.fingerprint_;
  const bool is_current = index.read(index.cached_) && index.fingerprint_ == wanted;
  index.fingerprint_ = wanted;
  if (is_current) return index;

  bool changed_meanwhile = false;
  const auto writer = SafeWriter::open(session.root);
  for (std::size_t i = 0; i < index.notes_.size(); ++i) {
    const auto known = index.known_.find(index.notes_[i]);
    if (known != index.known_.end() && known->second.hash == index.hashes_[i]) continue;
    const auto path = RelativePath::parse(index.notes_[i]);
    auto text = writer && path ? writer->read(*path) : Result<std::string>(std::string());
    ++index.notes_read_;
    const bool is_same = text && bytes_of_hash(Sha256::of(*text)) == index.hashes_[i];
    index.fresh_[index.notes_[i]] = is_same ? packed(links::read_note(*text)) : std::string();
    if (is_same) continue;
    index.hashes_[i].assign(hash_bytes, '\0');
    changed_meanwhile = true;
  }
  index.broken_ = index.count_broken();
  // One whose note changed meanwhile is not current the next time.
  if (changed_meanwhile) index.fingerprint_ = 0;
  leave_index(session.own(index_name), index.write());
  return index;
}

/// Fills `known_`; false where the cache cannot be used.
bool LinkIndex::read(std::string_view text) {
  constexpr std::size_t sum_bytes = sizeof(std::uint64_t);
  if (text.size() < index_magic.size() + sum_bytes || !text.starts_with(index_magic)) return false;
  std::uint64_t sum = 0;
  std::memcpy(&sum, text.data() + text.size() - sum_bytes, sum_bytes);
  text.remove_suffix(sum_bytes);
  if (sum != checksum(text)) return false;
  PackedReader reader(text.substr(index_magic.size()));
  fingerprint_ = reader.number();
  broken_ = reader.number();
  const std::uint64_t count = reader.number();
  known_.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(count, notes_.size() * 2 + 16)));
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    const std::string_view path = reader.text();
    const std::string_view hash = reader.bytes(hash_bytes);
    known_.emplace(path, Known{.hash = hash, .links = reader.text()});
  }
  if (!reader.ok()) known_.clear();
  return reader.ok();
}

std::string LinkIndex::write() const {
  std::string out(index_magic);
  out.reserve(cached_.size() + cached_.size() / 8 + 4096);
  put_number(out, fingerprint_);
  put_number(out, broken_);
  put_number(out, notes_.size());
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    put_text(out, notes_[i]);
    out += hashes_[i];
    const auto fresh = fresh_.find(notes_[i]);
    const auto known = known_.find(notes_[i]);
    put_text(out, fresh != fresh_.end() ? std::string_view(fresh->second) : known->second.links);
  }
  const std::uint64_t sum = checksum(out);
  out.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return out;
}

NoteLinks LinkIndex::links_of(const std::string& note) const {
  const auto fresh = fresh_.find(note);
  if (fresh != fresh_.end()) return unpacked(fresh->second);
  const auto known = known_.find(note);
  return known == known_.end() ? NoteLinks{} : unpacked(known->second.links);
}

void LinkIndex::each(const std::function<void(const std::string& note, const Reference& reference)>& visit) const {
  for (const std::string& note : notes_) {
    const NoteLinks links = links_of(note);
    for (const Reference& reference : links.references) visit(note, reference);
  }
}

bool LinkIndex::has_anchor(const std::string& note, std::string_view fragment) const {
  // Blocks of a wiki and the top of a page are no headings.
  if (fragment.empty() || fragment == "top" || fragment.starts_with('^')) return true;
  auto known = anchors_.find(note);
  if (known == anchors_.end()) known = anchors_.emplace(note, links_of(note).anchors).first;
  const std::size_t last = fragment.rfind('#');  // [[note#Part#Part of it]]
  const std::string_view wanted = last == std::string_view::npos ? fragment : fragment.substr(last + 1);
  const auto has = [&](std::string_view name) { return std::ranges::find(known->second, name) != known->second.end(); };
  return has(wanted) || has(utf8::slug(wanted));
}

bool LinkIndex::is_broken(const std::string& note, const Reference& reference) const {
  if (reference.is_guess()) return false;
  const links::Resolution found = files_.resolve(note, reference);
  if (found.state == links::Resolution::State::folder) return false;
  if (found.state != links::Resolution::State::file) return true;
  return reference.has_fragment && is_markdown(found.path) && !has_anchor(found.path, reference.fragment);
}

std::uint64_t LinkIndex::count_broken() const {
  std::uint64_t count = 0;
  each([&](const std::string& note, const Reference& reference) { count += is_broken(note, reference) ? 1 : 0; });
  return count;
}

}  // namespace ws::sync
