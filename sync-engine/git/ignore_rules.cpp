#include "sync-engine/git/ignore_rules.hpp"

#include <string>

#include "sync-engine/git/library.hpp"

namespace ws::sync::git {
namespace {

/// What editors and office programs leave beside a file for a moment. Hidden names are passed over anyway.
constexpr std::string_view built_in = "~$*\n\\#*\\#\n*~\n";

bool is_built_in(std::string_view path) {
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (name.empty()) return false;
  return name.starts_with("~$") || name.back() == '~' || (name.size() > 1 && name.front() == '#' && name.back() == '#');
}

/// A folder's name as a pattern that means just it.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\' || c == '!' || c == '#' || c == ' ') out += '\\';
    out += c;
  }
  return out;
}

std::string_view without_trailing_spaces(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
    if (line.size() >= 2 && line[line.size() - 2] == '\\') break;
    line.remove_suffix(1);
  }
  return line;
}

}  // namespace

std::string anchored_rules(std::string_view folder, std::string_view text) {
  std::string out;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = without_trailing_spaces(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    const bool negated = line.front() == '!';
    if (negated) line.remove_prefix(1);
    if (line.empty()) continue;
    if (negated) out += '!';
    const std::size_t slash = line.find('/');
    const bool anchored = slash != std::string_view::npos && slash + 1 < line.size();
    if (!folder.empty()) {
      out += "/" + escaped(folder) + (anchored ? "/" : "/**/");
      if (line.front() == '/') line.remove_prefix(1);
    }
    out += line;
    out += '\n';
  }
  return out;
}

struct IgnoreRules::Impl {
  const Library* git = nullptr;
  git_repository* repository = nullptr;
};

IgnoreRules::IgnoreRules() = default;

IgnoreRules::~IgnoreRules() {
  if (impl_ != nullptr && impl_->repository != nullptr) impl_->git->repository_free(impl_->repository);
}

Result<void> IgnoreRules::add(std::string_view folder, std::string_view text) {
  const std::string rules = anchored_rules(folder, text);
  if (rules.empty()) return {};
  const std::lock_guard lock(mutex_);
  if (impl_ == nullptr) {
    WS_LET(const Library* git, library());
    auto made = std::make_unique<Impl>();
    made->git = git;
    if (git->repository_new(&made->repository) < 0) return fail(failure(*git, "read ignore rules"));
    impl_ = std::move(made);
    if (git->ignore_add_rule(impl_->repository, std::string(built_in).c_str()) < 0) {
      return fail(failure(*git, "read ignore rules"));
    }
  }
  if (impl_->git->ignore_add_rule(impl_->repository, rules.c_str()) < 0) {
    return fail(failure(*impl_->git, "read ignore rules"));
  }
  has_rules_ = true;
  return {};
}

bool IgnoreRules::is_ignored(std::string_view path) const {
  if (!has_rules_) return is_built_in(path);
  const std::lock_guard lock(mutex_);
  int ignored = 0;
  // A path that cannot be judged is kept: ignoring is what needs a reason.
  if (impl_->git->ignore_path_is_ignored(&ignored, impl_->repository, std::string(path).c_str()) < 0) return false;
  return ignored != 0;
}

}  // namespace ws::sync::git
