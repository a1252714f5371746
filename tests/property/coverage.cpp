#include "tests/property/coverage.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <sys/stat.h>

#include "api-client/base/utf8.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::property {
namespace {

constexpr std::array happenings = {
    "created", "edited", "renamed", "renamed+edited", "recased", "recoded", "removed", "folder"};
constexpr std::array features = {"run",
                                 "pull",
                                 "push",
                                 "commit",
                                 "restore",
                                 "mv",
                                 "links fix",
                                 "undo",
                                 "redo",
                                 "undo all",
                                 "resolve",
                                 "watch",
                                 "viewer",
                                 "leave",
                                 "links: keep",
                                 "rule set",
                                 "rule removed",
                                 "attachments: off",
                                 "attachments: all"};
constexpr std::array orders = {"here, then here", "here, then there", "there, then here", "there, then there"};

std::string key_of(const std::string& path) {
  const auto parsed = sync::RelativePath::parse(path);
  return parsed ? parsed->twin_key() : path;
}

bool leaves_its_path(Happening what) {
  return what == Happening::removed || what == Happening::became_folder || what == Happening::renamed ||
         what == Happening::renamed_and_edited;
}

/// Every cell of a feature, those that cannot be among them.
std::vector<Cell> cells_of(Feature feature) {
  std::vector<Cell> cells;
  for (const bool picture : {false, true}) {
    for (std::size_t order = 0; order < orders.size(); ++order) {
      for (std::size_t first = 0; first < happenings.size(); ++first) {
        for (std::size_t next = 0; next < happenings.size(); ++next) {
          cells.push_back({.first = static_cast<Happening>(first),
                           .next = static_cast<Happening>(next),
                           .is_picture = picture,
                           .feature = feature,
                           .trees = static_cast<Trees>(order)});
        }
      }
    }
  }
  return cells;
}

}  // namespace

bool names_picture(const std::string& path) { return path.ends_with(".png"); }

std::string_view cannot_be(const Cell& cell) {
  const bool is_one_tree = cell.trees == Trees::here_here || cell.trees == Trees::there_there;
  const bool is_gone = cell.first == Happening::removed || cell.first == Happening::became_folder;
  if (is_one_tree && is_gone && cell.next != Happening::created) return "what is gone is only created again";
  if (is_one_tree && !leaves_its_path(cell.first) && cell.next == Happening::created)
    return "where something is, nothing is created";
  if (!is_one_tree && (cell.first == Happening::created) != (cell.next == Happening::created))
    return "what one side made anew, the other does not know yet";
  const auto is_there = [&](Happening what) {
    return (cell.first == what && (cell.trees == Trees::there_there || cell.trees == Trees::there_here)) ||
           (cell.next == what && (cell.trees == Trees::there_there || cell.trees == Trees::here_there));
  };
  if (is_there(Happening::recoded)) return "the service keeps names in one Unicode form";
  if (cell.is_picture && is_there(Happening::renamed_and_edited))
    return "the list of files knows a renamed one by its bytes: another went, and a new one came";
  return "";
}

const std::vector<Cell>& pairs() {
  static const std::vector<Cell> all = [] {
    std::vector<Cell> reachable = cells_of(Feature::run);
    std::erase_if(reachable, [](const Cell& cell) { return !cannot_be(cell).empty(); });
    return reachable;
  }();
  return all;
}

std::string render(const Cell& cell) {
  const std::string_view order = orders[static_cast<std::size_t>(cell.trees)];
  const std::size_t comma = order.find(',');
  return fmt::format("{}: {} {}{} {}",
                     cell.is_picture ? "picture" : "note",
                     happenings[static_cast<std::size_t>(cell.first)],
                     order.substr(0, comma),
                     ", then",
                     happenings[static_cast<std::size_t>(cell.next)]) +
         std::string(order.substr(comma + 6));
}

std::uint64_t Coverage::count_of(const Cell& cell) const {
  const auto found = cells_.find(cell);
  return found == cells_.end() ? 0 : found->second;
}

