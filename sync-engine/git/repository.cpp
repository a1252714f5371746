#include "sync-engine/git/repository.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "sync-engine/git/git_folder.hpp"
#include "sync-engine/git/library.hpp"
#include "sync-engine/git/pack_writer.hpp"

namespace ws::sync::git {
namespace {

/// More objects in one batch become a pack, fewer are loose: a day of small syncs makes no heap of packs.
constexpr std::size_t max_loose = 32;

struct Object {
  ObjectType type = ObjectType::blob;
  std::string data = {};
};

struct TreeEntry {
  bool folder = false;
  ObjectId id = {};
};
/// By name; git sorts a folder as if its name ended in '/'.
using TreeEntries = std::map<std::string, TreeEntry>;

git_oid to_oid(const ObjectId& id) {
  git_oid oid;
  std::memcpy(oid.id, id.bytes.data(), id.bytes.size());
  return oid;
}

std::string encode(const TreeEntries& entries) {
  std::vector<std::pair<std::string, const TreeEntries::value_type*>> sorted;
  for (const auto& entry : entries) sorted.emplace_back(entry.second.folder ? entry.first + "/" : entry.first, &entry);
  std::sort(sorted.begin(), sorted.end());
  std::string out;
  for (const auto& [key, entry] : sorted) {
    out += entry->second.folder ? "40000 " : "100644 ";
    out += entry->first;
    out += '\0';
    out.append(reinterpret_cast<const char*>(entry->second.id.bytes.data()), 20);
  }
  return out;
}

Result<TreeEntries> decode(std::string_view data) {
  TreeEntries entries;
  while (!data.empty()) {
    const std::size_t space = data.find(' ');
    const std::size_t end = data.find('\0');
    if (space == std::string_view::npos || end == std::string_view::npos || end < space || data.size() < end + 21) {
      return fail(Failure::Kind::integrity, "the history holds a broken tree");
    }
    TreeEntry entry{.folder = data.substr(0, space) == "40000"};
    std::memcpy(entry.id.bytes.data(), data.data() + end + 1, 20);
    entries.emplace(std::string(data.substr(space + 1, end - space - 1)), entry);
    data.remove_prefix(end + 21);
  }
  return entries;
}

}  // namespace

struct Repository::Impl {
  GitFolder home;
  const Library* git = &home.git();
  git_odb* objects = home.objects();
  References references = References(home.folder());
  std::map<ObjectId, Object> pending = {};
  std::optional<PackWriter> pack = {};
  std::set<ObjectId> shallow = {};

  explicit Impl(GitFolder opened) : home(std::move(opened)) {}

  bool is_on_disk(const ObjectId& id) const {
    const git_oid oid = to_oid(id);
    return git->odb_exists_ext(objects, &oid, GIT_ODB_LOOKUP_NO_REFRESH) == 1;
  }

  Result<ObjectId> write(ObjectType type, std::string_view data) { return write(object_id(type, data), type, data); }

  Result<ObjectId> write(const ObjectId& id, ObjectType type, std::string_view data) {
    if (pack) {
      WS_TRY(pack->add(id, type, data));
      return id;
    }
    pending.try_emplace(id, Object{type, std::string(data)});
    if (pending.size() <= max_loose) return id;
    WS_LET(pack, PackWriter::create(home.path() / "objects"));
    for (const auto& [waiting, object] : pending) WS_TRY(pack->add(waiting, object.type, object.data));
    pending.clear();
    return id;
  }

  Result<Object> read(const ObjectId& id) {
    if (const auto waiting = pending.find(id); waiting != pending.end()) return waiting->second;
    if (pack) WS_TRY(flush());
    const git_oid oid = to_oid(id);
    git_odb_object* raw = nullptr;
    const int code = git->odb_read(&raw, objects, &oid);
    if (code == GIT_ENOTFOUND) return fail(Failure::Kind::not_found, "the history does not hold " + id.hex());
    if (code < 0) return fail(failure(*git, "read the history"));
    Object object{.data = std::string(static_cast<const char*>(git->odb_object_data(raw)), git->odb_object_size(raw))};
    object.type = static_cast<ObjectType>(git->odb_object_type(raw));
    git->odb_object_free(raw);
    return object;
  }

  Result<void> write_loose(const Object& object) const {
    git_oid written;
    const auto type = static_cast<git_object_t>(object.type);
    if (git->odb_write(&written, objects, object.data.data(), object.data.size(), type) >= 0) return {};
    return fail(failure(*git, "write the history"));
  }

