#include <utility>
#include <vector>

#include "server-mock/faults/operation_names.hpp"

namespace ws::mock {
namespace {

/// One step of a pattern: a character, or any number of them.
struct GlobStep {
  enum class Kind { character, within_segment, across_segments } kind = Kind::character;
  char character = 0;
};

std::vector<GlobStep> steps_of(std::string_view pattern) {
  using Kind = GlobStep::Kind;
  std::vector<GlobStep> steps;
  while (!pattern.empty()) {
    const std::size_t close = pattern.front() == '{' ? pattern.find('}') : std::string_view::npos;
    if (pattern.starts_with("**")) {
      steps.push_back({.kind = Kind::across_segments});
      pattern.remove_prefix(2);
    } else if (pattern.front() == '*' || close != std::string_view::npos) {
      steps.push_back({.kind = Kind::within_segment});
      pattern.remove_prefix(close == std::string_view::npos ? 1 : close + 1);
    } else {
      steps.push_back({.character = pattern.front()});
      pattern.remove_prefix(1);
    }
  }
  return steps;
}

/// Whether a step can stand for what the other one stands for, and stay.
bool takes(const GlobStep& many, const GlobStep& one) {
  using Kind = GlobStep::Kind;
  if (many.kind == Kind::character) return false;
  return many.kind == Kind::across_segments || one.kind != Kind::character || one.character != '/';
}

}  // namespace

// From the ends on: whether what is left of both can be the same text. O(one * other).
bool globs_meet(std::string_view one, std::string_view other) {
  using Kind = GlobStep::Kind;
  const std::vector<GlobStep> a = steps_of(one);
  const std::vector<GlobStep> b = steps_of(other);
  std::vector<bool> below;
  for (std::size_t i = a.size() + 1; i-- > 0;) {
    std::vector<bool> row(b.size() + 1, false);
    for (std::size_t j = b.size() + 1; j-- > 0;) {
      const bool has_a = i < a.size();
      const bool has_b = j < b.size();
      bool meets = !has_a && !has_b;
      if (has_a && a[i].kind != Kind::character)
        meets = meets || below[j] || (has_b && takes(a[i], b[j]) && row[j + 1]);
      if (has_b && b[j].kind != Kind::character)
        meets = meets || row[j + 1] || (has_a && takes(b[j], a[i]) && below[j]);
      if (has_a && has_b && a[i].kind == Kind::character && b[j].kind == Kind::character) {
        meets = a[i].character == b[j].character && below[j + 1];
      }
      row[j] = meets;
    }
    below = std::move(row);
  }
  return below[0];
}

// For each prefix of the pattern the set of matching prefixes of the text: O(pattern * text).
bool glob_matches(std::string_view pattern, std::string_view text) {
  std::vector<bool> reached(text.size() + 1, false);
  reached[0] = true;
  const std::size_t last_brace = pattern.rfind('}');
  const char* const braces_end = last_brace == std::string_view::npos ? nullptr : pattern.data() + last_brace;
  while (!pattern.empty()) {
    const bool deep = pattern.starts_with("**");
    std::size_t taken = 0;
    if (pattern.front() == '*') taken = deep ? 2 : 1;
    if (pattern.front() == '{' && pattern.data() < braces_end) taken = pattern.find('}') + 1;
    std::vector<bool> next(text.size() + 1, false);
    for (std::size_t at = 0; at <= text.size(); ++at) {
      if (taken == 0) {
        next[at] = at > 0 && reached[at - 1] && text[at - 1] == pattern.front();
      } else {
        next[at] = reached[at] || (at > 0 && next[at - 1] && (deep || text[at - 1] != '/'));
      }
    }
    reached = std::move(next);
    pattern.remove_prefix(taken == 0 ? 1 : taken);
  }
  return reached[text.size()];
}

}  // namespace ws::mock
