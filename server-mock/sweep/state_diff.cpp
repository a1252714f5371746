#include "server-mock/sweep/state_diff.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

namespace ws::mock::sweep {
namespace {

constexpr std::array<std::string_view, 12> skipped_tables = {"device_authorizations",
                                                             "document_revisions",
                                                             "id_counters",
                                                             "idempotency_records",
                                                             "keys",
                                                             "meta",
                                                             "sync_entries",
                                                             "sync_plans",
                                                             "sync_pushes",
                                                             "sync_staged",
                                                             "uploads",
                                                             "users"};
// `answers_later` is how the mock keeps a switch, not something that a client makes.
constexpr std::array<std::string_view, 14> skipped_columns = {"answers_later",
                                                              "attempt",
                                                              "blob",
                                                              "change",
                                                              "client_id",
                                                              "error",
                                                              "fingerprint",
                                                              "lapses",
                                                              "path_key",
                                                              "position",
                                                              "revision",
                                                              "sequence",
                                                              "size_bytes",
                                                              "worker_id"};

bool is_skipped(std::string_view table, std::string_view column) {
  if (std::ranges::find(skipped_columns, column) != skipped_columns.end()) return true;
  if (column.ends_with("_at") || column.ends_with("_revision")) return true;
  // The hash of a text is redundant beside the text; that of a file represents its bytes, which the state does not
  // contain.
  return column.ends_with("_sha256") && !(table == "assets" && column == "content_sha256");
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether `text` begins with `form`, in which `h` matches a hexadecimal digit and `d` a digit.
bool fits(std::string_view text, std::string_view form) {
  if (text.size() < form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool good = form[i] == 'h' ? is_hex(text[i]) : form[i] == 'd' ? is_digit(text[i]) : text[i] == form[i];
    if (!good) return false;
  }
  return true;
}

constexpr std::string_view uuid_form = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
constexpr std::string_view time_form = "dddd-dd-ddTdd:dd:dd";

/// Length of the part of a time after the seconds: ".123Z", "+02:00".
std::size_t rest_of_time(std::string_view text) {
  std::size_t at = 0;
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && is_digit(text[at]);) ++at;
  }
  if (at < text.size() && text[at] == 'Z') return at + 1;
  if (fits(text.substr(at), "+dd:dd") || fits(text.substr(at), "-dd:dd")) return at + 6;
  return at;
}

/// A value with its ids removed; each is replaced by a byte 1.
struct Value {
  std::string_view column = {};
  std::string text = {};
  std::vector<std::size_t> ids = {};
  std::string shown = {};
};

struct StateRow {
  std::string table = {};
  std::vector<Value> values = {};
};

using Colour = std::uint64_t;

Colour mixed(Colour a, Colour b) {
  a ^= b + 0x9e3779b97f4a7c15ULL + (a << 6U) + (a >> 2U);
  a *= 0xbf58476d1ce4e5b9ULL;
  return a ^ (a >> 29U);
}

Colour hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

/// A state parsed into rows, with its ids numbered.
class State {
 public:
  explicit State(const Json& state) {
    const Json* tables = find(state, "tables");
    if (tables == nullptr || !tables->is_object()) return;
    for (const auto& [name, rows] : tables->items()) {
      if (!is_compared(name)) continue;
      for (const Json& row : rows) add(name, row);
    }
  }

  const std::vector<StateRow>& rows() const { return rows_; }
  const std::vector<std::string>& ids() const { return ids_; }
  bool knows(const std::string& id) const { return numbers_.contains(id); }

 private:
  void add(const std::string& table, const Json& row) {
    StateRow read = {.table = table};
    for (const auto& [column, value] : row.items()) {
      if (is_skipped(table, column)) continue;
      read.values.push_back(value_of(column, value));
    }
    rows_.push_back(std::move(read));
  }

  Value value_of(const std::string& column, const Json& json) {
    Value value = {.column = *columns_.insert(column).first};
    value.shown = json.is_string() ? json.get<std::string>() : dump(json);
    const std::string_view text = value.shown;
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view rest = text.substr(at);
      if (const std::size_t id = id_length(rest); id != 0) {
        value.ids.push_back(number_of(std::string(rest.substr(0, id))));
        value.text += '\x01';
        at += id;
      } else if (const std::size_t time = time_length(rest); time != 0) {
        value.text += '\x02';
        at += time;
      } else {
        value.text += text[at++];
      }
    }
    return value;
  }

  std::size_t number_of(std::string id) {
    const auto [found, is_new] = numbers_.emplace(std::move(id), ids_.size());
    if (is_new) ids_.push_back(found->first);
    return found->second;
  }