  Result<std::map<ObjectId, Failure>> flush_what_fits() {
    std::map<ObjectId, Failure> unwritten;
    for (const auto& [id, object] : std::exchange(pending, {})) {
      if (auto done = write_loose(object); !done) unwritten.emplace(id, std::move(done).error());
    }
    WS_TRY(flush());
    return unwritten;
  }

  Result<void> flush() {
    for (const auto& [id, object] : pending) WS_TRY(write_loose(object));
    pending.clear();
    if (!pack) return {};
    WS_TRY(pack->finish());
    pack.reset();
    if (git->odb_refresh(objects) < 0) return fail(failure(*git, "read the history again"));
    return {};
  }

  Result<std::optional<ObjectId>> update_tree(const std::optional<ObjectId>& base,
                                              std::span<const TreeUpdate> updates,
                                              std::size_t depth);
  Result<void> compare(const std::optional<ObjectId>& before,
                       const std::optional<ObjectId>& after,
                       const std::string& folder,
                       std::vector<TreeUpdate>& out);
};

/// `updates` are sorted by path and agree in their first `depth` bytes. Empty: the tree holds nothing any more.
Result<std::optional<ObjectId>> Repository::Impl::update_tree(const std::optional<ObjectId>& base,
                                                              std::span<const TreeUpdate> updates,
                                                              std::size_t depth) {
  TreeEntries entries;
  if (base) {
    WS_LET(const Object object, read(*base));
    WS_LET(entries, decode(object.data));
  }
  // What leaves goes first: a file may make way for a folder of its name.
  for (const TreeUpdate& update : updates) {
    if (update.path.find('/', depth) == std::string::npos && !update.blob) {
      const auto old = entries.find(update.path.substr(depth));
      if (old != entries.end() && !old->second.folder) entries.erase(old);
    }
  }
  for (std::size_t i = 0; i < updates.size();) {
    const std::size_t slash = updates[i].path.find('/', depth);
    if (slash == std::string::npos) {
      const TreeUpdate& update = updates[i++];
      if (update.blob) entries[update.path.substr(depth)] = {.folder = false, .id = *update.blob};
      continue;
    }
    const std::string folder = updates[i].path.substr(depth, slash - depth);
    std::size_t end = i;
    while (end < updates.size() && updates[end].path.compare(depth, slash - depth + 1, folder + "/") == 0) ++end;
    const auto old = entries.find(folder);
    std::optional<ObjectId> below;
    if (old != entries.end() && old->second.folder) below = old->second.id;
    const bool was_file = old != entries.end() && !old->second.folder;
    WS_LET(const std::optional<ObjectId> updated, update_tree(below, updates.subspan(i, end - i), slash + 1));
    if (updated) {
      entries[folder] = {.folder = true, .id = *updated};
    } else if (!was_file) {
      entries.erase(folder);
    }
    i = end;
  }
  if (entries.empty() && depth != 0) return std::optional<ObjectId>{};
  WS_LET(const ObjectId id, write(ObjectType::tree, encode(entries)));
  return std::optional<ObjectId>(id);
}

Repository::Repository(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Repository::Repository(Repository&&) noexcept = default;
Repository& Repository::operator=(Repository&&) noexcept = default;
Repository::~Repository() = default;

Result<Repository> Repository::open(const std::filesystem::path& path) {
  WS_LET(GitFolder home, GitFolder::open(path));
  auto impl = std::make_unique<Impl>(std::move(home));
  WS_LET(impl->shallow, read_shallow(impl->home.path()));
  return Repository(std::move(impl));
}

Result<ObjectId> Repository::write_blob(std::string_view text) { return impl_->write(ObjectType::blob, text); }

Result<ObjectId> Repository::write_missing_blob(std::string_view text) {
  const ObjectId id = object_id(ObjectType::blob, text);
  return impl_->is_on_disk(id) ? Result<ObjectId>(id) : impl_->write(id, ObjectType::blob, text);
}

Result<std::uint64_t> Repository::blob_size(const ObjectId& id) {
  if (const auto waiting = impl_->pending.find(id); waiting != impl_->pending.end()) return waiting->second.data.size();
  if (impl_->pack) WS_TRY(impl_->flush());
  const git_oid oid = to_oid(id);
  std::size_t size = 0;
  git_object_t type = GIT_OBJECT_ANY;
  const int code = impl_->git->odb_read_header(&size, &type, impl_->objects, &oid);
  if (code == GIT_ENOTFOUND) return fail(Failure::Kind::not_found, "the history does not hold " + id.hex());
  if (code < 0) return fail(failure(*impl_->git, "read the history"));
  return size;
}

Result<std::string> Repository::read_blob(const ObjectId& id) {
  WS_LET(Object object, impl_->read(id));
  return std::move(object.data);
}

Result<ObjectId> Repository::write_tree(const std::optional<ObjectId>& base, std::vector<TreeUpdate> updates) {
  // By parts, not by bytes: everything below one folder must stand together ("a b" sorts between "a" and "a/x").
  std::sort(updates.begin(), updates.end(), [](const TreeUpdate& a, const TreeUpdate& b) {
    return std::lexicographical_compare(
        a.path.begin(), a.path.end(), b.path.begin(), b.path.end(), [](char left, char right) {
          const auto rank = [](char c) { return c == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(c)) + 1; };
          return rank(left) < rank(right);
        });
  });
  WS_LET(const std::optional<ObjectId> id, impl_->update_tree(base, updates, 0));
  return *id;
}

namespace {

/// git ends a name at `<` and a line at a line feed, and shows the rest as it is on whatever terminal it runs.
std::string without_marks(std::string_view text, std::string_view fallback) {
  std::string out = clean(text, Breaks::space);
  std::erase_if(out, [](char c) { return c == '<' || c == '>'; });
  const std::string_view name = trimmed(out, " .,:;\"'\\");
  return std::string(name.empty() ? fallback : name);
}

std::string text_of(const Signature& signature) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(signature.time.time_since_epoch()).count();
  return fmt::format(
      "{} <{}> {} +0000", without_marks(signature.name, "unknown"), without_marks(signature.email, "unknown"), seconds);
}

/// "Ada <ada@localhost> 1790000000 +0000"
std::optional<Signature> read_signature(std::string_view text) {
  const std::size_t end = text.rfind("> ");
  const std::size_t begin = end == std::string_view::npos ? end : text.rfind('<', end);
  if (begin == std::string_view::npos) return std::nullopt;
  std::int64_t seconds = 0;
  std::from_chars(text.data() + end + 2, text.data() + text.size(), seconds);
  std::string_view name = text.substr(0, begin);
  while (name.ends_with(' ')) name.remove_suffix(1);
  return Signature{.name = std::string(name),
                   .email = std::string(text.substr(begin + 1, end - begin - 1)),
                   .time = Time(std::chrono::seconds(seconds))};
}

}  // namespace

