/// How a text is cut into the parts that a search finds and a citation names. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ws::mock {

struct Chunk {
  std::vector<std::string> heading_path = {};  ///< plain text; empty: before the first heading
  std::size_t start_byte = 0;
  std::string_view text = {};  ///< points into the content
};

/// A longer section is cut between its paragraphs.
inline constexpr std::size_t max_chunk_bytes = 4096;
/// Behind so many headings a text is cut by size alone: 1 MiB of `#` must not become 500,000 rows.
inline constexpr std::size_t max_sections = 2000;
inline constexpr std::size_t max_heading_code_points = 200;

/// One chunk a heading, in order; joined they are the content. At least one, if empty: the title is found by it.
std::vector<Chunk> cut_chunks(std::string_view content);

}  // namespace ws::mock
