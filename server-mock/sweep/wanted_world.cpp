#include "server-mock/sweep/wanted_world.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/suggestion.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/sweep/state_diff.hpp"

namespace ws::mock::sweep {
namespace {

constexpr std::size_t most_steps = 200'000;
constexpr std::size_t longest_shown = 60;

/// Which id of the state stands for which name or id of the wanted world; one for one.
class Bindings {
 public:
  bool bind(const std::string& wanted, const std::string& is) {
    const auto [there, is_new] = is_of_.emplace(wanted, is);
    if (!is_new) return there->second == is;
    if (wanted_of_.emplace(is, wanted).second) return true;
    is_of_.erase(there);
    return false;
  }

 private:
  std::map<std::string, std::string> is_of_ = {};
  std::map<std::string, std::string> wanted_of_ = {};
};

/// "$tides"
bool is_variable(std::string_view text) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return text.size() > 1 && text[0] == '$' && text[1] >= 'a' && text[1] <= 'z' &&
         std::ranges::all_of(text.substr(1), is_plain);
}

bool fit_texts(std::string_view wanted, std::string_view is, Bindings& bindings) {
  if (is_variable(wanted)) return bindings.bind(std::string(wanted), std::string(is));
  while (!wanted.empty() && !is.empty()) {
    const std::size_t wanted_id = id_length(wanted);
    const std::size_t is_id = id_length(is);
    const std::size_t wanted_time = time_length(wanted);
    const std::size_t is_time = time_length(is);
    if (wanted_id != 0 && is_id != 0) {
      if (!bindings.bind(std::string(wanted.substr(0, wanted_id)), std::string(is.substr(0, is_id)))) return false;
      wanted.remove_prefix(wanted_id);
      is.remove_prefix(is_id);
    } else if (wanted_time != 0 && is_time != 0) {
      wanted.remove_prefix(wanted_time);
      is.remove_prefix(is_time);
    } else {
      if (wanted.front() != is.front()) return false;
      wanted.remove_prefix(1);
      is.remove_prefix(1);
    }
  }
  return wanted.empty() && is.empty();
}

/// Objects are partial; lists are whole.
bool fit(const Json& wanted, const Json& is, Bindings& bindings) {
  if (wanted.is_string() && is.is_string()) {
    return fit_texts(wanted.get_ref<const std::string&>(), is.get_ref<const std::string&>(), bindings);
  }
  if (wanted.is_object() && is.is_object()) {
    for (const auto& [name, value] : wanted.items()) {
      const Json* const member = find(is, name);
      if (name.ends_with("_at")) continue;
      if (member == nullptr || !fit(value, *member, bindings)) return false;
    }
    return true;
  }
  if (wanted.is_array() && is.is_array()) {
    if (wanted.size() != is.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!fit(wanted[i], is[i], bindings)) return false;
    }
    return true;
  }
  return wanted == is;
}

bool fits_alone(const Json& wanted, const Json& is) {
  Bindings bindings;
  return fit(wanted, is, bindings);
}

std::string shown_value(const Json& value) {
  const std::string text = dump(value);
  return utf8::code_points(text) <= longest_shown ? text : std::string(utf8::prefix(text, longest_shown - 3)) + "...";
}

/// `document "Tides"`, or `document {"status":"open"}`
std::string named_row(const std::string& table, const Json& row) {
  for (const char* const name : {"title", "name", "original_file_name", "handle", "body", "prompt", "path", "email"}) {
    const auto text = find_text(row, name);
    if (text && !is_variable(*text)) return fmt::format("{} {}", noun_of(table), shown_value(*text));
  }
  return fmt::format("{} {}", noun_of(table), shown_value(row));
}

struct WantedRow {
  std::string table = {};
  const Json* wanted = nullptr;
  std::vector<std::size_t> places = {};  ///< the rows of the table that fit by themselves
};

/// Gives each wanted row a row of its own so that all ids fit. Tries the row with the fewest candidates first.
class Assignment {
 public:
  Assignment(const Json& state, std::vector<WantedRow>& rows) : state_(state), rows_(rows) {
    std::ranges::stable_sort(rows_, {}, [](const WantedRow& one) { return one.places.size(); });
  }

