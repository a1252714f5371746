#include "server-mock/services/text_index/chunks.hpp"

#include "api-client/base/markdown.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::mock {
namespace {

/// Where the first part of a text that is too long ends: behind the last paragraph that fits, else behind the last
/// line, else between two code points.
std::size_t end_of_part(std::string_view text) {
  const std::string_view head = text.substr(0, max_chunk_bytes);
  if (const std::size_t gap = head.rfind("\n\n"); gap != std::string_view::npos && gap > 0) return gap + 2;
  if (const std::size_t line = head.rfind('\n'); line != std::string_view::npos) return line + 1;
  std::size_t end = head.size();
  while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return end;
}

void add_parts(std::vector<Chunk>& chunks,
               const std::vector<std::string>& path,
               std::size_t start,
               std::string_view text) {
  while (text.size() > max_chunk_bytes) {
    const std::size_t end = end_of_part(text);
    chunks.push_back({.heading_path = path, .start_byte = start, .text = text.substr(0, end)});
    start += end;
    text.remove_prefix(end);
  }
  if (!text.empty() || chunks.empty()) chunks.push_back({.heading_path = path, .start_byte = start, .text = text});
}

}  // namespace

std::vector<Chunk> cut_chunks(std::string_view content) {
  std::vector<Chunk> chunks;
  std::size_t start = 0;
  for (markdown::Section& section : markdown::sections(content, max_sections)) {
    for (std::string& heading : section.heading_path) {
      heading.resize(utf8::prefix(heading, max_heading_code_points).size());
    }
    add_parts(chunks, section.heading_path, start, section.text);
    start += section.text.size();
  }
  if (chunks.empty()) chunks.emplace_back();
  return chunks;
}

}  // namespace ws::mock
