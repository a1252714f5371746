#include "sync-engine/manifest/manifest.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "sync-engine/manifest/known_list.hpp"

using namespace ws;
using namespace ws::sync;
using Catch::Matchers::Contains;

namespace {

RelativePath row_path(const std::string& path) { return *RelativePath::parse(path); }

Attachment manifest_row(const std::string& bytes) {
  return {.size_bytes = bytes.size(),
          .hash = Sha256::of(bytes),
          .media_type = "image/png",
          .asset = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b"};
}

AttachmentTree some_rows() {
  return {{row_path("a.png"), manifest_row("a")}, {row_path("img/b|c.png"), manifest_row("b")}};
}

std::string without_line(std::string text, const std::string& word) {
  const std::size_t at = text.find(word);
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.erase(begin, text.find('\n', at) + 1 - begin);
}

const DocumentId part_one{"018f6b2a-9c1d-7e3f-8a4b-000000000001"};

KnownList known_list(std::uint64_t edition) {
  KnownList list;
  take_part(list,
            {.document = part_one,
             .path = "_attachments.md",
             .revision = {1},
             .text = render_manifest(some_rows(), edition)});
  return list;
}

}  // namespace

TEST_CASE("manifest: what is rendered is read back, whatever the names hold", "[sync-engine]") {
  AttachmentTree rows = some_rows();
  rows.emplace(row_path("odd/ two blanks .png"), manifest_row("c"));
  rows.emplace(row_path("odd/\xC3\xA9 #1 (2).png"), manifest_row("d"));
  rows.emplace(row_path("odd/end "), manifest_row("e"));
  rows.emplace(row_path("-dash.png"), manifest_row("f"));
  const std::string text = render_manifest(rows, 7);
  CHECK_THAT(text, Contains("# Attachments\n") && Contains("| Path | Bytes | SHA-256 | Media type | Asset |"));
  const auto parsed = parse_manifest(text);
  REQUIRE(parsed);
  CHECK(parsed->is_whole);
  CHECK(parsed->edition == 7);
  CHECK(parsed->rows == rows);
}

TEST_CASE("manifest: other line ends and blanks at line ends are no damage", "[sync-engine]") {
  std::string text;
  for (const char c : render_manifest(some_rows(), 3)) text += c == '\n' ? std::string(" \r\n") : std::string(1, c);
  const auto parsed = parse_manifest(text);
  REQUIRE(parsed);
  CHECK(parsed->is_whole);
  CHECK(parsed->rows == some_rows());
}

TEST_CASE("manifest: a row taken out by hand is told by the seal, and so is one that cannot be read", "[sync-engine]") {
  const std::string text = render_manifest(some_rows(), 3);
  const auto cut = parse_manifest(without_line(text, "| a.png"));
  REQUIRE(cut);
  CHECK_FALSE(cut->is_whole);
  CHECK(cut->rows.size() == 1);
  const std::string escaping = text + "| ../x.png | 1 | " + Sha256::of("x").hex() + " | image/png | abc |\n";
  const auto hostile = parse_manifest(escaping);
  REQUIRE(hostile);
  CHECK_FALSE(hostile->is_whole);
  CHECK(hostile->rows == some_rows());
}

TEST_CASE("manifest: a text of a person's own is no list", "[sync-engine]") {
  CHECK_FALSE(
      parse_manifest("# Attachments\n\nWhat I keep beside my notes.\n\n| File | Size |\n|---|---|\n| a | 1 |\n"));
  CHECK_FALSE(parse_manifest(""));
  CHECK(is_manifest_path("_attachments.md"));
  CHECK(is_manifest_path("_attachments-12.md"));
  CHECK_FALSE(is_manifest_path("_attachments-1.md"));
  CHECK_FALSE(is_manifest_path("_attachments-.md"));
  CHECK_FALSE(is_manifest_path("notes/_attachments.md"));
}

TEST_CASE("manifest: 20,000 files fit, each part in one document, and a new row moves no other", "[sync-engine]") {
  AttachmentTree rows;
  for (int i = 0; i < 20'000; ++i) {
    rows.emplace(row_path(fmt::format("attachments/2026/picture number {:05}.png", i)), manifest_row("x"));
  }
  const std::vector<AttachmentTree> parts = divide_rows(rows, {});
  CHECK(parts.size() > 1);
  std::size_t count = 0;
  for (const AttachmentTree& part : parts) {
    count += part.size();
    CHECK(render_manifest(part, 1).size() < (std::size_t{1} << 20U));
  }
  CHECK(count == rows.size());
  rows.emplace(row_path("attachments/2026/picture number 10000a.png"), manifest_row("y"));
  const std::vector<AttachmentTree> again = divide_rows(rows, parts);
  REQUIRE(again.size() == parts.size());
  std::size_t changed = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) changed += again[i] == parts[i] ? 0 : 1;
  CHECK(changed == 1);
}

