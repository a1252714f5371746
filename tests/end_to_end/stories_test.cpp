// What people do in their first hour, as scripts that use nothing but what README and help tell.
#include <catch2/catch.hpp>

#include "tests/support/build_paths.hpp"
#include "tests/support/mock_process.hpp"
#include "tests/support/two_people.hpp"

using namespace ws;
using namespace ws::test;

namespace {

Ended tell(const std::string& story, const Person& person, const MockProcess& server) {
  Command command = person.command({}, person.home());
  command.program = "/bin/sh";
  command.arguments = {source_path("/tests/end_to_end/stories/") + story + ".sh"};
  command.environment["URL"] = server.base_url();
  command.environment["RECIPES"] = source_path("/recipes");
  command.environment["PATH"] = program_folder() + ":/usr/bin:/bin";
  return run_command(command);
}

}  // namespace

TEST_CASE("stories: from the login to the first conflict settled", "[end-to-end]") {
  const MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Ended ended = tell("login_to_first_conflict", Person(), server);
  CAPTURE(ended.out, ended.err);
  CHECK(ended.exit == 0);
}

TEST_CASE("stories: all documents as files, an answer for each line of a file", "[end-to-end]") {
  const MockProcess server;
  const std::string story = GENERATE("export_documents", "ask_each_line");
  const Ended ended = tell(story, Person(server), server);
  CAPTURE(story, ended.out, ended.err);
  CHECK(ended.exit == 0);
}

TEST_CASE("stories: an agent answers the comments that mention it", "[end-to-end]") {
  // A failed event is handed out again after 5 s of the service's clock: the story waits for it.
  const MockProcess server;
  const Ended ended = tell("answer_comments", Person(server), server);
  CAPTURE(ended.out, ended.err);
  CHECK(ended.exit == 0);
}

TEST_CASE("stories: a CI job with sandboxes, a fault and a sweep", "[end-to-end]") {
  const MockProcess server;
  const Ended ended = tell("ci_job", Person(server), server);
  CAPTURE(ended.out, ended.err);
  CHECK(ended.exit == 0);
}

TEST_CASE("stories: links are checked, follow renames, and are taken back", "[end-to-end]") {
  const MockProcess server;
  const Ended ended = tell("links_follow_renames", Person(server), server);
  CAPTURE(ended.out, ended.err);
  CHECK(ended.exit == 0);
}

TEST_CASE("stories: a vault of notes and pictures on two machines, renamed and attached to on both", "[end-to-end]") {
  const MockProcess server;
  const Ended ended = tell("whole_vault", Person(server), server);
  CAPTURE(ended.out, ended.err);
  CHECK(ended.exit == 0);
}

TEST_CASE("stories: two people, two machines, one week", "[end-to-end]") {
  const MockProcess server;
  const Ended ended = tell("two_people_one_week", Person(), server);
  CAPTURE(ended.out, ended.err);
  CHECK(ended.exit == 0);
}