  bool try_all() { return place(0, Bindings()); }
  /// After a failure: the first row that no attempt got past.
  const WantedRow& stuck_at() const { return rows_[deepest_]; }
  const Bindings& bindings() const { return bindings_; }

 private:
  bool place(std::size_t at, const Bindings& bindings) {
    if (at == rows_.size()) {
      bindings_ = bindings;
      return true;
    }
    deepest_ = std::max(deepest_, at);
    const WantedRow& row = rows_[at];
    for (const std::size_t candidate : row.places) {
      if (++steps_ > most_steps) return false;
      if (taken_.contains({row.table, candidate})) continue;
      Bindings tried = bindings;
      if (!fit(*row.wanted, rows_of(state_, row.table)[candidate], tried)) continue;
      taken_.emplace(row.table, candidate);
      if (place(at + 1, tried)) return true;
      taken_.erase({row.table, candidate});
    }
    return false;
  }

  const Json& state_;
  std::vector<WantedRow>& rows_;
  std::set<std::pair<std::string, std::size_t>> taken_ = {};
  Bindings bindings_ = {};
  std::size_t deepest_ = 0;
  std::size_t steps_ = 0;
};

/// The row of the state that differs in the fewest members, and how.
std::string difference_of(const WantedRow& row, const Json& state) {
  const Json* nearest = nullptr;
  std::size_t least = row.wanted->size();
  for (const Json& one : rows_of(state, row.table)) {
    std::size_t far = 0;
    for (const auto& [name, value] : row.wanted->items()) {
      const Json* const member = find(one, name);
      far += member != nullptr && fits_alone(value, *member) ? 0 : 1;
    }
    const bool is_told = find_text(one, "title") == find_text(*row.wanted, "title") &&
                         find_text(one, "name") == find_text(*row.wanted, "name");
    if (far < least && is_told) {
      least = far;
      nearest = &one;
    }
  }
  const std::string name = named_row(row.table, *row.wanted);
  if (nearest == nullptr) return name + " is missing";
  std::string text;
  for (const auto& [member, value] : row.wanted->items()) {
    const Json* const is = find(*nearest, member);
    if (is == nullptr || fits_alone(value, *is) || member.ends_with("_at")) continue;
    text += fmt::format("{}{} is {}, not {}", text.empty() ? ": " : ", ", member, shown_value(*is), shown_value(value));
  }
  return name + text;
}

/// The titles of documents and files are those of their nodes.
Json with_titles(const Json& state) {
  std::map<std::string, Json> titles;
  for (const Json& node : rows_of(state, "nodes")) {
    const Json* const title = find(node, "title");
    if (title != nullptr) titles.emplace(find_text(node, "id").value_or(""), *title);
  }
  Json titled = state;
  if (titles.empty()) return titled;
  for (Json& rows : titled["tables"]) {
    for (Json& row : rows) {
      const auto node = titles.find(find_text(row, "node_id").value_or(""));
      if (node != titles.end() && find(row, "title") == nullptr) row["title"] = node->second;
    }
  }
  return titled;
}

Result<void> check_table(const std::string& table, const Json& state) {
  std::vector<std::string> tables;
  if (const Json* const all = find(state, "tables"); all != nullptr) {
    for (const auto& [name, rows] : all->items()) tables.push_back(name);
  }
  if (std::ranges::find(tables, table) == tables.end()) {
    return fail(Failure::Kind::usage, fmt::format("there is no table \"{}\"", table), nearest_names(table, tables));
  }
  return {};
}

