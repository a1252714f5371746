/// Line similarity of two texts, which identifies a file that was renamed and edited.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ws::sync {

/// The lines of a text without blank ones and without the blanks at their ends, as sorted numbers; a line that stands
/// twice is there twice.
class LineProfile {
 public:
  LineProfile() = default;
  explicit LineProfile(std::string_view text);
  const std::vector<std::uint64_t>& lines() const { return lines_; }

 private:
  std::vector<std::uint64_t> lines_;
};

/// At least 60 % of the lines of the longer one stand in both. Texts without a line are like nothing.
bool is_similar(const LineProfile& a, const LineProfile& b);

}  // namespace ws::sync