std::string Coverage::table(std::uint64_t first_seed, std::uint64_t stories) const {
  const double bar = static_cast<double>(stories) / 1000;
  std::string rows;
  constexpr std::size_t most_named = 60;
  std::vector<std::string> thin;
  std::vector<std::uint64_t> counts;
  std::map<std::string_view, std::uint64_t> impossible;
  for (const Cell& one : cells_of(Feature::run)) {
    if (one.trees == Trees::there_here || one.trees == Trees::there_there) continue;
    Cell other = one;
    other.trees = one.trees == Trees::here_here ? Trees::there_there : Trees::there_here;
    std::string row = fmt::format("| {}, {} | {} | {} |",
                                  happenings[static_cast<std::size_t>(one.first)],
                                  happenings[static_cast<std::size_t>(one.next)],
                                  one.is_picture ? "picture" : "note",
                                  one.trees == Trees::here_here ? "one" : "both");
    bool is_ever = false;
    for (std::size_t feature = 0; feature < features.size(); ++feature) {
      std::optional<std::uint64_t> least;
      for (Cell cell : {one, other}) {
        cell.feature = static_cast<Feature>(feature);
        if (const std::string_view why = cannot_be(cell); !why.empty()) {
          ++impossible[why];
          continue;
        }
        const std::uint64_t count = count_of(cell);
        counts.push_back(count);
        least = std::min(count, least.value_or(count));
        if (static_cast<double>(count) < bar)
          thin.push_back(fmt::format("- {}, {}: {}\n", features[feature], render(cell), count));
      }
      row += least ? fmt::format(" {} |", *least) : " - |";
      is_ever = is_ever || least;
    }
    if (is_ever) rows += row + "\n";
  }
  std::sort(counts.begin(), counts.end());
  std::string out = fmt::format(
      "# What the stories of vaults met\n\nMade by `./dev soak --coverage` from {} stories, seeds from {}; README.md "
      "here "
      "tells how.\nThe bar is 100 in 100,000 stories: here {:.1f}. Of {} cells that can be reached, {} are below it, "
      "{} of "
      "them with no story\nat all; the median is {}. Of few stories, a small count tells little.\n\nIn a cell: the "
      "smaller "
      "count of the two orders (here first, or there first; all here, or all there).\n\n"
      "| what happened, and next | of | trees |",
      stories,
      first_seed,
      bar,
      counts.size(),
      thin.size(),
      std::count(counts.begin(), counts.end(), 0U),
      counts[counts.size() / 2]);
  for (const char* const feature : features) out += fmt::format(" {} |", feature);
  out += "\n|---|---|---|";
  for (std::size_t i = 0; i < features.size(); ++i) out += "---|";
  out += "\n" + rows + "\n## Below the bar\n\n" + (thin.empty() ? "None.\n" : "");
  for (std::size_t i = 0; i < std::min(thin.size(), most_named); ++i) out += thin[i];
  if (thin.size() > most_named) out += fmt::format("- and {} more: the table shows them\n", thin.size() - most_named);
  out += "\n## What cannot be\n\n";
  for (const auto& [why, cells] : impossible) out += fmt::format("- {} cells: {}.\n", cells, why);
  return out;
}

Follower::Side Follower::here(const Observation& observation) {
  Side side;
  for (const auto& [path, file] : observation.files) {
    const bool is_entry = (path.ends_with(".md") || names_picture(path)) && path.front() != '.' && S_ISREG(file.mode);
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
      const std::string folder = old.path + "/";
      const bool is_folder =
          std::any_of(now.begin(), now.end(), [&](const auto& each) { return each.second.path.starts_with(folder); });
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
    const bool same_name = moved && key_of(place.path) == key_of(old.path);
    const bool recased = same_name && place.path.size() == old.path.size();
    const bool edited = place.text != old.text;
    const bool is_below = place.path.starts_with(old.path + "/");  // a row of the same bytes
    tell(token,
         old.path,
         is_below          ? Happening::became_folder
         : recased         ? Happening::recased
         : same_name       ? Happening::recoded
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
  count(events_, features_met, coverage);
  for (const Feature feature : since_) {
    if (!features_met.contains(feature)) count(events_, {feature}, coverage);
  }
  for (const Feature feature : {Feature::undo, Feature::redo, Feature::undo_all, Feature::resolve, Feature::leave}) {
    if (features_met.contains(feature)) count(last_, {feature}, coverage);
  }
  const bool is_undo = features_met.contains(Feature::undo);  // a redo may follow, which is about the same
  if (!is_undo || !events_.empty()) last_ = events_;
}

void Follower::count(const Events& met, const std::set<Feature>& features_met, Coverage& coverage) {
  for (const auto& [key, events] : met) {
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

void Follower::go_on(const Observation& now, Feature command) {
  since_.insert(command);
  std::map<std::string, std::string> keys;  // by path
  const auto learn = [&](const std::string& token, const std::string& path) {
    if (const auto name = names_.find(token); name != names_.end()) keys[path] = name->second;
  };
  for (const auto& [document, row] : now.base) learn("document " + document.text(), row.entry.path.string());
  for (const auto& [path, hash] : now.listed) learn("row " + path, path);
  for (const auto& [token, place] : here_) learn(token, place.path);
  here_ = here(now);
  there_ = there(now);
  for (const auto& [token, place] : here_) {
    if (const auto key = keys.find(place.path); key != keys.end()) names_.emplace(token, key->second);
  }
}

void Follower::start(const Observation& now) {
  here_ = here(now);
  there_ = there(now);
  events_.clear();
  since_.clear();
  names_.clear();
  std::set<std::string> agreed;
  for (const auto& [document, row] : now.base) {
    const std::string key = key_of(row.entry.path.string());
    names_["document " + document.text()] = key;
    agreed.insert(key);
  }
  for (const auto& [path, hash] : now.listed) {
    names_["row " + path] = key_of(path);
    agreed.insert(key_of(path));
  }
  for (const auto& [token, place] : here_) {
    if (const std::string key = key_of(place.path); agreed.contains(key)) names_[token] = key;
  }
}

}  // namespace ws::property
