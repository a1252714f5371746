/// The line numbers of the blocks in a Markdown text (cmark-gfm), for callers that need the bytes of the source.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ws::markdown {

/// Lines count from 0 and end with LF, CR LF or CR.
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
    std::string text = {};  ///< without markup
  };

  std::string text = {};                  ///< what cmark parsed: as long as the input, with hostile syntax masked
  std::vector<std::size_t> lines = {};    ///< the offset of each line
  std::vector<std::size_t> breaks = {};   ///< lines at which a block begins or has just ended, in order
  std::vector<Raw> raws = {};             ///< in order
  std::vector<Heading> headings = {};     ///< in order, including those in quotes and lists
  std::vector<std::string> targets = {};  ///< of all links and images, unescaped, sorted
};

/// `body` must not have front matter (`body_offset`).
Layout layout(std::string_view body);

}  // namespace ws::markdown
