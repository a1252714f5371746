// What a person sees, whole screens of it, beside golden files (`WS_ACCEPT=1` rewrites them; read what changed).
#include "tests/cli/workflow/screens.hpp"

#include <set>

#include "api-client/base/clock.hpp"
#include "cli/commands/registry.hpp"
#include "tests/support/build_paths.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// Everything was made three hours ago, whenever the test runs: the screens show relative times. (So leases and uploads
/// are over when they begin.)
std::string three_hours_ago() {
  return to_rfc3339(SystemClock().now() - std::chrono::hours{3} - std::chrono::minutes{5});
}

struct Lighthouse {
  MockProcess server{{"--fixtures",
                      source_path("/tests/cli/golden/world.yaml"),
                      "--seed",
                      "1",
                      "--assume",
                      "workspace_create=visible",
                      "--device",
                      "auto",
                      "--device-interval",
                      "1",
                      "--clock",
                      "frozen:" + three_hours_ago()}};
  Person ada{server};
  Person grace{server};
  Person keeper{server};
  Person visitor{server};
  ScreensFolder folder;

  Lighthouse() {
    ada.environment["WS_TOKEN"] = "wsk_screens_ada_every_scope_000000000000000001";
    grace.environment["WS_TOKEN"] = "wsk_screens_grace_reads_documents_000000000001";
    keeper.environment["WS_TOKEN"] = "wsk_screens_agent_keeper_secret_0000000000001";
    visitor.environment.erase("WS_TOKEN");
    ada.environment["EDITOR"] = "sed -i s/dusk/sunset/";
    folder.make_home_of(ada, "ada");
    folder.make_home_of(grace, "grace");
    folder.make_home_of(keeper, "keeper");
    folder.make_home_of(visitor, "visitor");
  }
  std::string document(const std::string& title) const {
    const std::string all = ada.ws({"docs", "list", "--template", "{title}\t{id}"}).out;
    return all.substr(all.find(title + "\t") + title.size() + 1, 36);
  }
  /// The id of the first item.
  std::string first(std::vector<std::string> list) const {
    list.insert(list.end(), {"--format", "ids"});
    return ada.ws(list).out.substr(0, 36);
  }
  std::string file(const std::string& name) const {
    const std::string all = ada.ws({"files", "list", "--template", "{original_file_name}\t{id}"}).out;
    return all.substr(all.find(name + "\t") + name.size() + 1, 36);
  }
};

struct Step {
  Person Lighthouse::*who = nullptr;
  std::string line = {};
  std::string note = {};
};

constexpr auto ada = &Lighthouse::ada;
constexpr auto grace = &Lighthouse::grace;
constexpr auto keeper = &Lighthouse::keeper;
constexpr auto visitor = &Lighthouse::visitor;

