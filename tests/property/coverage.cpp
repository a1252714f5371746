#include "tests/property/coverage.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <sys/stat.h>

#include "api-client/base/utf8.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::property {
namespace {

constexpr std::array happenings = {"created", "edited", "renamed", "renamed+edited", "recased", "removed", "folder"};
constexpr std::array features = {"run",
                                 "pull",
                                 "push",
                                 "commit",
                                 "restore",
                                 "mv",
                                 "links fix",
                                 "undo",
                                 "resolve",
                                 "watch",
                                 "links: keep",
                                 "rule set",
                                 "rule removed",
                                 "attachments: off",
                                 "attachments: all"};
constexpr std::array trees = {"here, here", "here, there", "there, here", "there, there"};

bool is_picture(const std::string& path) { return path.ends_with(".png"); }

std::string key_of(const std::string& path) {
  const auto parsed = sync::RelativePath::parse(path);
  return parsed ? parsed->twin_key() : path;
}

/// Why a pair of happenings cannot be one entry's; empty: it can.
std::string_view cannot_be(const Cell& cell) {
  const bool is_one_tree = cell.trees == Trees::here_here || cell.trees == Trees::there_there;
  const bool is_gone = cell.first == Happening::removed || cell.first == Happening::became_folder;
  if (is_one_tree && is_gone && cell.next != Happening::created) return "what is gone is only created again";
  if (is_one_tree && !is_gone && cell.next == Happening::created) return "what is there is not created";
  if (!is_one_tree && (cell.first == Happening::created) != (cell.next == Happening::created))
    return "what one side made anew, the other does not know yet";
  const bool is_there = cell.trees == Trees::there_there || cell.trees == Trees::there_here;
  const bool is_folder_there =
      (is_there && cell.first == Happening::became_folder) ||
      ((cell.trees == Trees::there_there || cell.trees == Trees::here_there) && cell.next == Happening::became_folder);
  if (cell.is_picture && is_folder_there) return "the list holds no folders";
  return "";
}

}  // namespace

void Coverage::add(const Coverage& other) {
  for (const auto& [cell, count] : other.cells_) cells_[cell] += count;
}

std::string Coverage::table(std::uint64_t bar) const {
  std::string out =
      "| what the command was or met | of | trees | cells | thinnest | count |\n|---|---|---|---|---|---|\n";
  std::string thin;
  for (std::size_t feature = 0; feature < features.size(); ++feature) {
    for (const bool picture : {false, true}) {
      for (std::size_t order = 0; order < trees.size(); ++order) {
        std::size_t cells = 0;
        std::uint64_t least = 0;
        std::string which;
        for (std::size_t first = 0; first < happenings.size(); ++first) {
          for (std::size_t next = 0; next < happenings.size(); ++next) {
            const Cell cell{.first = static_cast<Happening>(first),
                            .next = static_cast<Happening>(next),
                            .is_picture = picture,
                            .feature = static_cast<Feature>(feature),
                            .trees = static_cast<Trees>(order)};
            if (!cannot_be(cell).empty()) continue;
            const auto found = cells_.find(cell);
            const std::uint64_t count = found == cells_.end() ? 0 : found->second;
            const std::string pair = fmt::format("{}, {}", happenings[first], happenings[next]);
            if (cells++ == 0 || count < least) {
              least = count;
              which = pair;
            }
            if (count < bar) {
              thin += fmt::format("{} | {} | {} | {} | {}\n",
                                  features[feature],
                                  picture ? "picture" : "note",
                                  trees[order],
                                  pair,
                                  count);
            }
          }
        }
        out += fmt::format("| {} | {} | {} | {} | {} | {} |\n",
                           features[feature],
                           picture ? "pictures" : "notes",
                           trees[order],
                           cells,
                           which,
                           least);
      }
    }
  }
  return out + fmt::format("\nCells with fewer than {}:\n", bar) + (thin.empty() ? "none\n" : thin);
}

