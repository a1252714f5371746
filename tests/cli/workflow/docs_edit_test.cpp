// A document changed by two at once: what merges is merged, what collides is kept for a person.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"

using namespace ws;
using namespace ws::test;

namespace {

const std::string three_lines = "# Plan\n\nWe sail at dawn.\n\nTomas brings bread.\n";

/// One document, and a shell line as its editor: `$1` is the file, `ws` the program.
struct EditStage {
  explicit EditStage(const std::vector<std::string>& flags = {}) : server(flags) {
    write_text(folder / "first.md", three_lines);
    const Ended made = ws({"docs", "create", "Plan", "-f", "first.md", "--format", "ids"});
    REQUIRE(made.exit == 0);
    id = made.out.substr(0, made.out.size() - 1);
  }

  Ended ws(std::vector<std::string> arguments) const { return person.ws(std::move(arguments), folder.path()); }
  Ended edit(const std::string& script, std::vector<std::string> flags = {}) {
    write_text(folder / "editor.sh", "set -e\n" + script + "\n");
    person.environment["EDITOR"] = "sh " + (folder / "editor.sh").string();
    flags.insert(flags.begin(), {"docs", "edit", id});
    return ws(std::move(flags));
  }
  /// What somebody else does meanwhile, as a line of that script.
  std::string others_write(const std::string& text) const {
    write_text(folder / "theirs.md", text);
    return program("ws") + " docs update " + id + " -f theirs.md --revision 1 >/dev/null";
  }
  std::string content() const { return ws({"docs", "get", id, "--content"}).out; }
  std::int64_t revision() const {
    return parse(ws({"docs", "get", id, "--json"}).out).at("content_revision").get<std::int64_t>();
  }

  MockProcess server;
  Person person{server};
  TemporaryFolder folder;
  std::string id = {};
};

}  // namespace

TEST_CASE("docs edit: what the editor leaves is stored, what it leaves alone is not sent", "[cli]") {
  EditStage stage;
  const Ended nothing = stage.edit("true");
  CHECK(nothing.exit == 0);
  CHECK(nothing.err == "nothing changed\n");
  CHECK(stage.revision() == 1);
  CHECK(stage.edit("sed -i 's/dawn/noon/' \"$1\"").exit == 0);
  CHECK(stage.content() == "# Plan\n\nWe sail at noon.\n\nTomas brings bread.\n");
  CHECK(stage.revision() == 2);
}

TEST_CASE("docs edit: a change of somebody else elsewhere in the text is merged", "[cli]") {
  // How a service tells a mismatch is not published.
  const std::string status = GENERATE("409", "412");
  const std::string style = GENERATE("plain", "html");
  EditStage stage({"--assume", "error_style=" + style, "--assume", "revision_mismatch=" + status});
  const Ended ended = stage.edit(stage.others_write("# Plan\n\nWe sail at dawn.\n\nMara brings bread.\n") +
                                 "\nsed -i 's/dawn/noon/' \"$1\"");
  CHECK(ended.exit == 0);
  CHECK(ended.err == "merged with revision 2, which was stored meanwhile\n");
  CHECK(stage.content() == "# Plan\n\nWe sail at noon.\n\nMara brings bread.\n");
}

TEST_CASE("docs edit: what collides is kept between markers, and the same command goes on with it", "[cli]") {
  EditStage stage;
  const std::string theirs = "# Plan\n\nWe sail at seven.\n\nTomas brings bread.\n";
  const Ended ended = stage.edit(stage.others_write(theirs) + "\nsed -i 's/dawn/noon/' \"$1\"");
  CHECK(ended.exit == 7);
  CHECK(ended.err.find("revision 2 changes the same lines; nothing was sent") != std::string::npos);
  CHECK(stage.content() == theirs);

  const Ended left = stage.edit("cp \"$1\" shown.md");
  CHECK(left.exit == 7);
  CHECK(left.err.find("still has conflict markers") != std::string::npos);
  CHECK(read_text(stage.folder / "shown.md") ==
        "# Plan\n\n<<<<<<< yours\nWe sail at noon.\n||||||| base\nWe sail at dawn.\n=======\nWe sail at seven.\n"
        ">>>>>>> revision 2\n\nTomas brings bread.\n");

  CHECK(stage.edit("printf '# Plan\\n\\nWe sail at seven or noon.\\n' > \"$1\"").exit == 0);
  CHECK(stage.content() == "# Plan\n\nWe sail at seven or noon.\n");
  CHECK(stage.edit("cp \"$1\" shown.md").exit == 0);  // a fresh start: nothing is left over
  CHECK(read_text(stage.folder / "shown.md") == stage.content());
}

TEST_CASE("docs edit: an editor that fails costs nothing of the text", "[cli]") {
  EditStage stage;
  const Ended failed = stage.edit("printf 'half a text\\n' > \"$1\"; exit 3");
  CHECK(failed.exit == 14);
  CHECK(failed.err.find("ended with code 3") != std::string::npos);
  CHECK(stage.revision() == 1);
  CHECK(stage.edit("printf 'and the rest\\n' >> \"$1\"").exit == 0);
  CHECK(stage.content() == "half a text\nand the rest\n");
}