/// In the order in which a world is looked at, then changed.
const std::vector<Step>& steps() {
  static const std::vector<Step> all = {
      {visitor, "auth list"},
      {visitor, "docs list", "nobody has logged in"},
      {visitor, "login --store file"},
      {visitor, "auth status"},
      {visitor, "auth list"},
      {visitor, "auth switch default"},
      {visitor, "logout"},
      {ada, "whoami"},
      {keeper, "whoami", "an agent"},
      {ada, "auth status"},
      {ada, "config get pager"},
      {ada, "config set max_wait 30"},
      {ada, "config explain max_wait"},
      {ada, "config list"},
      {ada, "exit-codes"},
      {ada, "commands"},
      {ada, "discover"},
      {ada, "discover --diff"},
      {ada, "workspaces list"},
      {ada, "docs list"},
      {ada, "docs list --limit 2"},
      {ada, "docs get HANDOVER"},
      {ada, "docs get HANDOVER --render"},
      {ada, "docs export out"},
      {ada, "search 'lamp lit'"},
      {ada, "search nothing-of-the-kind"},
      {ada, "ask 'When is the lamp lit?'"},
      {ada, "comments list HANDOVER"},
      {ada, "comments add Handover -m 'And on Sundays?'"},
      {ada, "comments reply Handover THREAD -m 'At ten.'"},
      {ada, "comments resolve Handover THREAD"},
      {ada, "comments reopen Handover THREAD"},
      {ada, "comments reanchor Handover THREAD"},
      {ada, "files list"},
      {ada, "files get FILE"},
      {ada, "files organize TIDES -m 'A page for each tide'"},
      {ada, "files operation OPERATION --wait"},
      {ada, "files uploads"},
      {ada, "files download TIDES"},
      {ada, "files upload tides.csv"},
      {ada, "files upload tides.csv --start-only"},
      {ada, "files uploads"},
      {ada, "files finalize UPLOAD"},
      {ada, "agents list"},
      {ada, "agents create diver --name Diver"},
      {ada, "agents update @diver --name 'The diver'"},
      {ada, "agents pause @diver"},
      {ada, "agents resume @diver"},
      {ada, "agents rotate diver --yes"},
      {ada, "agents revoke diver --yes"},
      {keeper, "events claim", "as an agent"},
      {keeper, "events renew EVENT"},
      {keeper, "events complete EVENT --result '{\"lit\": true}'"},
      {ada, "comments add Handover -m '@keeper, @kepper: and now?'"},
      {keeper, "events claim"},
      {keeper, "events fail EVENT --error 'no such lamp'"},
      {keeper, "events claim"},
      {keeper, "events complete EVENT"},
      {ada, "comments add Handover -m '@keeper: once more'"},
      {keeper, "events work --once -- echo lit"},
      {keeper, "events claim --wait-seconds 0", "nothing is waiting"},
      {ada, "questions list"},
      {ada, "questions get QUESTION"},
      {ada, "conversations list"},
      {ada, "conversations get CONVERSATION"},
      {ada, "tests runs list"},
      {ada, "tests catalog"},
      {ada, "tests suites list"},
      {ada, "tests suites get smoke"},
      {ada, "tests cases list"},
      {ada, "tests cases get tree.no_cycle"},
      {ada, "tests runs launch --suite smoke"},
      {ada, "tests runs list"},
      {ada, "tests runs get RUN"},
      {ada, "workspaces create Harbour"},
      {ada, "projects create Dredging"},
      {ada, "docs create Sand --project Dredging -F content=x"},
      {ada, "docs create Sand --project Drudging -F content=x"},
      {ada, "docs create Tides -F content=x"},
      {ada, "nodes move NODE --to root"},
      {ada, "docs update last -F content=y --revision 1"},
      {ada, "docs edit Handover"},
      {ada, "docs share Tides --with @keeper --permission read"},
      {ada, "docs archive Tides"},
      {ada, "docs get TIDES_PAGE", "archived"},
      {grace, "docs create 'Not mine to make'", "a key that reads"},
      {ada, "docs get OTHER"},
      {ada, "docs get 'When is the lamp lit?'", "two have this title"},
      {ada, "docs get 'No such title'"},
      {ada, "docs list --fields id,titel"},
      {ada, "docs list --limit 500"},
      {ada, "docs update HANDOVER -F content=x --revision 7"},
  };
  return all;
}

std::string id_behind(const std::string& text, const std::string& words, std::string before) {
  const std::size_t at = text.find(words);
  return at == std::string::npos ? before : text.substr(at + words.size(), 36);
}