Follower::Side Follower::here(const Observation& observation) {
  Side side;
  for (const auto& [path, file] : observation.files) {
    const bool is_entry = (path.ends_with(".md") || is_picture(path)) && path.front() != '.' && S_ISREG(file.mode);
    if (is_entry) side[fmt::format("inode {}", file.inode)] = {path, file.text};
  }
  return side;
}

Follower::Side Follower::there(const Observation& observation) {
  Side side;
  for (const auto& [id, document] : observation.documents) side["document " + id] = {document.path, document.text};
  for (const auto& [path, hash] : observation.listed) side["row " + path] = {path, hash};
  return side;
}

void Follower::compare(const Side& before, const Side& now, bool is_here) {
  const auto tell = [&](const std::string& token, const std::string& path, Happening what) {
    const auto name = names_.find(token);
    events_[name == names_.end() ? key_of(path) : name->second].push_back({what, is_here});
  };
  // An editor that saves by a new file, and a row of the list that took another path, are the same entry.
  std::map<std::string, std::string> came;
  std::map<std::string, std::string> bytes_that_came;
  for (const auto& [token, place] : now) {
    if (before.contains(token)) continue;
    came[place.path] = token;
    if (token.starts_with("row ")) bytes_that_came[place.text] = token;
  }
  std::set<std::string> taken;
  for (const auto& [token, old] : before) {
    auto found = now.find(token);
    if (found == now.end() && came.contains(old.path)) found = now.find(came.at(old.path));
    if (found == now.end() && token.starts_with("row ") && bytes_that_came.contains(old.text))
      found = now.find(bytes_that_came.at(old.text));
    if (found == now.end()) {
      const bool is_folder = std::any_of(
          now.begin(), now.end(), [&](const auto& each) { return each.second.path.starts_with(old.path + "/"); });
      tell(token, old.path, is_folder ? Happening::became_folder : Happening::removed);
      continue;
    }
    if (found->first != token) {
      taken.insert(found->first);
      if (const auto name = names_.find(token); name != names_.end()) names_[found->first] = name->second;
    }
    const Place& place = found->second;
    if (place == old) continue;
    const bool moved = place.path != old.path;
    const bool recased = moved && key_of(place.path) == key_of(old.path);
    const bool edited = place.text != old.text;
    tell(token,
         old.path,
         recased           ? Happening::recased
         : moved && edited ? Happening::renamed_and_edited
         : moved           ? Happening::renamed
                           : Happening::edited);
  }
  for (const auto& [token, place] : now) {
    if (!before.contains(token) && !taken.contains(token)) tell(token, place.path, Happening::created);
  }
}

void Follower::look(const Observation& now) {
  Side here_now = here(now);
  Side there_now = there(now);
  compare(here_, here_now, true);
  compare(there_, there_now, false);
  here_ = std::move(here_now);
  there_ = std::move(there_now);
}

void Follower::command(const std::set<Feature>& features_met, Coverage& coverage) {
  for (const auto& [key, events] : events_) {
    for (std::size_t i = 1; i < events.size(); ++i) {
      const Event& first = events[i - 1];
      const Event& next = events[i];
      const Trees order = first.is_here ? (next.is_here ? Trees::here_here : Trees::here_there)
                                        : (next.is_here ? Trees::there_here : Trees::there_there);
      for (const Feature feature : features_met) {
        coverage.count({.first = first.what,
                        .next = next.what,
                        .is_picture = key.ends_with(".png"),
                        .feature = feature,
                        .trees = order});
      }
    }
  }
}

void Follower::start(const Observation& now) {
  here_ = here(now);
  there_ = there(now);
  events_.clear();
  names_.clear();
  std::map<std::string, std::string> documents;
  for (const auto& [document, row] : now.base) {
    const std::string key = key_of(row.entry.path.string());
    names_["document " + document.text] = key;
    documents[row.entry.path.string()] = key;
  }
  for (const auto& [path, hash] : now.listed) {
    names_["row " + path] = key_of(path);
    documents[path] = key_of(path);
  }
  for (const auto& [token, place] : here_) {
    const auto agreed = documents.find(place.path);
    if (agreed != documents.end()) names_[token] = agreed->second;
  }
}

}  // namespace ws::property