TEST_CASE("docs update --merge: merges with what came since the text was read, or is exit 7 and stores nothing",
          "[cli]") {
  EditStage stage;
  CHECK(stage.ws({"docs", "update", stage.id, "-f", "first.md", "--merge"}).exit == 2);  // nobody has read it yet
  REQUIRE(stage.content() == three_lines);
  write_text(stage.folder / "theirs.md", "# Plan\n\nWe sail at dawn.\n\nMara brings bread.\n");
  REQUIRE(stage.ws({"docs", "update", stage.id, "-f", "theirs.md", "--revision", "1"}).exit == 0);

  write_text(stage.folder / "mine.md", "# The plan\n\nWe sail at dawn.\n\nTomas brings bread.\n");
  CHECK(stage.ws({"docs", "update", stage.id, "-f", "mine.md", "--merge"}).exit == 0);
  const std::string merged = "# The plan\n\nWe sail at dawn.\n\nMara brings bread.\n";
  CHECK(stage.content() == merged);
  // The file is still the one that was read then: what they changed since is no change of mine, however often.
  CHECK(stage.ws({"docs", "update", stage.id, "-f", "mine.md", "--merge"}).exit == 0);
  CHECK(stage.content() == merged);

  write_text(stage.folder / "mine.md", "# Plan\n\nWe sail at dawn.\n\nLena brings bread.\n");
  const Ended collision =
      stage.ws({"docs", "update", stage.id, "-f", "mine.md", "--revision", "1", "--merge", "--json"});
  CHECK(collision.exit == 7);
  CHECK(text_at(error_of(collision), "code") == "revision_conflict");
  CHECK(stage.content() == merged);
}

TEST_CASE("docs update --merge: what was stored without an answer is what the file is made from", "[cli]") {
  EditStage stage;
  write_text(stage.folder / "mine.md", stage.content());
  control(stage.server,
          "POST",
          "/faults",
          R"({"operation": "docs.update", "phase": "after", "effect": {"close_without_answer": true}, "nth": 1})");
  write_text(stage.folder / "mine.md", three_lines + "One more line.\n");
  CHECK(stage.ws({"docs", "update", stage.id, "-f", "mine.md", "--merge", "--no-retry"}).exit == 12);
  write_text(stage.folder / "mine.md", three_lines + "One more line.\nAnd another.\n");
  CHECK(stage.ws({"docs", "update", stage.id, "-f", "mine.md", "--merge"}).exit == 0);
  CHECK(stage.content() == three_lines + "One more line.\nAnd another.\n");
}

TEST_CASE("docs update --merge: the base is that of the file, wherever the document was read to since", "[cli]") {
  const std::string edited = GENERATE("mine.md", "copy.md", "-");
  CAPTURE(edited);
  EditStage stage;
  REQUIRE(stage.ws({"docs", "get", stage.id, "--content", "-o", "mine.md"}).exit == 0);
  const std::string theirs = "# Plan\n\nWe sail at dawn.\n\nMara brings bread.\n";
  write_text(stage.folder / "theirs.md", theirs);
  REQUIRE(stage.ws({"docs", "update", stage.id, "-f", "theirs.md", "--revision", "1"}).exit == 0);
  REQUIRE(stage.ws({"docs", "get", stage.id, "--content", "-o", "look.md"}).exit == 0);

  const std::string of_mine = "# Plan\n\nWe sail at noon.\n\nTomas brings bread.\n";
  write_text(stage.folder / edited, of_mine);
  Command command = stage.person.command({"docs", "update", stage.id, "-f", edited, "--merge"}, stage.folder.path());
  command.input = of_mine;
  CHECK(run_command(command).exit == 0);
  CHECK(stage.content() == "# Plan\n\nWe sail at noon.\n\nMara brings bread.\n");
}

TEST_CASE("docs update --merge: a text that has every change of a later read is made from that one", "[cli]") {
  EditStage stage;
  REQUIRE(stage.ws({"docs", "get", stage.id, "--content", "-o", "mine.md"}).exit == 0);
  const std::string theirs = "# Plan\n\nWe sail at dawn.\n\nMara brings bread.\n";
  write_text(stage.folder / "theirs.md", theirs);
  REQUIRE(stage.ws({"docs", "update", stage.id, "-f", "theirs.md", "--revision", "1"}).exit == 0);
  REQUIRE(stage.ws({"docs", "get", stage.id, "--content", "-o", "look.md"}).exit == 0);
  write_text(stage.folder / "theirs.md", three_lines);
  REQUIRE(stage.ws({"docs", "update", stage.id, "-f", "theirs.md", "--revision", "2"}).exit == 0);

  write_text(stage.folder / "copy.md", "# Plan\n\nWe sail at noon.\n\nMara brings bread.\n");
  CHECK(stage.ws({"docs", "update", stage.id, "-f", "copy.md", "--merge"}).exit == 0);
  CHECK(stage.content() == "# Plan\n\nWe sail at noon.\n\nTomas brings bread.\n");
}

