/// Worlds for the planner's laws: one tree, then local and remote by random edits, from a small alphabet, so that
/// clashes and equal edits occur. A world is read off a string of bytes: it can be shrunk, and a seed reproduces it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sync-engine/model/plan.hpp"

namespace ws::sync::test {

using WorldScript = std::vector<std::uint8_t>;

struct LocalFile {
  Sha256 hash = {};
  std::uint64_t inode = 0;
  bool operator==(const LocalFile&) const = default;
};
struct RemoteDocument {
  std::string path = {};
  Sha256 hash = {};
  std::uint64_t revision = 1;
  bool gone = false;
  bool operator==(const RemoteDocument&) const = default;
};

struct World {
  BaseTree base = {};
  std::map<DocumentId, std::uint64_t> inodes = {};  ///< of the base's files, when both sides last agreed
  std::map<std::string, LocalFile> local = {};
  std::set<std::string> ignored = {};  ///< paths that a rule hides here
  std::map<DocumentId, RemoteDocument> remote = {};
  std::uint64_t next = 100;  ///< numbers of files and documents to come
};

/// At most 12 edits a side: edits, deletes, renames of files and folders, swaps, other cases and forms of a name, files
/// that become folders, rules that hide a file, and touches that change nothing but a stamp or a revision.
World make_world(const WorldScript& script);

Sha256 text_of_number(std::size_t number);
/// Whether a path is free of twins, of a file above it and of files below it.
bool fits(const std::vector<std::string>& taken, const std::string& path);
std::vector<std::string> local_paths(const World& world);
std::vector<std::string> remote_paths(const World& world);

LocalTree local_of(const World& world);
RemoteTree remote_of(const World& world);
/// Every text that is on a side.
std::set<Sha256> texts_of(const World& world);
/// By name in NFC, as the service has them.
std::map<std::string, Sha256> tree_here(const World& world);
std::map<std::string, Sha256> tree_there(const World& world);

std::string render(const World& world, const Plan& plan);

}  // namespace ws::sync::test
