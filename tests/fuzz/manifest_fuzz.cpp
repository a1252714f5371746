// The list of attachments is read in time whatever it holds; what is read of it, written, is read alike, and its seal
// tells every change of a row.
#include <cstdlib>
#include <string>

#include "sync-engine/manifest/manifest.hpp"
#include "tests/fuzz/target.hpp"

using namespace ws::sync;

void ws_fuzz_one(std::string_view bytes) {
  const auto part = parse_manifest(bytes);
  if (!part) return;
  const std::uint64_t edition = part->edition + 1;
  const std::string written = render_manifest(part->rows, edition);
  const auto again = parse_manifest(written);
  if (!again || !again->is_whole || again->rows != part->rows || again->edition != edition) std::abort();
  if (render_manifest(again->rows, again->edition) != written) std::abort();
  if (part->rows.empty()) return;
  std::string shorter = written;
  const std::size_t row = shorter.find(render_row(part->rows.begin()->first, part->rows.begin()->second));
  if (row == std::string::npos) std::abort();
  shorter.erase(row, shorter.find('\n', row) + 1 - row);
  if (const auto cut = parse_manifest(shorter); cut && cut->is_whole) std::abort();
}
