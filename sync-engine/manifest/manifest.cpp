#include "sync-engine/manifest/manifest.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"

namespace ws::sync {
namespace {

constexpr std::string_view manifest_title = "# Attachments";
constexpr std::string_view manifest_note =
    "The files that the notes of this source show, and what each holds. `ws` writes this list; what is changed here by "
    "hand is written over.";
constexpr std::string_view manifest_header = "| Path | Bytes | SHA-256 | Media type | Asset |\n|---|---|---|---|---|\n";
constexpr std::string_view seal_begin = "<!-- ws attachments 1;";
constexpr std::size_t cell_count = 5;
/// Nobody comes so far: one that is greater would leave no number for the next.
constexpr std::uint64_t last_edition = std::uint64_t{1} << 53U;
constexpr char kept_blank = '\1';  // no path holds a control character

std::string escape_cell(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_outer_blank = text[i] == ' ' && (i == 0 || i + 1 == text.size());
    if (text[i] == '|' || text[i] == '\\' || is_outer_blank) escaped += '\\';
    escaped += text[i];
  }
  return escaped;
}

/// The cells of "| a | b |"; empty where it is no row of five.
std::optional<std::array<std::string, cell_count>> cells_of(std::string_view line) {
  if (line.size() < 2 || line.front() != '|' || line.back() != '|') return std::nullopt;
  std::array<std::string, cell_count> cells;
  std::size_t count = 0;
  std::string cell;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const char next = i + 1 < line.size() ? line[i + 1] : '\0';
    if (line[i] == '\\' && (next == '|' || next == '\\' || next == ' ')) {
      cell += next == ' ' ? kept_blank : next;
      ++i;
    } else if (line[i] != '|') {
      cell += line[i];
    } else {
      if (count == cell_count) return std::nullopt;
      cells[count] = trimmed(cell);
      std::ranges::replace(cells[count++], kept_blank, ' ');
      cell.clear();
    }
  }
  return count == cell_count ? std::optional(std::move(cells)) : std::nullopt;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_asset_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

std::optional<std::pair<RelativePath, Attachment>> row_of(const std::array<std::string, cell_count>& cells) {
  auto path = RelativePath::parse(cells[0]);
  const auto size = number_in(cells[1]);
  const auto hash = Sha256::from_hex(cells[2]);
  if (!path || !size || !hash || !is_asset_id(cells[4])) return std::nullopt;
  return std::pair(std::move(*path),
                   Attachment{.size_bytes = *size, .hash = *hash, .media_type = cells[3], .asset = cells[4]});
}

std::string render_seal(std::string_view rows, std::size_t count, std::uint64_t edition) {
  const std::string sealed = fmt::format("edition {}\n{}", edition, rows);
  return fmt::format("{} edition {}; rows {}; sha256 {} -->", seal_begin, edition, count, Sha256::of(sealed).hex());
}

std::string render_rows(const AttachmentTree& rows) {
  std::string text;
  for (const auto& [path, row] : rows) text += render_row(path, row);
  return text;
}

std::uint64_t edition_in(std::string_view seal) {
  constexpr std::string_view word = " edition ";
  const std::size_t at = seal.find(word);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = seal.substr(at + word.size());
  const std::uint64_t edition = number_in(rest.substr(0, rest.find(';'))).value_or(0);
  return edition <= last_edition ? edition : 0;
}

/// The part that holds the nearest path at or before this one; where none does, the first that holds anything.
std::size_t part_for(const std::map<RelativePath, std::size_t>& held, const RelativePath& path) {
  if (held.empty()) return 0;
  auto next = held.upper_bound(path);
  return next == held.begin() ? next->second : std::prev(next)->second;
}

/// Too long: the second half of the rows goes to a new part.
void divide_part(std::vector<AttachmentTree>& parts, std::size_t place, std::size_t max_bytes) {
  while (true) {
    std::size_t bytes = 0;
    for (const auto& [path, row] : parts[place]) bytes += render_row(path, row).size();
    if (bytes <= max_bytes || parts[place].size() < 2) return;
    const std::size_t rows = parts[place].size() / 2;
    auto middle = std::next(parts[place].begin(), static_cast<std::ptrdiff_t>(rows));
    AttachmentTree second;
    while (middle != parts[place].end()) {
      auto moved = parts[place].extract(middle++);
      second.insert(second.end(), std::move(moved));
    }
    parts.push_back(std::move(second));
    divide_part(parts, parts.size() - 1, max_bytes);
  }
}

}  // namespace

RelativePath manifest_path(std::size_t part) {
  return *RelativePath::parse(part <= 1 ? "_attachments.md" : fmt::format("_attachments-{}.md", part));
}

std::string render_row(const RelativePath& path, const Attachment& row) {
  return fmt::format("| {} | {} | {} | {} | {} |\n",
                     escape_cell(path.text()),
                     row.size_bytes,
                     row.hash.hex(),
                     escape_cell(row.media_type),
                     row.asset);
}

std::string render_manifest(const AttachmentTree& rows, std::uint64_t edition) {
  const std::string table = render_rows(rows);
  return fmt::format("{}\n\n{}\n\n{}{}\n{}\n",
                     manifest_title,
                     manifest_note,
                     manifest_header,
                     table,
                     render_seal(table, rows.size(), edition));
}

std::optional<ManifestPart> parse_manifest(std::string_view text) {
  ManifestPart part;
  std::string_view seal;
  bool has_header = false;
  std::size_t unread = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.starts_with(seal_begin)) seal = line;
    // A path may begin with a dash: the line below the heading has nothing else.
    if (!line.starts_with('|') || line.find_first_not_of("|-: ") == std::string_view::npos) continue;
    const auto cells = cells_of(line);
    if (cells && (*cells)[0] == "Path" && (*cells)[4] == "Asset") {
      has_header = true;
      continue;
    }
    auto row = cells ? row_of(*cells) : std::nullopt;
    if (!row || !part.rows.emplace(std::move(*row)).second) ++unread;
  }
  if (seal.empty() && !has_header) return std::nullopt;
  part.edition = edition_in(seal);
  part.is_whole =
      unread == 0 && seal == render_seal(render_rows(part.rows), part.rows.size(), part.edition) && part.edition != 0;
  return part;
}

std::vector<AttachmentTree> divide_rows(const AttachmentTree& rows,
                                        const std::vector<AttachmentTree>& parts,
                                        std::size_t max_bytes) {
  std::map<RelativePath, std::size_t> held;
  for (std::size_t place = 0; place < parts.size(); ++place) {
    for (const auto& [path, row] : parts[place]) held.emplace(path, place);
  }
  std::vector<AttachmentTree> divided(std::max<std::size_t>(parts.size(), 1));
  for (const auto& [path, row] : rows) divided[part_for(held, path)].emplace(path, row);
  const std::size_t before = divided.size();
  for (std::size_t place = 0; place < before; ++place) divide_part(divided, place, max_bytes);
  return divided;
}

}  // namespace ws::sync