Result<void> check_names(const std::string& table, const Json& wanted, const Json& state) {
  WS_TRY(check_table(table, state));
  if (!wanted.is_array()) {
    return fail(Failure::Kind::usage, fmt::format("{} takes a list of rows", table), "- {title: Tides}");
  }
  if (wanted.empty()) {
    return fail(Failure::Kind::usage,
                fmt::format("{} names no row, so nothing of it would be checked", table),
                fmt::format("count: {{{}: 0}} wants none", table));
  }
  const Json& rows = rows_of(state, table);
  for (const Json& row : wanted) {
    if (!row.is_object() || row.empty()) {
      return fail(Failure::Kind::usage, fmt::format("a row of {} takes members: {{title: Tides}}", table));
    }
    if (rows.empty()) continue;
    std::vector<std::string> members;
    for (const auto& [name, value] : rows[0].items()) members.push_back(name);
    for (const auto& [name, value] : row.items()) {
      if (std::ranges::find(members, name) != members.end()) continue;
      return fail(
          Failure::Kind::usage, fmt::format("{} have no member \"{}\"", table, name), nearest_names(name, members));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> grade_world(const Json& wanted, const Json& whole_state) {
  const Json state = with_titles(whole_state);
  if (!wanted.is_object() || wanted.empty()) {
    return fail(Failure::Kind::usage, "a wanted world names rows of tables", "documents: [{title: Tides}]");
  }
  std::vector<std::string> found;
  std::vector<WantedRow> rows;
  const Json none = Json::object();
  const Json* const absent = find(wanted, "absent");
  const Json* const counts = find(wanted, "count");
  for (const auto& [name, part] : {std::pair("absent", absent), std::pair("count", counts)}) {
    if (part != nullptr && (!part->is_object() || part->empty()))
      return fail(Failure::Kind::usage, fmt::format("{} names tables", name), "count: {documents: 2}");
  }
  for (const auto& [table, list] : wanted.items()) {
    if (table == "absent" || table == "count") continue;
    WS_TRY(check_names(table, list, state));
    for (const Json& one : list) rows.push_back({.table = table, .wanted = &one});
  }
  for (WantedRow& row : rows) {
    const Json& all = rows_of(state, row.table);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (fits_alone(*row.wanted, all[i])) row.places.push_back(i);
    }
    if (row.places.empty()) found.push_back(difference_of(row, state));
  }
  std::erase_if(rows, [](const WantedRow& row) { return row.places.empty(); });
  Assignment assignment(state, rows);
  if (!assignment.try_all()) {
    const WantedRow& row = assignment.stuck_at();
    found.push_back(fmt::format("{}: no row has these values and refers to the objects that the other rows name",
                                named_row(row.table, *row.wanted)));
  }
  for (const auto& [table, list] : (absent == nullptr ? none : *absent).items()) {
    WS_TRY(check_names(table, list, state));
    for (const Json& one : list) {
      for (const Json& row : rows_of(state, table)) {
        Bindings bindings = assignment.bindings();
        if (!fit(one, row, bindings)) continue;
        found.push_back(fmt::format("{} is there, and should not be", named_row(table, row)));
        break;
      }
    }
  }
  for (const auto& [table, number] : (counts == nullptr ? none : *counts).items()) {
    WS_TRY(check_table(table, state));
    if (!number.is_number_integer()) return fail(Failure::Kind::usage, fmt::format("count.{} is no number", table));
    const std::size_t is = rows_of(state, table).size();
    if (number == Json(is)) continue;
    found.push_back(fmt::format("{} row{} in {}, not {}", is, is == 1 ? "" : "s", table, dump(number)));
  }
  return found;
}

Json wanted_world(const Json& whole_state) {
  const Json state = with_titles(whole_state);
  Json wanted = Json::object();
  Json counts = Json::object();
  const Json* const tables = find(state, "tables");
  if (tables == nullptr) return wanted;
  for (const auto& [table, rows] : tables->items()) {
    if (!is_compared(table) || rows.empty()) continue;
    counts[table] = rows.size();
    for (const Json& row : rows) {
      Json kept = Json::object();
      for (const auto& [name, value] : row.items()) {
        if (is_compared(table, name)) kept[name] = value;
      }
      wanted[table].push_back(std::move(kept));
    }
  }
  wanted["count"] = std::move(counts);
  return wanted;
}

}  // namespace ws::mock::sweep