  std::vector<StateRow> rows_ = {};
  std::vector<std::string> ids_ = {};
  std::unordered_map<std::string, std::size_t> numbers_ = {};
  std::set<std::string> columns_ = {};
};

/// The row's content, with ids replaced by their colours.
Colour signature(const StateRow& row, const std::vector<Colour>& colours) {
  Colour all = hash_of(row.table);
  for (const Value& value : row.values) {
    all = mixed(all, mixed(hash_of(value.column), hash_of(value.text)));
    for (const std::size_t id : value.ids) all = mixed(all, colours[id]);
  }
  return all;
}

std::vector<Colour> first_colours(const State& state, const State* first) {
  std::vector<Colour> colours(state.ids().size(), 1);
  for (std::size_t i = 0; i < colours.size(); ++i) {
    if (first != nullptr && first->knows(state.ids()[i])) colours[i] = hash_of(state.ids()[i]);
  }
  return colours;
}

/// Refines the colours until they distinguish no more objects. The rounds are counted so that two states can be refined
/// equally often.
constexpr int rounds = 6;

std::vector<Colour> refined(const State& state, const std::vector<Colour>& begin) {
  std::vector<Colour> colours = begin;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Colour> sums(colours.size(), 0);
    for (const StateRow& row : state.rows()) {
      const Colour whole = signature(row, colours);
      Colour place = 0;
      for (const Value& value : row.values) {
        for (const std::size_t id : value.ids) sums[id] += mixed(mixed(whole, hash_of(value.column)), ++place);
      }
    }
    for (std::size_t i = 0; i < colours.size(); ++i) {
      if (begin[i] == 1) colours[i] = mixed(sums[i], 7);
    }
  }
  return colours;
}

/// The rows of `of` that are not in `others`, counting duplicates.
std::vector<const StateRow*> without(const State& of,
                                     const std::vector<Colour>& colours,
                                     const State& others,
                                     const std::vector<Colour>& other_colours) {
  std::unordered_map<Colour, int> there;
  for (const StateRow& row : others.rows()) ++there[signature(row, other_colours)];
  std::vector<const StateRow*> left;
  for (const StateRow& row : of.rows()) {
    if (there[signature(row, colours)]-- <= 0) left.push_back(&row);
  }
  return left;
}

/// The number of members in which two rows of one table differ; ids are compared if they are of the first state.
std::size_t distance(const StateRow& a,
                     const std::vector<Colour>& a_colours,
                     const StateRow& b,
                     const std::vector<Colour>& b_colours,
                     const Value** differs) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
    const Value& one = a.values[i];
    const Value& other = b.values[i];
    bool same = one.text == other.text && one.ids.size() == other.ids.size();
    for (std::size_t k = 0; same && k < one.ids.size(); ++k) same = a_colours[one.ids[k]] == b_colours[other.ids[k]];
    if (same) continue;
    ++count;
    if (differs != nullptr && *differs == nullptr) *differs = &one;
  }
  return count;
}

/// Rows that existed in the first state are the same object if their ids are equal.
bool is_same_object(const State& a, const StateRow& one, const State& b, const StateRow& other) {
  for (std::size_t i = 0; i < std::min(one.values.size(), other.values.size()); ++i) {
    if (one.values[i].column != "id" || one.values[i].ids.size() != 1 || other.values[i].ids.size() != 1) continue;
    return a.ids()[one.values[i].ids[0]] == b.ids()[other.values[i].ids[0]];
  }
  return false;
}

std::string title_of(const StateRow& row) {
  for (const std::string_view name :
       {"title", "name", "file_name", "original_file_name", "handle", "body", "prompt", "path"}) {
    for (const Value& value : row.values) {
      if (value.column == name && !value.shown.empty()) return value.shown.substr(0, 80);
    }
  }
  return {};
}

const Value* member(const StateRow& row, std::string_view column) {
  const auto found = std::ranges::find(row.values, column, &Value::column);
  return found == row.values.end() ? nullptr : &*found;
}

/// Whether the object existed in the first state with this value.
bool is_as_in(const State& before, const State& is, const StateRow& row, const Value& value) {
  return std::ranges::any_of(before.rows(), [&](const StateRow& old) {
    if (old.table != row.table || !is_same_object(before, old, is, row)) return false;
    const Value* was = member(old, value.column);
    return was != nullptr && was->shown == value.shown;
  });
}

/// A state with the colours of its rows.
struct Coloured {
  State state;
  std::vector<Colour> plain;
};

