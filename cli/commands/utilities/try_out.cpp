// `ws try`: a service, two folders and two people for ten seconds; what a run, a merge, a conflict and an undo are.
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

#include "api-client/base/clean.hpp"
#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/process.hpp"
#include "api-client/base/user_environment.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/session.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

/// Removed at the end of the program, however that comes.
fs::path& scratch_folder() {
  static fs::path folder;
  return folder;
}

void remove_scratch() {
  std::error_code ignored;
  if (!scratch_folder().empty()) fs::remove_all(scratch_folder(), ignored);
}

Result<fs::path> make_scratch() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "ws-try-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    return fail(Failure::Kind::disk, "cannot make a folder for temporary files", "set TMPDIR to a folder that you own");
  }
  scratch_folder() = name;
  std::atexit(remove_scratch);
  return fs::path(name);
}

constexpr std::string_view fixtures = R"(v: 1
people:
  - {email: mira@example.com, name: Mira Lund}
  - {email: jonas@example.com, name: Jonas Weber}
workspaces:
  - name: Kitchen
    members: [{person: mira@example.com, role: owner}, {person: jonas@example.com, role: editor}]
keys:
  - {person: mira@example.com, workspace: Kitchen, secret: wsk_try_mira_0000000000000000}
  - {person: jonas@example.com, workspace: Kitchen, secret: wsk_try_jonas_000000000000000}
)";

struct Person {
  std::string name;
  std::string key;
};

/// The service, and what the two people do.
class Stage {
 public:
  Stage(Session& session, fs::path scratch) : session_(session), scratch_(std::move(scratch)) {}
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() { stop_service(); }

