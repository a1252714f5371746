#include "tests/sync-engine/reconcile/planner_world.hpp"

#include <algorithm>

#include "api-client/base/utf8.hpp"
#include "sync-engine/reconcile/identify.hpp"

namespace ws::sync::test {
namespace {

/// Takes decisions off the script; past its end every decision is 0.
class ScriptReader {
 public:
  explicit ScriptReader(const WorldScript& script) : script_(script) {}
  std::size_t below(std::size_t bound) { return place_ < script_.size() ? script_[place_++] % bound : 0; }
  bool more() const { return place_ < script_.size(); }

 private:
  const WorldScript& script_;
  std::size_t place_ = 0;
};

/// Case twins, the two Unicode forms of one name, and files that would be folders of others.
const std::vector<std::string> world_names = {"a.md",
                                              "b.md",
                                              "c.md",
                                              "A.md",
                                              "d/a.md",
                                              "d/b.md",
                                              "a.md/x.md",
                                              "e.md",
                                              "\u00e9.md",
                                              "e\u0301.md",
                                              "f/a.md",
                                              "b.md/a.md"};
constexpr std::size_t max_edits = 12;

std::string key_of(const std::string& path) { return RelativePath::parse(path)->twin_key(); }

/// Rewrites the names of one side, if all of them still fit together.
template <class Map, class Rename>
void rename_some(Map& files, const Rename& to) {
  Map renamed;
  std::vector<std::string> taken;
  for (const auto& [path, file] : files) {
    const std::string name = to(path);
    if (!fits(taken, name)) return;
    taken.push_back(name);
    renamed[name] = file;
  }
  files = std::move(renamed);
}

std::string other_folder(const std::string& path) {
  if (path.starts_with("d/")) return "f/" + path.substr(2);
  if (path.starts_with("f/")) return "d/" + path.substr(2);
  return path;
}

std::string other_case(const std::string& path) {
  if (path == "a.md") return "A.md";
  if (path == "A.md") return "a.md";
  return path;
}

void change_here(ScriptReader& read, World& world) {
  const std::string name = world_names[read.below(world_names.size())];
  const auto there = world.local.find(name);
  const bool is_there = there != world.local.end();
  switch (read.below(10)) {
    case 0:
      if (is_there) there->second.hash = text_of_number(read.below(5));
      return;
    case 1:
      if (is_there) world.local.erase(there);
      return;
    case 2: {  // renamed
      const std::string to = world_names[read.below(world_names.size())];
      if (is_there) rename_some(world.local, [&](const std::string& path) { return path == name ? to : path; });
      return;
    }
    case 3: {  // two change places
      const auto other = world.local.find(world_names[read.below(world_names.size())]);
      if (is_there && other != world.local.end()) std::swap(there->second, other->second);
      return;
    }
    case 4: return rename_some(world.local, other_folder);
    case 5: return rename_some(world.local, other_case);
    case 6:  // a file becomes a folder
      if (is_there) world.local.erase(there);
      if (fits(local_paths(world), name + "/x.md")) world.local[name + "/x.md"] = {text_of_number(1), world.next++};
      return;
    case 7:
      if (!world.ignored.erase(name)) world.ignored.insert(name);
      return;
    case 8:  // saved anew, as it was
      if (is_there) there->second.inode = world.next++;
      return;
    default:
      if (fits(local_paths(world), name)) world.local[name] = {text_of_number(read.below(5)), world.next++};
  }
}

void change_there(ScriptReader& read, World& world) {
  const std::string name = world_names[read.below(world_names.size())];
  RemoteDocument* there = nullptr;
  for (auto& [id, document] : world.remote) {
    if (!document.gone && document.path == name) there = &document;
  }
  const std::size_t choice = read.below(6);
  if (choice == 4) {  // a folder is renamed
    std::map<std::string, RemoteDocument*> by_path;
    for (auto& [id, document] : world.remote) {
      if (!document.gone) by_path.emplace(document.path, &document);
    }
    rename_some(by_path, other_folder);
    for (auto& [path, document] : by_path) {
      if (document->path != path) ++document->revision;
      document->path = path;
    }
    return;
  }
  if (choice == 3 || there == nullptr) {
    if (name == "e\u0301.md" || !fits(remote_paths(world), name)) return;  // the service has NFC
    world.remote[DocumentId("n" + std::to_string(world.next++))] = {.path = name,
                                                                    .hash = text_of_number(read.below(5))};
    return;
  }
  ++there->revision;  // 5: nothing else, as a new title leaves it
  if (choice == 0) there->hash = text_of_number(read.below(5));
  if (choice == 1) there->gone = true;
  if (choice == 2) {
    const std::string to = world_names[read.below(world_names.size())];
    if (to != "e\u0301.md" && fits(remote_paths(world), to)) there->path = to;
  }
}

/// A path that comes and is ignored here: the survey takes it out before the plan.
bool goes_where_nothing_is_written(const World& world, const DocumentId& document) {
  const RemoteDocument& remote = world.remote.at(document);
  const auto base = world.base.documents.find(document);
  const bool arrives = base == world.base.documents.end() || base->second.path.text() != remote.path;
  return !remote.gone && arrives && world.ignored.contains(remote.path);
}

/// Of some files the file system knows no birth time.
FileId id_of(std::uint64_t inode) {
  return {.inode = inode, .device = 1, .born_ns = inode % 4 == 0 ? 0 : static_cast<std::int64_t>(inode)};
}

}  // namespace

Sha256 text_of_number(std::size_t number) {
  static const std::vector<Sha256> texts = [] {
    std::vector<Sha256> made;
    for (int i = 0; i < 10; ++i) made.push_back(Sha256::of("text " + std::to_string(i)));
    return made;
  }();
  return texts.at(number);
}

bool fits(const std::vector<std::string>& taken, const std::string& path) {
  const std::string key = key_of(path);
  for (const std::string& other : taken) {
    const std::string other_key = key_of(other);
    if (key == other_key || key.starts_with(other_key + "/") || other_key.starts_with(key + "/")) return false;
  }
  return true;
}

std::vector<std::string> local_paths(const World& world) {
  std::vector<std::string> out;
  for (const auto& [path, file] : world.local) out.push_back(path);
  return out;
}
std::vector<std::string> remote_paths(const World& world) {
  std::vector<std::string> out;
  for (const auto& [id, document] : world.remote) {
    if (!document.gone && !document.path.empty()) out.push_back(document.path);
  }
  return out;
}

World make_world(const WorldScript& script) {
  ScriptReader read(script);
  World world;
  const std::size_t documents = read.below(6);
  for (std::size_t i = 0; i < documents; ++i) {
    const std::string name = world_names[read.below(world_names.size())];
    if (name == "e\u0301.md" || !fits(local_paths(world), name)) continue;
    const Sha256 hash = text_of_number(read.below(5));
    const DocumentId id{"b" + std::to_string(i)};
    world.local[name] = {hash, 1 + i};
    world.inodes[id] = 1 + i;
    world.remote[id] = {.path = name, .hash = hash};
    world.base.documents.emplace(id, Entry{.path = *RelativePath::parse(name), .hash = hash, .revision = {1}});
  }
  std::size_t here = 0;
  std::size_t there = 0;
  while (read.more()) {
    if (read.below(2) == 0) {
      if (here++ < max_edits) change_here(read, world);
    } else if (there++ < max_edits) {
      change_there(read, world);
    }
  }
  return world;
}

LocalTree local_of(const World& world) {
  FoundTree found;
  for (const auto& [path, file] : world.local) {
    if (!world.ignored.contains(path))
      found.files.push_back({*RelativePath::parse(path), file.hash, id_of(file.inode)});
  }
  const auto ignored = [&](const RelativePath& path) { return world.ignored.contains(path.string()); };
  const auto files = [&] {
    std::map<DocumentId, FileId> ids;
    for (const auto& [document, inode] : world.inodes) ids[document] = id_of(inode);
    return ids;
  };
  // A text is one line here: equal, or not alike.
  const auto base_text = [&](const DocumentId& document) {
    return std::optional(world.base.documents.at(document).hash.hex());
  };
  const auto file_text = [&](const RelativePath& path) {
    return std::optional(world.local.at(path.string()).hash.hex());
  };
  LocalTree local =
      identify(world.base,
               found,
               {.ignored = ignored, .renames = {.files = files, .base_text = base_text, .file_text = file_text}});
  for (const auto& [document, remote] : world.remote) {
    if (world.base.documents.contains(document) && goes_where_nothing_is_written(world, document))
      local.unsyncable.emplace(document, SkipReason::ignored);
  }
  return local;
}

RemoteTree remote_of(const World& world) {
  RemoteTree tree;
  for (const auto& [id, document] : world.remote) {
    const auto base = world.base.documents.find(id);
    if (document.gone) {
      if (base != world.base.documents.end()) tree.gone[id] = {document.revision};
      continue;
    }
    // The disk's own spelling of the same name stays, as in a pull.
    const bool same_name =
        base != world.base.documents.end() && utf8::nfc(base->second.path.text()) == utf8::nfc(document.path);
    const RelativePath path = same_name ? base->second.path : *RelativePath::parse(document.path);
    const Entry entry{.path = path, .hash = document.hash, .revision = {document.revision}};
    if (base != world.base.documents.end() && base->second == entry) continue;
    if (goes_where_nothing_is_written(world, id)) {
      tree.refused.push_back({.path = document.path, .reason = SkipReason::ignored});
    } else {
      tree.changed.emplace(id, entry);
    }
  }
  return tree;
}

std::set<Sha256> texts_of(const World& world) {
  std::set<Sha256> texts;
  for (const auto& [path, file] : world.local) texts.insert(file.hash);
  for (const auto& [id, document] : world.remote) {
    if (!document.gone) texts.insert(document.hash);
  }
  return texts;
}

std::map<std::string, Sha256> tree_here(const World& world) {
  std::map<std::string, Sha256> files;
  for (const auto& [path, file] : world.local) files[utf8::nfc(path)] = file.hash;
  return files;
}

std::map<std::string, Sha256> tree_there(const World& world) {
  std::map<std::string, Sha256> files;
  for (const auto& [id, document] : world.remote) {
    if (!document.gone) files[document.path] = document.hash;
  }
  return files;
}

std::string render(const World& world, const Plan& plan) {
  std::string out;
  const auto brief = [](const Sha256& hash) { return " " + hash.hex().substr(0, 4); };
  for (const auto& [id, entry] : world.base.documents) {
    out += "base   " + id.text() + " " + entry.path.string() + brief(entry.hash) + "\n";
  }
  for (const auto& [path, file] : world.local) {
    out += "local  " + path + brief(file.hash) + " file " + std::to_string(file.inode) +
           (world.ignored.contains(path) ? " ignored\n" : "\n");
  }
  for (const auto& [id, document] : world.remote) {
    out += "remote " + id.text() + " " + document.path + brief(document.hash) + " " +
           std::to_string(document.revision) + (document.gone ? " gone\n" : "\n");
  }
  for (const Action& action : plan.actions) {
    out +=
        "plan   " + std::string(name(action.kind)) + " " + action.document.text() + " " + action.path.string() + "\n";
  }
  for (const Conflict& conflict : plan.conflicts) {
    out += "plan   conflict " + std::string(name(conflict.kind())) + " " + conflict.path.string() + "\n";
  }
  for (const Skipped& skipped : plan.skipped) out += "plan   skipped " + skipped.path + "\n";
  return out;
}

}  // namespace ws::sync::test
