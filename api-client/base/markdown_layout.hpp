/// The line numbers of the blocks in a Markdown text (cmark-gfm), for callers that need the bytes of the source.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ws::markdown {

/// Lines count from 0 and end with LF, CR LF or CR.
struct Layout {
  /// Lines that are not read as Markdown: a block of code or HTML, or paragraphs of words alone, which have no link.
  struct Raw {
    enum class Kind { code, html, prose };
    Kind kind = Kind::code;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct Heading {
    std::size_t line = 0;
    std::string text = {};  ///< without markup
  };

  std::string masked = {};                ///< of a hostile body: as long, with costly syntax masked; else empty
  std::vector<std::size_t> lines = {};    ///< the offset of each line
  std::vector<std::size_t> breaks = {};   ///< lines at which a block begins or has just ended, in order, save in prose
  std::vector<Raw> raws = {};             ///< in order; prose may lie in another one
  std::vector<Heading> headings = {};     ///< in order, including those in quotes and lists
  std::vector<std::string> targets = {};  ///< of all links and images, unescaped, sorted
};

/// `body` must not have front matter (`body_offset`). Where a masked text is given, that is what cmark parsed.
Layout layout(std::string_view body);

}  // namespace ws::markdown