/// Finds in `extra` the changed version of `row`: it has the same id, or at most half of its members differ. Null:
/// none.
const StateRow* changed_row(const Coloured& was,
                            const StateRow& row,
                            const Coloured& is,
                            const std::vector<const StateRow*>& extra) {
  const StateRow* best = nullptr;
  std::size_t least = row.values.size() / 2 + 1;
  for (const StateRow* other : extra) {
    if (other->table != row.table) continue;
    const bool same = is_same_object(was.state, row, is.state, *other);
    const std::size_t far = same ? 0 : distance(row, was.plain, *other, is.plain, nullptr);
    if (far < least) {
      least = far;
      best = other;
    }
  }
  return best;
}

Difference change_between(
    const State& before, const Coloured& was, const StateRow& row, const Coloured& is, const StateRow& other) {
  const Value* differs = nullptr;
  distance(row, was.plain, other, is.plain, &differs);
  const Value* now = differs == nullptr ? nullptr : member(other, differs->column);
  const Value* id = member(other, "id");
  return {.kind = Difference::Kind::changed,
          .table = row.table,
          .column = differs == nullptr ? "" : std::string(differs->column),
          .was = differs == nullptr ? "" : differs->shown,
          .is = now == nullptr ? "" : now->shown,
          .title = title_of(row),
          .id = id == nullptr ? "" : id->shown,
          .is_as_before = now != nullptr && is_as_in(before, is.state, other, *now)};
}

void add_rows(std::vector<Difference>& found, Difference::Kind kind, const std::vector<const StateRow*>& rows) {
  for (const StateRow* row : rows) found.push_back({.kind = kind, .table = row->table, .title = title_of(*row)});
}

}  // namespace

std::vector<Difference> compare_states(const Json& first, const Json& reference, const Json& seen) {
  const State before(first);
  const State* known = first.is_null() ? nullptr : &before;
  const auto coloured = [known](const Json& from) {
    State state(from);
    std::vector<Colour> plain = first_colours(state, known);
    return Coloured{.state = std::move(state), .plain = std::move(plain)};
  };
  const Coloured was = coloured(reference);
  const Coloured is = coloured(seen);
  std::vector<const StateRow*> missing = without(was.state, was.plain, is.state, is.plain);
  std::vector<const StateRow*> extra = without(is.state, is.plain, was.state, was.plain);
  std::vector<Difference> found;
  std::erase_if(missing, [&](const StateRow* row) {
    const StateRow* const other = changed_row(was, *row, is, extra);
    if (other == nullptr) return false;
    found.push_back(change_between(before, was, *row, is, *other));
    std::erase(extra, other);
    return true;
  });
  add_rows(found, Difference::Kind::missing, missing);
  add_rows(found, Difference::Kind::extra, extra);
  if (!found.empty()) return found;
  add_rows(found,
           Difference::Kind::unlinked,
           without(was.state, refined(was.state, was.plain), is.state, refined(is.state, is.plain)));
  return found;
}

const Json& rows_of(const Json& state, std::string_view table) {
  static const Json none = Json::array();
  const Json* const tables = find(state, "tables");
  const Json* const rows = tables == nullptr ? nullptr : find(*tables, table);
  return rows == nullptr ? none : *rows;
}

bool is_compared(std::string_view table, std::string_view column) {
  const bool is_known =
      std::ranges::find(skipped_tables, table) == skipped_tables.end() && !table.starts_with("search_");
  return is_known && !is_skipped(table, column);
}

std::size_t id_length(std::string_view text) { return fits(text, uuid_form) ? uuid_form.size() : 0; }

std::size_t time_length(std::string_view text) {
  return fits(text, time_form) ? time_form.size() + rest_of_time(text.substr(time_form.size())) : 0;
}

std::string noun_of(const std::string& table) {
  static const std::map<std::string, std::string> nouns = {{"agent_events", "event"},
                                                           {"agents", "agent"},
                                                           {"assets", "file"},
                                                           {"comment_entries", "comment"},
                                                           {"comment_threads", "comment thread"},
                                                           {"conversations", "conversation"},
                                                           {"documents", "document"},
                                                           {"members", "membership"},
                                                           {"nodes", "node of the tree"},
                                                           {"organize_runs", "organization run"},
                                                           {"projects", "Project"},
                                                           {"questions", "question"},
                                                           {"shares", "share"},
                                                           {"sync_conflicts", "sync conflict"},
                                                           {"sync_sources", "sync source"},
                                                           {"test_runs", "test run"},
                                                           {"workspaces", "Workspace"}};
  const auto found = nouns.find(table);
  return found == nouns.end() ? table : found->second;
}

}  // namespace ws::mock::sweep