Result<ObjectId> Repository::write_commit(const ObjectId& tree,
                                          std::span<const ObjectId> parents,
                                          std::string_view message,
                                          Time time,
                                          const Signature& author) {
  std::string text = fmt::format("tree {}\n", tree.hex());
  for (const ObjectId& parent : parents) text += fmt::format("parent {}\n", parent.hex());
  text += fmt::format("author {}\ncommitter {}\n\n{}\n",
                      text_of(author),
                      text_of({.name = "ws", .email = "ws@localhost", .time = time}),
                      message);
  return impl_->write(ObjectType::commit, text);
}

Result<ObjectId> Repository::tree_of(const ObjectId& commit) {
  WS_LET(const Object object, impl_->read(commit));
  const auto id = ObjectId::from_hex(std::string_view(object.data).substr(0, 45).substr(5));
  if (object.type != ObjectType::commit || !id) {
    return fail(Failure::Kind::integrity, "the history holds a broken commit");
  }
  return *id;
}

Result<bool> Repository::is_blob(const ObjectId& id) {
  WS_LET(const Object object, impl_->read(id));
  return object.type == ObjectType::blob;
}

Result<Commit> Repository::read_commit(const ObjectId& id) {
  WS_LET(const Object object, impl_->read(id));
  Commit commit{.id = id};
  std::string_view rest = object.data;
  const auto broken = [] { return fail(Failure::Kind::integrity, "the history holds a broken commit"); };
  if (object.type != ObjectType::commit) return broken();
  while (!rest.empty() && rest.front() != '\n') {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string_view value = line.substr(std::min(line.find(' ') + 1, line.size()));
    const auto named = ObjectId::from_hex(value);
    if (line.starts_with("tree ") && named) commit.tree = *named;
    if (line.starts_with("parent ") && named) commit.parents.push_back(*named);
    if (line.starts_with("author ") || line.starts_with("committer ")) {
      const auto signature = read_signature(value);
      if (!signature) return broken();
      if (line.front() == 'c') commit.time = signature->time;
      if (line.front() == 'a') commit.author = *signature;
    }
  }
  if (commit.tree.empty()) return broken();
  if (impl_->shallow.contains(id)) commit.parents.clear();
  commit.message = rest.substr(std::min<std::size_t>(1, rest.size()));
  trim_end(commit.message, "\n");
  return commit;
}