TEST_CASE("docs update --merge: a text that was sent without an answer is no base of another file", "[cli]") {
  EditStage stage;
  for (const char* const file : {"mine.md", "other.md"}) {
    REQUIRE(stage.ws({"docs", "get", stage.id, "--content", "-o", file}).exit == 0);
  }
  control(stage.server,
          "POST",
          "/faults",
          R"({"operation": "docs.update", "phase": "after", "effect": {"close_without_answer": true}, "nth": 1})");
  write_text(stage.folder / "mine.md", "# Plan\n\nWe sail at noon.\n\nTomas brings bread.\n");
  CHECK(stage.ws({"docs", "update", stage.id, "-f", "mine.md", "--merge", "--no-retry"}).exit == 12);
  write_text(stage.folder / "other.md", "# Plan\n\nWe sail at dawn.\n\nMara brings bread.\n");
  CHECK(stage.ws({"docs", "update", stage.id, "-f", "other.md", "--merge"}).exit == 0);
  CHECK(stage.content() == "# Plan\n\nWe sail at noon.\n\nMara brings bread.\n");
}

TEST_CASE("docs update --merge: a revision whose text is not known is never guessed at", "[cli]") {
  EditStage stage;
  write_text(stage.folder / "mine.md", "mine\n");
  CHECK(stage.ws({"docs", "update", stage.id, "-f", "mine.md", "--revision", "1", "--merge"}).exit == 0);
  write_text(stage.folder / "mine.md", "mine again\n");
  const Ended ended = stage.ws({"docs", "update", stage.id, "-f", "mine.md", "--revision", "1", "--merge"});
  CHECK(ended.exit == 7);
  CHECK(ended.err.find("not saved here to merge with") != std::string::npos);
  CHECK(stage.content() == "mine\n");
}

TEST_CASE("docs edit: a draft that the editor removed is a local fault", "[cli]") {
  EditStage stage;
  CHECK(stage.edit("rm \"$1\"").exit == 14);
  CHECK(stage.edit("sed -i 's/dawn/noon/' \"$1\"").exit == 0);
}

TEST_CASE("docs edit: what could not be printed is named as it can be seen", "[cli]") {
  EditStage stage;
  write_text(stage.folder / "editor.sh", "sed -i 's/dawn/noon/' \"$1\"\n");
  stage.person.environment["EDITOR"] = "sh " + (stage.folder / "editor.sh").string();
  Command command = stage.person.command({}, stage.folder.path());
  command.program.clear();
  command.arguments = {"bash", "-c", "\"$0\" docs edit \"$1\" --json >/dev/full", program("ws"), stage.id};
  const Json error = error_of(run_command(command));
  CHECK(error["exit"] == 14);
  CHECK(text_at(error, "hint") == "`ws docs get " + stage.id + "` shows the document");
}

TEST_CASE("docs edit: a second one of the same document is refused, and costs the first nothing", "[cli]") {
  EditStage stage;
  const Ended first = stage.edit("sed -i 's/dawn/noon/' \"$1\"\nEDITOR=\"sed -i s/Tomas/Mara/\" " + program("ws") +
                                 " docs edit " + stage.id + " 2>second.txt || echo \"exit $?\" >>second.txt");
  CHECK(first.exit == 0);
  const std::string second = read_text(stage.folder / "second.txt");
  CHECK(second.find("is editing this document") != std::string::npos);
  CHECK(second.find("exit 14") != std::string::npos);
  CHECK(stage.content() == "# Plan\n\nWe sail at noon.\n\nTomas brings bread.\n");
}

TEST_CASE("docs edit: a text that was stored without an answer is what the next edit starts from", "[cli]") {
  const bool is_merged = GENERATE(false, true);
  EditStage stage;
  // Of three updates, theirs, one that is refused, and the merged one, the last gets no answer.
  control(stage.server,
          "POST",
          "/faults",
          R"({"operation": "docs.update", "phase": "after", "effect": {"close_without_answer": true}, "nth": )" +
              std::string(is_merged ? "3}" : "1}"));
  const std::string theirs = stage.others_write("# Plan\n\nWe sail at dawn.\n\nMara brings bread.\n");
  CHECK(stage.edit((is_merged ? theirs + "\n" : "") + "sed -i 's/dawn/noon/' \"$1\"", {"--no-retry"}).exit == 12);
  const std::string stored = stage.content();
  CHECK(stored == std::string("# Plan\n\nWe sail at noon.\n\n") + (is_merged ? "Mara" : "Tomas") + " brings bread.\n");
  const Ended ended = stage.edit("echo 'One more line.' >>\"$1\"");
  CHECK(ended.exit == 0);
  CHECK(ended.err == "your draft was stored as revision " + std::string(is_merged ? "3" : "2") + "\n");
  CHECK(stage.content() == stored + "One more line.\n");
}
