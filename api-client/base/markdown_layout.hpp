/// Where the blocks of a Markdown text stand, by line (cmark-gfm): for readers that need the bytes of the source.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ws::markdown {

/// Lines count from 0 and end at LF, CR LF or CR.
struct Layout {
  /// A block whose lines are not read as Markdown.
  struct Raw {
    enum class Kind { code, html };
    Kind kind = Kind::code;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct Heading {
    std::size_t line = 0;
    std::string text = {};  ///< without its marks
  };

  std::string text = {};  ///< what cmark read: as long as the input, some signs masked where it is hostile
  std::vector<std::size_t> lines = {};    ///< the offset of each line
  std::vector<std::size_t> breaks = {};   ///< lines at which a block begins or one has just ended, in order
  std::vector<Raw> raws = {};             ///< in order
  std::vector<Heading> headings = {};     ///< in order, those in quotes and lists among them
  std::vector<std::string> targets = {};  ///< of all links and images, unescaped, sorted
};

/// Of a text without front matter (`body_offset`).
Layout layout(std::string_view body);

}  // namespace ws::markdown