TEST_CASE("known list: damage takes no row away, and the part is due to be written anew", "[sync-engine]") {
  KnownList list = known_list(3);
  CHECK_FALSE(list.is_due());
  const std::string cut = without_line(render_manifest(some_rows(), 3), "| a.png");
  CHECK(take_part(list, {.document = part_one, .path = "_attachments.md", .revision = {2}, .text = cut}));
  CHECK(list.rows() == some_rows());
  CHECK(list.is_due());
  CHECK(take_part(list, {.document = part_one, .path = "_attachments.md", .revision = {3}, .text = "gone\n"}));
  CHECK(list.rows() == some_rows());
}

TEST_CASE("known list: an older edition says nothing, an archived one neither", "[sync-engine]") {
  KnownList list = known_list(5);
  const std::string older = render_manifest({{row_path("old.png"), manifest_row("old")}}, 4);
  CHECK(take_part(list, {.document = part_one, .path = "_attachments.md", .revision = {2}, .text = older}));
  CHECK(list.rows() == some_rows());
  CHECK(list.is_due());
  CHECK(take_part(list, {.document = part_one, .path = "_attachments.md", .revision = {3}}));
  CHECK(list.rows() == some_rows());
}

TEST_CASE("known list: an archived part says nothing once another document has its place", "[sync-engine]") {
  KnownList list = known_list(5);
  CHECK(take_part(list, {.document = part_one, .path = "_attachments.md", .revision = {3}}));
  CHECK(list.is_due());
  const std::uint64_t edition = GENERATE(4, 6);
  CAPTURE(edition);
  const std::string anew = render_manifest({{row_path("a.png"), manifest_row("a")}}, edition);
  const DocumentId other{"018f6b2a-9c1d-7e3f-8a4b-0000000000ff"};
  CHECK(take_part(list, {.document = other, .path = "_attachments.md", .revision = {1}, .text = anew}));
  CHECK(list.is_due() == (edition < 5));
  CHECK((list.rows().size() == 1) == (edition > 5));
}

TEST_CASE("known list: a whole one that is newer takes rows away", "[sync-engine]") {
  KnownList list = known_list(5);
  const std::string newer = render_manifest({{row_path("a.png"), manifest_row("a")}}, 6);
  CHECK(take_part(list, {.document = part_one, .path = "_attachments.md", .revision = {2}, .text = newer}));
  CHECK(list.rows().size() == 1);
  CHECK_FALSE(list.is_due());
}

TEST_CASE("manifest: an edition that leaves no number for the next is not believed", "[sync-engine]") {
  const auto part = parse_manifest(render_manifest(some_rows(), ~std::uint64_t{0}));
  REQUIRE(part);
  CHECK_FALSE(part->is_whole);
  CHECK(part->edition == 0);
  CHECK(part->rows == some_rows());
}

TEST_CASE("known list: a row edited by hand names no other bytes of its Asset, a new version is taken",
          "[sync-engine]") {
  KnownList list = known_list(3);
  AttachmentTree rows = some_rows();
  rows.at(row_path("a.png")).hash = Sha256::of("bytes that nobody has");
  Attachment& newer = rows.at(row_path("img/b|c.png"));
  newer.hash = Sha256::of("newer");
  newer.asset = "018f6b2a-9c1d-7e3f-8a4b-000000000002";
  const std::string text = without_line(render_manifest(rows, 3), "<!-- ws attachments");
  take_part(list, {.document = part_one, .path = "_attachments.md", .revision = {2}, .text = text});
  CHECK(list.is_due());
  CHECK(list.rows().at(row_path("a.png")) == some_rows().at(row_path("a.png")));
  CHECK(list.rows().at(row_path("img/b|c.png")) == newer);
}