void check_screens(const std::string& file, int columns, std::vector<std::string> flags) {
  const Lighthouse world;
  Screens screens(world.server, columns, std::move(flags));
  std::string event;
  std::string upload;
  std::string operation;
  std::string tides;
  const std::string handover = world.document("Handover");
  screens.names = {
      {"HANDOVER", [&] { return handover; }},
      {"THREAD",
       [&] {
         return world.first({"comments", "list", handover});
       }},
      {"OTHER", [] { return nobody; }},
      {"FILE", [&] { return world.file("a-plan-of-the-lamp-room-with-all-its-shutters.svg"); }},
      {"TIDES", [&] { return world.file("tides.csv"); }},
      {"QUESTION",
       [&] {
         return world.first({"questions", "list"});
       }},
      {"CONVERSATION",
       [&] {
         return world.first({"conversations", "list"});
       }},
      {"RUN",
       [&] {
         return world.first({"tests", "runs", "list"});
       }},
      {"EVENT", [&] { return event; }},
      {"UPLOAD", [&] { return upload; }},
      {"OPERATION", [&] { return operation; }},
      {"TIDES_PAGE", [&] { return tides; }},
      {"NODE",
       [&] {
         return world.ada.ws({"docs", "get", tides, "--jq", ".node_id"}).out.substr(0, 36);
       }},
  };
  for (const Step& step : steps()) {
    const std::string text = screens.show(world.*step.who, step.line, {}, step.note);
    event = id_behind(text, "Claimed the event ", event);
    upload = id_behind(text, "Started the upload ", upload);
    operation = id_behind(text, "Started the organization run ", operation);
    if (step.line.starts_with("docs create Tides")) tides = id_behind(text, "revision 1 (", tides);
  }
  screens.check(file);
}

/// What has no screen, and why.
const std::map<std::string, std::string, std::less<>> not_shown = {
    {"auth login", "the same as `ws login`"},
    {"auth logout", "the same as `ws logout`"},
    {"auth token", "prints the key alone"},
    {"questions create", "the same as `ws ask`"},
    {"call", "prints what the operation's own command prints"},
    {"api", "prints what the service answered, in no view"},
    {"schema", "prints JSON, whatever the terminal"},
    {"completion", "prints a script for a shell"},
    {"skill show", "prints a file of the service"},
    {"skill install", "writes files of the service"},
    {"doctor", "prints what the machine has: utilities_test"},
    {"mock", "starts ws-mock, whose output it is"},
    {"version", "prints a number, which changes"},
    {"sync watch", "prints the time on each line: sync_watch_test"},
    {"sync account", "prints a sentence: sync_account_test"},
    {"sync share", "prints two sentences and a command: sync_account_test"},
    {"sync leave", "prints the rows of `ws sync restore`: sync_leave_test"},
    {"sync take", "prints the rows of `ws sync pull`: sync_leave_test"},
    {"try", "shows those of a whole story: try_test"},
    {"links mv", "the same as `ws sync mv` in a synced folder; elsewhere: links_anywhere_test"},
    {"merge", "prints the text: merge_test"},
    {"sync attachments list", "the same as `ws sync attachments`"},
    {"sync attachments add", "prints the names that it was given: sync_wishes_test"},
    {"sync attachments accept", "the same"},
    {"sync attachments refuse", "the same"},
};

}  // namespace

TEST_CASE("screens: at 80 columns", "[cli]") { check_screens("screens_80.txt", 80, {"--color", "never"}); }

TEST_CASE("screens: at 80 columns, in colour", "[cli]") {
  check_screens("screens_80_color.txt", 80, {"--color", "always"});
}

TEST_CASE("screens: at 120 columns", "[cli]") { check_screens("screens_120.txt", 120, {"--color", "never"}); }

TEST_CASE("screens: at 200 columns", "[cli]") { check_screens("screens_200.txt", 200, {"--color", "never"}); }

TEST_CASE("screens: plain", "[cli]") { check_screens("screens_plain.txt", 80, {"--plain"}); }

TEST_CASE("screens: every command has one, or is named with the reason", "[cli]") {
  std::string all;
  for (const char* const file : {"screens_80.txt", "sync_screens_80.txt"}) {
    all += read_text(source_path("/tests/cli/golden/") + file);
  }
  const auto entries = cli::all_commands();
  std::set<std::string, std::less<>> shown;
  const std::regex command_line("\\$ ws ([^\n]*)\n");
  for (auto at = std::sregex_iterator(all.begin(), all.end(), command_line); at != std::sregex_iterator(); ++at) {
    const cli::Resolution found = cli::resolve(entries, words_of((*at)[1].str()));
    if (found.entry) shown.insert(std::string(found.entry->words));
  }
  for (const cli::Entry& entry : entries) {
    CAPTURE(entry.words);
    CHECK(shown.contains(entry.words) != not_shown.contains(entry.words));
  }
}
