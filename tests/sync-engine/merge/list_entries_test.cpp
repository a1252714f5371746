// The rule of list entries: cases by name, and random lists that both sides edited. A failure prints its seed:
// `WS_SEED` repeats it, `WS_CASES` says how many.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sync-engine/merge/merge.hpp"
#include "tests/support/random_cases.hpp"

namespace ws::sync {
namespace {

using Rows = std::vector<std::string>;

constexpr const char* no_merge = "(conflict)";

std::string list_merge(const std::string& base, const std::string& ours, const std::string& theirs) {
  const auto merge = merge::merge_markdown(base, ours, theirs);
  REQUIRE(merge);
  return merge->is_clean() ? merge->text() : no_merge;
}

/// How a list is written.
struct ListForm {
  bool is_loose = false;
  enum class Kind { bullets, numbers, links, rows, references } kind = Kind::bullets;

  std::string text(const Rows& rows) const {
    std::string text = kind == Kind::rows ? "| a | b |\n|---|---|\n" : "# List\n\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0 && is_loose && kind != Kind::rows) text += "\n";
      text += kind == Kind::numbers ? std::to_string(i + 1) + ". " + rows[i] : rows[i];
      text += "\n";
    }
    return text + "\nThe end.\n";
  }
  std::string row(const std::string& name, std::size_t words) const {
    std::string rest;
    for (std::size_t i = 0; i < words; ++i) rest += " " + name + std::to_string(i);
    switch (kind) {
      case Kind::bullets: return "- " + name + rest;
      case Kind::numbers: return name + rest;
      case Kind::links: return "- [" + name + "](https://" + name + ".example/)" + rest;
      case Kind::rows: return "| " + name + " |" + rest + " |";
      case Kind::references: return "[" + name + "]: https://" + name + ".example/";
    }
    return {};
  }
};

/// One list, and what each side does to it.
class ListStory {
 public:
  explicit ListStory(std::uint64_t seed) : random_(seed) {
    form.is_loose = one_in(3);
    form.kind = static_cast<ListForm::Kind>(below(5));
    const std::size_t count = below(7);
    for (std::size_t i = 0; i < count; ++i) base.push_back(form.row(name(), 4));
  }

  /// What a side makes of the base. `only_news`: nothing is edited or removed.
  Rows side(bool only_news) {
    Rows rows;
    for (std::size_t i = 0; i <= base.size(); ++i) {
      while (one_in(3)) {
        std::string row = form.row(one_in(6) ? "shared" + std::to_string(i) : name(), 3);
        if (std::ranges::find(rows, row) == rows.end()) rows.push_back(std::move(row));
      }
      if (i == base.size()) break;
      if (!only_news && one_in(6)) continue;
      rows.push_back(!only_news && one_in(6) && form.kind != ListForm::Kind::references ? edited(base[i]) : base[i]);
    }
    return rows;
  }

  ListForm form;
  Rows base;

 private:
  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::string name() { return "n" + std::to_string(++names_) + std::string(1, static_cast<char>('a' + below(26))); }
  std::string edited(const std::string& row) {
    const std::size_t last = row.rfind(' ', row.size() - 3);
    return row.substr(0, last) + " edit" + std::to_string(++names_) + (form.kind == ListForm::Kind::rows ? " |" : "");
  }

  std::mt19937_64 random_;
  std::size_t names_ = 0;
};

/// The entries of a text, without the numbers of an ordered list.
Rows rows_in(const std::string& text) {
  Rows rows;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line == "# List" || line == "The end." || line == "| a | b |" || line == "|---|---|") continue;
    if (const std::size_t dot = line.find(". "); dot != std::string::npos && dot < 3) line.erase(0, dot + 2);
    rows.push_back(std::move(line));
  }
  return rows;
}

bool is_in(const Rows& rows, const std::string& row) { return std::ranges::find(rows, row) != rows.end(); }

/// Empty: each entry that came in stands once, each that was removed is gone, each edit is in it, in the base's order.
std::string wrong_in(const Rows& base, const Rows& ours, const Rows& theirs, const Rows& result) {
  for (const Rows* side : {&ours, &theirs}) {
    for (const std::string& row : *side) {
      const bool is_replaced = is_in(base, row) && !(is_in(ours, row) && is_in(theirs, row));
      const auto count = std::ranges::count(result, row);
      if (!is_replaced && count != 1) return "stands " + std::to_string(count) + " times: " + row;
      if (is_replaced && count != 0) return "was edited or removed: " + row;
    }
  }
  Rows kept;
  for (const std::string& row : result) {
    if (is_in(base, row)) kept.push_back(row);
    if (!is_in(ours, row) && !is_in(theirs, row)) return "nobody wrote: " + row;
  }
  Rows wanted;
  for (const std::string& row : base) {
    if (is_in(kept, row)) wanted.push_back(row);
  }
  return kept == wanted ? "" : "another order";
}

}  // namespace

TEST_CASE("list entries: what both sides did to a list stands in the result, once and in order", "[sync-engine]") {
  const std::uint64_t first = test::number_from_environment("WS_SEED", 1);
  const std::uint64_t cases = test::number_from_environment("WS_CASES", 4000);
  std::size_t clean = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    ListStory story(seed);
    const bool only_news = seed % 2 == 0;
    const Rows our_rows = story.side(only_news);
    const Rows their_rows = story.side(only_news);
    const std::string base = story.form.text(story.base);
    const std::string ours = story.form.text(our_rows);
    const std::string theirs = story.form.text(their_rows);
    const std::string result = list_merge(base, ours, theirs);
    const std::string mirrored = list_merge(base, theirs, ours);
    CAPTURE(seed, base, ours, theirs, result, mirrored);
    REQUIRE((result == no_merge) == (mirrored == no_merge));
    if (result == no_merge) {
      // What was only brought in stays. Not where numbers moved on: equal lines at two places are a doubt.
      REQUIRE((!only_news || story.form.kind == ListForm::Kind::numbers));
      continue;
    }
    ++clean;
    const Rows rows = rows_in(result);
    REQUIRE(wrong_in(story.base, our_rows, their_rows, rows) == "");
    Rows other = rows_in(mirrored);
    Rows one = rows;
    std::ranges::sort(one);
    std::ranges::sort(other);
    REQUIRE(one == other);
    REQUIRE(result.ends_with("\n\nThe end.\n"));
    const bool has_gap = (base + ours + theirs).find("\n\n\n") != std::string::npos;
    // Where entries went, a blank line of theirs may stay.
    REQUIRE((!only_news || has_gap || result.find("\n\n\n") == std::string::npos));
  }
  CHECK(clean > cases / 2);
}

}  // namespace ws::sync