  /// On the address that it had before, once it had one.
  Result<void> start_service() {
    WS_TRY(write_file(scratch_ / "world.yaml", fixtures));
    std::error_code ignored;
    fs::remove(scratch_ / "ready.json", ignored);
    std::vector<std::string> command = {mock_program(),
                                        "--listen=" + address_,
                                        "--ready-file=" + (scratch_ / "ready.json").string(),
                                        "--data=" + (scratch_ / "service.db").string(),
                                        "--seed=1",
                                        "--log=off",
                                        "--exit-with-parent"};
    if (base_url_.empty()) command.push_back("--fixtures=" + (scratch_ / "world.yaml").string());
    const Descriptor nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
    auto started = Process::start(std::move(command),
                                  {.in = nowhere.get(), .out = nowhere.get(), .err = nowhere.get(), .own_group = true});
    if (!started && started.error().code == "program_not_found") {
      return fail(Failure::Kind::usage,
                  "ws-mock is neither beside ws nor in PATH",
                  "it comes with ws, in the same archive or as a package of its own");
    }
    WS_LET(service_, std::move(started));
    constexpr std::chrono::seconds patience{10};
    const auto until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until && !service_->poll() && !session_.world().cancelled) {
      if (const auto text = read_file(scratch_ / "ready.json")) {
        WS_LET(const Json ready, parse_bounded(*text));
        base_url_ = find_text(ready, "base_url").value_or("");
        address_ = base_url_.substr(base_url_.find("//") + 2);
        return {};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return fail(Failure::Kind::internal, "ws-mock did not start");
  }

  void stop_service() {
    if (!service_) return;
    service_->signal(SIGTERM);
    service_->wait();
    service_.reset();
  }

  void say(std::string_view text) { session_.terminal().write(Stream::out, fmt::format("{}\n", text)); }

  /// Shows the command, runs it in the person's folder, and says how it ended where that is not 0.
  Result<void> ws(const Person& person, std::vector<std::string> words) {
    const std::string shown = fmt::format("{}$ ws {}", person.name, fmt::join(words, " "));
    say(session_.terminal().paint(Stream::out, Look::strong, shown));
    std::error_code ignored;
    fs::current_path(folder(person), ignored);
    std::vector<std::string> command = {self()};
    command.insert(command.end(), words.begin(), words.end());
    const Descriptor nowhere(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ProcessOptions options = this->options(person);
    options.in = nowhere.get();
    WS_LET(const Process child, Process::start(std::move(command), options));
    const int exit = child.wait();
    if (exit != 0) say(fmt::format("(exit code {})", exit));
    return {};
  }

  /// The same unseen; its stdout.
  Result<Json> ask(const Person& person, std::vector<std::string> words) {
    words.emplace_back("--json");
    std::vector<std::string> command = {self()};
    command.insert(command.end(), words.begin(), words.end());
    command.insert(command.begin() + 1, {"-C", folder(person).string()});
    WS_LET(const RunEnd ended, run_process(std::move(command), options(person), {}));
    if (ended.exit != 0) return fail(Failure::Kind::internal, "a step of the story failed: " + ended.err);
    return parse_bounded(ended.out);
  }

  /// What is in the person's note, as `cat` prints it.
  Result<void> show(const Person& person, const std::string& name) {
    say(session_.terminal().paint(Stream::out, Look::strong, fmt::format("{}$ cat {}", person.name, name)));
    WS_LET(const std::string text, read_file(folder(person) / name));
    session_.terminal().write(Stream::out, text);
    return {};
  }

  fs::path folder(const Person& person) const { return scratch_ / person.name; }
  Result<void> write(const Person& person, const std::string& name, std::string_view text) {
    WS_TRY(make_folders((folder(person) / name).parent_path()));
    return write_file(folder(person) / name, text);
  }

 private:
  static std::string self() { return "/proc/self/exe"; }

  ProcessOptions options(const Person& person) const {
    const std::string home = (scratch_ / ("home-" + person.name)).string();
    ProcessOptions options{.environment = {{"HOME", home},
                                           {"XDG_CONFIG_HOME", home + "/config"},
                                           {"XDG_DATA_HOME", home + "/data"},
                                           {"XDG_STATE_HOME", home + "/state"},
                                           {"XDG_CACHE_HOME", home + "/cache"},
                                           {"WS_BASE_URL", base_url_},
                                           {"WS_TOKEN", person.key}},
                           .without = user_environment};
    if (!session_.terminal().has_color(Stream::out)) options.environment.emplace_back("NO_COLOR", "1");
    return options;
  }

  Session& session_;
  fs::path scratch_;
  std::string base_url_ = {};
  std::string address_ = "127.0.0.1:0";
  std::optional<Process> service_ = {};
};

const Person mira{.name = "mira", .key = "wsk_try_mira_0000000000000000"};
const Person jonas{.name = "jonas", .key = "wsk_try_jonas_000000000000000"};

/// The note of the story, in the states that it goes through.
std::string soup(std::string_view title, std::string_view time, const std::vector<std::string_view>& list) {
  return fmt::format("# {}\n{}\n- {}\n", title, time, fmt::join(list, "\n- "));
}

struct Scene {
  std::string_view title;
  std::string_view words;
  Result<void> (*play)(Stage& stage);
};

Result<void> first_sync(Stage& stage) {
  WS_TRY(stage.write(mira, "soup.md", soup("Soup", "For four, 35 minutes.", {"lentils", "carrots"})));
  WS_TRY(stage.write(mira, "index.md", "# Recipes\n\nToday: [soup](soup.md)\n"));
  WS_TRY(stage.ask(mira, {"projects", "create", "Recipes"}));
  WS_TRY(stage.show(mira, "soup.md"));
  WS_TRY(stage.ws(mira, {"sync", "init", "--name", "recipes", "--project", "Recipes"}));
  return stage.ws(mira, {"sync"});
}

Result<void> second_person(Stage& stage) {
  WS_LET(const Json status, stage.ask(mira, {"sync", "status"}));
  WS_TRY(stage.ws(jonas, {"sync", "init", "--source", find_text(status, "source_id").value_or("")}));
  return stage.ws(jonas, {"sync"});
}

Result<void> merge(Stage& stage) {
  WS_TRY(stage.write(mira, "soup.md", soup("Soup", "For six, 35 minutes.", {"lentils", "carrots"})));
  WS_TRY(stage.write(jonas, "soup.md", soup("Soup", "For four, 35 minutes.", {"lentils", "carrots", "leek"})));
  stage.say("(mira writes \"six\" for \"four\"; jonas adds \"leek\" to the list)");
  WS_TRY(stage.ws(mira, {"sync"}));
  WS_TRY(stage.ws(jonas, {"sync"}));
  WS_TRY(stage.ws(mira, {"sync"}));
  return stage.show(mira, "soup.md");
}

Result<void> conflict(Stage& stage) {
  WS_TRY(stage.write(mira, "soup.md", soup("Soup", "For six, 40 minutes.", {"lentils", "carrots", "leek"})));
  WS_TRY(stage.write(jonas, "soup.md", soup("Soup", "For six, 30 minutes.", {"lentils", "carrots", "leek"})));
  stage.say("(mira writes \"40 minutes\", jonas \"30 minutes\")");
  WS_TRY(stage.ws(mira, {"sync"}));
  WS_TRY(stage.ws(jonas, {"sync"}));
  WS_TRY(stage.ws(jonas, {"sync", "resolve", "soup.md", "--keep", "mine"}));
  WS_TRY(stage.ws(mira, {"sync"}));
  stage.say(
      "(`ws sync resolve` alone shows both texts and asks; `both` makes two notes of\n"
      " them. Mira's text is kept: `ws sync log soup.md` lists older texts, each by an\n"
      " id, and `ws sync restore soup.md --at ID` brings one back)");
  return {};
}

Result<void> rename(Stage& stage) {
  WS_TRY(stage.ws(mira, {"sync", "mv", "soup.md", "dinner/soup.md"}));
  WS_TRY(stage.show(mira, "index.md"));
  WS_TRY(stage.ws(mira, {"sync"}));
  return stage.ws(jonas, {"sync"});
}

Result<void> runs(Stage& stage) {
  WS_TRY(stage.ws(mira, {"sync", "log", "--runs"}));
  stage.say("(to take the rename back now: undo run 7, which sent it; that undoes run 6 too)");
  return {};
}

Result<void> undo(Stage& stage) {
  WS_TRY(stage.write(mira, "dinner/soup.md", soup("Soup", "For six, 30 minutes.", {"lentils", "leek"})));
  stage.say("(mira deletes the carrots)");
  WS_TRY(stage.ws(mira, {"sync"}));
  WS_TRY(stage.ask(jonas, {"sync"}));
  WS_TRY(stage.write(jonas, "dinner/soup.md", soup("Spicy soup", "For six, 30 minutes.", {"lentils", "leek"})));
  WS_TRY(stage.ask(jonas, {"sync"}));
  stage.say("(jonas receives that, writes \"Spicy soup\" in the title, and syncs)");
  WS_TRY(stage.ws(mira, {"sync", "undo"}));
  WS_TRY(stage.show(mira, "dinner/soup.md"));
  return {};
}

Result<void> fault(Stage& stage) {
  WS_TRY(stage.write(mira, "bread.md", "# Bread\n"));
  stage.stop_service();
  stage.say("(mira writes bread.md; then the service stops)");
  WS_TRY(stage.ws(mira, {"sync", "--no-retry"}));
  WS_TRY(stage.start_service());
  stage.say("(the service is there again)");
  return stage.ws(mira, {"sync"});
}

constexpr Scene scenes[] = {
    {"A first sync",
     "Mira and Jonas are members of one Workspace on the service. `ws sync init` makes\n"
     "a source: an empty place there for the notes of Mira's folder. `ws sync` makes\n"
     "both the same: it sends what changed here, and receives what changed there.",
     first_sync},
    {"A second person",
     "Jonas syncs a folder of his own with the same source. Nobody writes into another\n"
     "person's folder: what one sends, the others receive at their next `ws sync`.",
     second_person},
    {"A merge",
     "Both edit one note, in different places. Whoever syncs second gets both edits,\n"
     "and sends the result; the first receives it at the next sync.",
     merge},
    {"A conflict",
     "Both edit the same line. Until Jonas decides, neither text is overwritten: his\n"
     "file keeps his, the service keeps Mira's. All other notes go on syncing.",
     conflict},
    {"A rename",
     "`ws sync mv` renames a note and edits the links to it in other notes, in this\n"
     "folder; the next sync sends both.",
     rename},
    {"Runs",
     "Each command that changed notes is a run: a sync that sent or received, a\n"
     "rename, a resolved conflict, an undo. Every folder numbers its own; these are\n"
     "Mira's.",
     runs},
    {"An undo",
     "`ws sync undo` reverses the last run, in this folder and on the service. If that\n"
     "run received other people's edits, those are undone too, for everybody: undo\n"
     "asks first, and `undo -n` only shows. Edits made after the run stay; if one is\n"
     "on the same line, that note is not undone, and is named.",
     undo},
    {"A fault",
     "The service goes away while there is something to send. Nothing is lost: the\n"
     "next sync sends it. (Without --no-retry this one would try again for a while.)",
     fault},
};

/// Whether to go on.
bool wait_for_enter(Session& session) {
  if (session.has("yes") || !session.terminal().may_ask()) return true;
  const auto answer = session.terminal().ask_line("Enter goes on, q ends it: ");
  return answer && *answer != "q";
}

Result<ExitCode> try_out(Session& session) {
  WS_LET(const fs::path scratch, make_scratch());
  // What cannot be written ends the program at once.
  session.terminal().on_write_error([](const std::string& what, Terminal::WriteError error) {
    remove_scratch();
    return error == Terminal::WriteError::failed ? "error: " + what + "\n" : std::string();
  });
  Stage stage(session, scratch);
  for (const Person* person : {&mira, &jonas}) WS_TRY(make_folders(stage.folder(*person)));
  WS_TRY(stage.start_service());
  stage.say(
      "`ws` keeps a folder of notes the same for several people, through a service.\n"
      "This demo plays two of them, Mira and Jonas, in 8 steps; you press Enter.\n"
      "All of it is on this machine and deleted at the end; your own folders, keys and\n"
      "settings are not touched.\n");
  if (!wait_for_enter(session)) return ExitCode::done;
  std::size_t number = 0;
  for (const Scene& scene : scenes) {
    const std::string title = fmt::format("{}/{} {}", ++number, std::size(scenes), scene.title);
    stage.say("\n" + session.terminal().paint(Stream::out, Look::strong, title));
    stage.say(fmt::format("{}\n", scene.words));
    WS_TRY(scene.play(stage));
    if (session.world().cancelled) return fail(Failure::Kind::cancelled, "stopped");
    if (number < std::size(scenes) && !wait_for_enter(session)) return ExitCode::done;
  }
  stage.say(
      "\nThat was it; the service and both folders are deleted. In a folder of yours:\n"
      "  ws login          asks for the address of your service, and signs you in\n"
      "  ws sync init      makes a source, or joins one by --source ID; sends no notes\n"
      "  ws sync status    lists what a sync would do\n"
      "  ws sync           does it");
  return ExitCode::done;
}

}  // namespace

Command try_command() {
  return {.words = "try",
          .summary = "See a sync, a merge, a conflict and an undo, in ten seconds",
          .details =
              "Two people and a service on this machine, in a folder that is removed afterwards: each step shows its "
              "command, and waits for Enter. Nothing is installed, and none of your files is touched. --yes runs it "
              "without waiting.",
          .examples = {"ws try --yes"},
          .hands_back = true,
          .reads_no_settings = true,
          .run = try_out};
}

}  // namespace ws::cli
