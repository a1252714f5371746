#include <catch2/catch.hpp>

#include "api-client/base/media_type.hpp"

using ws::media_type_of;
using namespace std::string_view_literals;

TEST_CASE("mime type: bytes that say it win over the name, containers and text do not", "[cli]") {
  CHECK(media_type_of("a.txt", "\x89PNG\r\n\x1a\n....") == "image/png");
  CHECK(media_type_of("a.docx", "PK\x03\x04....") ==
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document");
  CHECK(media_type_of("a", "PK\x03\x04....") == "application/zip");
  CHECK(media_type_of("a.zip", "%PDF-1.7") == "application/pdf");
  CHECK(media_type_of("notes.MD", "# Notes\n") == "text/markdown");
  CHECK(media_type_of("data.csv", "a,b\n") == "text/csv");
  CHECK(media_type_of("README", "plain words, \xc3\xa9") == "text/plain");
  CHECK(media_type_of("README", "\x00\x01\x02"sv) == "application/octet-stream");
  CHECK(media_type_of("lies.md", "\x00\x01\x02"sv) == "application/octet-stream");
  CHECK(media_type_of("clip.webp", "RIFF\x01\x02\x03\x04WEBPVP8 "sv) == "image/webp");
  CHECK(media_type_of("unknown.zyx", "\xff\xfe\x00"sv) == "application/octet-stream");
  CHECK(media_type_of("notes.epub", "PK\x03\x04....") == "application/epub+zip");
  CHECK(media_type_of("config.yml", "a: 1\n") == "application/yaml");
  CHECK(media_type_of("drawing.svg", "<svg/>") == "image/svg+xml");
}

TEST_CASE("mime type: text is no film, whatever its name says", "[cli]") {
  CHECK(media_type_of("film.ts", "\x47\x40\x00\x10"sv) == "video/mp2t");
  CHECK(media_type_of("code.ts", "export {};\n") == "text/plain");
  CHECK(media_type_of("lib.rs", "fn main() {}\n") == "text/plain");
  CHECK(media_type_of("main.py", "print()\n") == "text/x-python");
}

TEST_CASE("mime type: a sample that ends within a character is still text", "[cli]") {
  CHECK(media_type_of("x", "caf\xc3") == "text/plain");
  CHECK(media_type_of("x", "\xf0\x9f\x98") == "text/plain");
}
