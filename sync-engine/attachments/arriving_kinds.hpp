/// Which files the service may bring here unasked, by their names alone. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ws::sync {

/// `plain`: files that nothing runs and no tool takes for its own settings.
class ArrivingKinds {
 public:
  /// As `attachments_kinds:` says: "plain", "any", or last extensions in small letters.
  explicit ArrivingKinds(const std::vector<std::string>& kinds);
  bool take(std::string_view path) const;
  /// Whether these are extensions that somebody chose.
  bool are_named() const { return !is_plain_ && !is_any_; }

 private:
  std::vector<std::string> extensions_ = {};
  bool is_plain_ = false;
  bool is_any_ = false;
};

/// A picture, a sound, a film or a PDF: an execute bit on one means nothing.
bool is_only_shown(std::string_view path);

}  // namespace ws::sync
