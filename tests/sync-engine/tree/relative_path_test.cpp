#include "sync-engine/model/relative_path.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/model/file_name.hpp"

namespace ws::sync {
namespace {

const std::vector<std::string> hostile = {
    // empty parts, dots, absolute, drives, UNC
    "",
    "/",
    "//",
    "a//b.md",
    "a/",
    "/a.md",
    ".",
    "..",
    "./a.md",
    "../a.md",
    "a/../b.md",
    "a/./b.md",
    "a/..",
    "..\\a.md",
    "\\a.md",
    "\\\\server\\share\\a.md",
    "//server/share/a.md",
    "C:",
    "C:/a.md",
    "c:/a.md",
    "z:/x/a.md",
    "a\\b.md",
    "a/b\\c.md",
    "....//....//etc/passwd",
    // controls
    std::string("a\0b.md", 6),
    "a\nb.md",
    "a\rb.md",
    "a\tb.md",
    "a\x1b[31m.md",
    "a\x7f.md",
    "\x01.md",
    "a\xc2\x80.md",
    "a\xc2\x9b.md",
    "a\xc2\x85.md",
    // bidirectional and zero-width
    "a\u202Eb.md",
    "a\u202Ab.md",
    "\u2066a.md",
    "a\u2069.md",
    "a\u200Bb.md",
    // joiners that join nothing: at an end of a part, or one beside the other
    "\u200Da.md",
    "a.md\u200C",
    "a\u200C/b.md",
    "a/\u200Db.md",
    "a\u200C\u200Db.md",
    "\u200C",
    "\u200C.md",
    // joiners within a reserved name
    ".w\u200Ds/x.md",
    ".\u200Cws/x.md",
    ".ws\u200C.yaml",
    ".gi\u200Ct/config",
    "g\u200Dit~1/x.md",
    "a\u200E.md",
    "a\u061C.md",
    "a\u2060.md",
    "\uFEFFa.md",
    "a\uFEFF.md",
    "a\u2028.md",
    "a\u2029.md",
    "a\U000E0041.md",
    "a\uFFF9.md",
    "a\u180E.md",
    "a\u00ADb.md",
    "\u0600.md",
    "a\u0605.md",
    "a\u06DD.md",
    "a\u070F.md",
    "a\u0891.md",
    "a\u08E2.md",
    "a\U000110BD.md",
    "a\U000110CD.md",
    "a\U00013430.md",
    "a\U0001343F.md",
    "a\U0001BCA0.md",
    "a/b\U0001D173/c.md",
    "a\U0001D17A.md",
    "a\U000E0001.md",
    // not UTF-8: lone surrogates, overlong forms, stray bytes
    "a\xed\xa0\x80.md",
    "a\xed\xbf\xbf.md",
    "a\xc0\xaf.md",
    "a\xff.md",
    "a\x80.md",
    "a\xf4\x90\x80\x80.md",
    "a\xe2\x82",
    "\xc0\xae\xc0\xae/a.md",
    // our own and git's names, and what file systems take for them
    ".ws",
    ".ws/state.db",
    "a/.ws/x.md",
    ".WS/x.md",
    ".Ws/x.md",
    ".ws./x.md",
    ".ws /x.md",
    ".ws...  /x.md",
    ".ws.yaml",
    ".WS.YAML",
    ".wsignore",
    "sub/.WsIgnore",
    ".git",
    ".git/config",
    ".GIT/config",
    "a/.giT/hooks/x.md",
    ".git./config",
    ".git /config",
    ".git::$INDEX_ALLOCATION/x.md",
    ".git:x/y.md",
    ".ws::$DATA",
    "git~1",
    "GIT~1/config",
    "a/Git~1/x.md",
    ".gitmodules",
    ".GitModules",
    ".gitattributes",
    ".gitattributes.",
    ".\uFF47it/config",
    ".\uFF37S/x.md",
    "\uFF0Egit/config",
    ".g\u0131t\u200C/x.md",
    ".\u24D6it/config",
    "\u2024git/config",
    // too long, too deep
    std::string(256, 'a'),
    std::string(254, 'a') + ".md",
    std::string(1025, 'a'),
    [] {
      std::string deep;
      for (int i = 0; i < 205; ++i) deep += "a/";
      return deep + "b.md";
    }(),
    [] {
      std::string wide;
      for (int i = 0; i < 6; ++i) wide += std::string(200, 'x') + "/";
      return wide + "b.md";
    }(),
};

const std::vector<std::string> harmless = {
    "a.md",
    "A.MD",
    // joiners between two others: Persian, Hindi, emoji
    "\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645.md",
    "\u0915\u094D\u200D\u0937.md",
    "\U0001F469\u200D\U0001F4BB notes/\u2764\uFE0F\u200D\U0001F525.md",
    "a\u200Db.md",
    "a b/c d.md",
    "a.b.c.md",
    "...md",
    ".hidden.md",
    "%2e%2e/x.md",
    "a%00b.md",
    "~/x.md",
    "-rf.md",
    "CON.md",
    "aux/nul.md",
    "a:b.md",
    "What?.md",
    "a*.md",
    "a|b.md",
    "\"q\".md",
    "<x>.md",
    " lead.md",
    "trail .md",
    "dot./x.md",
    "\u00FCber/\u4F60\u597D.md",
    "e\u0301.md",
    "\U0001F600.md",
    "git/x.md",
    "gitignore.md",
    ".github/x.md",
    ".wsx/y.md",
    "ws/y.md",
    "git~2.md",
    std::string(252, 'a') + ".md",
    "aa:b.md",
};

}  // namespace

TEST_CASE("relative_path: no hostile name becomes a value", "[sync-engine]") {
  CHECK(hostile.size() >= 80);
  for (const std::string& name : hostile) {
    CAPTURE(name);
    const auto path = RelativePath::parse(name);
    REQUIRE_FALSE(path);
    CHECK(path.error().kind == Failure::Kind::invalid);
    // The message can be shown on a terminal.
    bool clean = true;
    utf8::for_each(path.error().what, [&](char32_t c) {
      clean = clean && c >= 0x20 && c != 0x7F && !(c >= 0x80 && c < 0xA0) && !(c >= 0x202A && c <= 0x202E);
    });
    CHECK(clean);
  }
}

TEST_CASE("relative_path: what is merely unusual is a name like any other", "[sync-engine]") {
  for (const std::string& name : harmless) {
    CAPTURE(name);
    const auto path = RelativePath::parse(name);
    REQUIRE(path);
    CHECK(path->text() == name);
  }
}

TEST_CASE("relative_path: folder, name and twin key", "[sync-engine]") {
  const auto path = RelativePath::parse("Notes/\u00C4 b.Markdown");
  REQUIRE(path);
  CHECK(path->folder() == "Notes");
  CHECK(path->name() == "\u00C4 b.Markdown");
  CHECK(path->twin_key() == RelativePath::parse("notes/A\u0308 B.markdown")->twin_key());
  CHECK(RelativePath::parse("a.md")->folder().empty());
  // Neither NFC nor case folding removes a joiner: with and without one are two names, and two files.
  CHECK(RelativePath::parse("a\u200Cb.md")->twin_key() != RelativePath::parse("ab.md")->twin_key());
  CHECK(RelativePath::parse("A\u200Db.md")->twin_key() == RelativePath::parse("a\u200DB.md")->twin_key());
}

TEST_CASE("relative_path: unportable names are known as such", "[sync-engine]") {
  for (const char* name :
       {"CON.md", "a/nul", "com1.md", "a:b.md", "What?.md", "a./b.md", " a.md", "LPT9.x.md", "-rf.md", "a/-n.md"}) {
    CAPTURE(name);
    CHECK(is_unportable(*RelativePath::parse(name)));
  }
  for (const char* name : {"a.md", "console.md", "com.md", "com10.md", "a b.md"}) {
    CAPTURE(name);
    CHECK_FALSE(is_unportable(*RelativePath::parse(name)));
  }
}

TEST_CASE("relative_path: Markdown is told by its ending, whatever the case", "[sync-engine]") {
  CHECK(is_markdown("a.md"));
  CHECK(is_markdown("A.MD"));
  CHECK(is_markdown("a.Markdown"));
  CHECK_FALSE(is_markdown(".md"));
  CHECK_FALSE(is_markdown("a.mdx"));
  CHECK_FALSE(is_markdown("md"));
}

TEST_CASE("file_name: an id is a UUID or a hash, whatever it holds", "[sync-engine]") {
  const std::string uuid = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";
  CHECK(file_name(NamedBy::id, uuid, ".md") == uuid + ".md");
  for (const char* const id : {"", "/elsewhere/abs", "../outside/rel", "..", "a\\b", ".git", "CON", "plain", "-rf"}) {
    CAPTURE(id);
    const std::string name = file_name(NamedBy::id, id, ".json");
    CHECK(name == Sha256::of(id).hex() + ".json");
    CHECK(is_file_name(name));
  }
}

TEST_CASE("file_name: of a title what every system allows is left, of a given name its last part or nothing",
          "[sync-engine]") {
  CHECK(file_name(NamedBy::title, "../a/b: c", ".md") == "a-b- c.md");
  CHECK(file_name(NamedBy::title, "-rf", ".md") == "rf.md");
  CHECK(file_name(NamedBy::title, std::string(300, 'x'), ".md") == std::string(120, 'x') + ".md");
  CHECK(file_name(NamedBy::title, std::string(119, 'x') + "\xc3\xa4", ".md") == std::string(119, 'x') + ".md");
  for (const char* const title : {"", "...", " . ", "--", "CON", "\xe2\x80\xae", "\xff"}) {
    CAPTURE(title);
    CHECK(file_name(NamedBy::title, title, ".md").empty());
  }
  CHECK(file_name(NamedBy::given, "/etc/cron.d/x") == "x");
  CHECK(file_name(NamedBy::given, "a\\b.png") == "b.png");
  for (const char* const given : {"", "..", ".bashrc", "a/", ".git", "x\x1b[2J"}) {
    CAPTURE(given);
    CHECK(file_name(NamedBy::given, given).empty());
  }
  CHECK(file_name(NamedBy::tool, "caf\xc3\xa9 $(rm)", "_LOCAL.md") == "caf_____rm__LOCAL.md");
}

}  // namespace ws::sync