Result<std::optional<ObjectId>> Repository::find_blob(const ObjectId& tree, std::string_view path) {
  ObjectId folder = tree;
  while (true) {
    WS_LET(const Object object, impl_->read(folder));
    WS_LET(const TreeEntries entries, decode(object.data));
    const std::size_t slash = path.find('/');
    const auto found = entries.find(std::string(path.substr(0, slash)));
    const bool wants_folder = slash != std::string_view::npos;
    if (found == entries.end() || found->second.folder != wants_folder) return std::optional<ObjectId>{};
    if (!wants_folder) return std::optional<ObjectId>(found->second.id);
    folder = found->second.id;
    path.remove_prefix(slash + 1);
  }
}

Result<void> Repository::Impl::compare(const std::optional<ObjectId>& before,
                                       const std::optional<ObjectId>& after,
                                       const std::string& folder,
                                       std::vector<TreeUpdate>& out) {
  if (before == after) return {};
  if (std::count(folder.begin(), folder.end(), '/') > max_tree_depth) {
    return fail(too_deep_tree());
  }
  TreeEntries old_entries;
  TreeEntries new_entries;
  if (before) {
    WS_LET(const Object object, read(*before));
    WS_LET(old_entries, decode(object.data));
  }
  if (after) {
    WS_LET(const Object object, read(*after));
    WS_LET(new_entries, decode(object.data));
  }
  std::set<std::string> names;
  for (const auto& [name, entry] : old_entries) names.insert(name);
  for (const auto& [name, entry] : new_entries) names.insert(name);
  const auto part = [](const TreeEntries& entries, const std::string& name, bool is_folder) {
    const auto found = entries.find(name);
    const bool there = found != entries.end() && found->second.folder == is_folder;
    return there ? std::optional(found->second.id) : std::nullopt;
  };
  for (const std::string& name : names) {
    const auto old_file = part(old_entries, name, false);
    const auto new_file = part(new_entries, name, false);
    if (old_file != new_file) out.push_back({.path = folder + name, .blob = new_file});
    WS_TRY(compare(part(old_entries, name, true), part(new_entries, name, true), folder + name + "/", out));
  }
  return {};
}

Result<std::vector<TreeUpdate>> Repository::compare_trees(const std::optional<ObjectId>& before,
                                                          const ObjectId& after) {
  std::vector<TreeUpdate> out;
  WS_TRY(impl_->compare(before, after, "", out));
  return out;
}

Result<ObjectId> Repository::find_commit(std::string_view prefix) {
  constexpr std::size_t shortest = GIT_OID_MINPREFIXLEN;
  const bool is_hex = prefix.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!is_hex || prefix.size() < shortest || prefix.size() > GIT_OID_HEXSZ) {
    return fail(Failure::Kind::usage, fmt::format("\"{}\" names no state", prefix), "`ws sync log` lists them");
  }
  git_oid short_id{};
  git_oid whole{};
  if (impl_->git->oid_fromstrn(&short_id, prefix.data(), prefix.size()) < 0) {
    return fail(failure(*impl_->git, "read the name of a state"));
  }
  const int code = impl_->git->odb_exists_prefix(&whole, impl_->objects, &short_id, prefix.size());
  if (code == GIT_EAMBIGUOUS)
    return fail(Failure::Kind::usage, "more than one state begins with this", "give more digits");
  if (code < 0)
    return fail(Failure::Kind::not_found, fmt::format("there is no state {}", prefix), "`ws sync log` lists them");
  ObjectId id;
  std::memcpy(id.bytes.data(), whole.id, id.bytes.size());
  return id;
}

Result<void> Repository::flush() { return impl_->flush(); }
Result<std::map<ObjectId, Failure>> Repository::flush_what_fits() { return impl_->flush_what_fits(); }

Result<std::optional<ObjectId>> Repository::find_reference(const std::string& name) {
  return impl_->references.find(name);
}

Result<void> Repository::set_references(const std::map<std::string, ObjectId>& commits) {
  WS_TRY(flush());
  return impl_->references.set(commits);
}

Result<void> Repository::set_reference(const std::string& name, const ObjectId& commit) {
  WS_TRY(flush());
  return impl_->references.set(name, commit);
}

}  // namespace ws::sync::git
