#include "tests/faults/fault_world.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace ws::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* saved_name = "before";

Ended must(const Ended& ended, const std::string& what) {
  if (ended.exit != 0) throw std::runtime_error(what + ": " + ended.out + ended.err);
  return ended;
}

/// Adds the blobs from `git cat-file --batch` output: "ID TYPE SIZE\nBYTES\n" each.
void add_blobs(const std::string& out, std::set<std::string>& texts) {
  std::size_t at = 0;
  while (at < out.size()) {
    const std::size_t end = out.find('\n', at);
    if (end == std::string::npos) return;
    std::istringstream line(out.substr(at, end - at));
    std::string id;
    std::string type;
    std::size_t size = 0;
    line >> id >> type >> size;
    if (type == "blob") texts.insert(out.substr(end + 1, size));
    at = end + 1 + (line ? size + 1 : 0);
  }
}

/// The list of attachments: written by `ws`, not a text of the user.
bool is_list(const std::string& text) { return text.find("<!-- ws attachments ") != std::string::npos; }

/// Adds its rows: "| path | bytes | hash | type | id |".
void add_rows(const std::string& list, Texts& texts) {
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    if (cells.size() == 6 && cells[3].size() > 60) texts["attachment" + cells[1]] = cells[2] + cells[3];
  }
}

/// Adds what can be fetched from the service: texts of documents and of open conflicts. Texts that are only staged, and
/// old revisions, cannot be fetched.
void add_served(const json& tables, std::set<std::string>& texts) {
  for (const auto& [table, column] : {std::pair{"documents", "content"},
                                      std::pair{"sync_conflicts", "local_content"},
                                      std::pair{"sync_conflicts", "base_content"}}) {
    for (const json& row : tables.at(table)) {
      if (row.at(column).is_string() && !is_list(row.at(column))) texts.insert(row.at(column).get<std::string>());
    }
  }
}

void add_files(const fs::path& folder, std::set<std::string>& texts) {
  if (!fs::exists(folder)) return;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) texts.insert(read_text(entry.path()));
  }
}

/// The number of points to try, of `last` possible ones.
long sampled(long count, long last) {
  const char* wanted = std::getenv("WS_FAULTS");
  if (wanted == nullptr) return std::min(count, last);
  if (std::string(wanted) == "all") return last;
  return std::min(count * std::max(1L, std::strtol(wanted, nullptr, 10)), last);
}

}  // namespace

FaultWorld::FaultWorld(const fs::path& beneath)
    : tree((beneath.empty() ? folder_.path() : beneath) / "tree"), other(folder_ / "other") {
  fs::create_directories(tree);
  fs::create_directories(other);
}

Command FaultWorld::command(Words arguments, const Fault& fault, const fs::path& log) const {
  Command command = person.command(std::move(arguments), tree);
  command.environment["LD_PRELOAD"] = WS_FAULT_SHIM;
  command.environment["WS_FAULT_ROOT"] = tree.string();
  command.environment["WS_FAULT_LOG"] = log.string();
  if (fault.point != 0) command.environment["WS_FAULT_POINT"] = std::to_string(fault.point);
  if (!fault.mode.empty()) command.environment["WS_FAULT_MODE"] = fault.mode;
  if (fault.reads) command.environment["WS_FAULT_READS"] = "1";
  return command;
}

Faulted FaultWorld::ws(Words arguments, const Fault& fault) const {
  const fs::path log = folder_ / "calls";
  fs::remove(log);
  Faulted faulted{.ended = run_command(command(std::move(arguments), fault, log))};
  std::ifstream lines(log);
  std::string line;
  if (!std::getline(lines, line) || line != "ready") throw std::runtime_error("the shim did not start");
  while (std::getline(lines, line)) faulted.calls.push_back(line.substr(line.find(' ') + 1));
  return faulted;
}

bool shim_works() {
  const TemporaryFolder folder;
  const std::string log = (folder / "log").string();
  const Ended ended = run_command(
      {.arguments = {"true"},
       .environment = {{"LD_PRELOAD", WS_FAULT_SHIM}, {"WS_FAULT_ROOT", folder.path()}, {"WS_FAULT_LOG", log}}});
  return ended.exit == 0 && read_text(log) == "ready\n";
}

void FaultWorld::bind_trees() {
  const Ended made = must(ws({"sync", "init", "--name", "notes", "--json"}), "init");
  source = json::parse(made.out).at("source_id");
  must(ws_there({"sync", "init", "--source", source}), "init --source");
}

std::string FaultWorld::control(const std::string& method, const std::string& path, const std::string& body) const {
  const RawAnswer answer = server.ask({.method = method, .target = "/_mock/" + path, .json = body});
  if (answer.status / 100 != 2) throw std::runtime_error(method + " " + path + ": " + answer.body);
  return answer.body;
}

void FaultWorld::save() {
  control("PUT", std::string("snapshots/") + saved_name);
  fs::copy(tree, folder_ / "saved", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

void FaultWorld::reset() const {
  control("POST", std::string("snapshots/") + saved_name + ":restore");
  forget_requests();
  for (const auto& entry : fs::directory_iterator(tree)) fs::remove_all(entry.path());
  fs::copy(folder_ / "saved", tree, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

Texts FaultWorld::served() const {
  const RawAnswer answer =
      server.ask({.target = "/v1/sync/sources/" + source + "/pull?limit=1000", .token = server.token()});
  const json page = json::parse(answer.body);
  Texts texts;
  for (const json& item : page.at("data")) {
    if (item.at("deleted")) continue;
    if (is_list(item.at("content"))) {
      add_rows(item.at("content"), texts);
    } else {
      texts[item.at("path")] = item.at("content");
    }
  }
  forget_requests();
  return texts;
}

std::size_t FaultWorld::objects() const {
  const json tables = json::parse(control("GET", "state")).at("tables");
  return tables.at("documents").size() + tables.at("sync_sources").size();
}

std::map<std::string, std::size_t> FaultWorld::assets() const {
  const json state = json::parse(control("GET", "state"));
  std::map<std::string, std::size_t> counts;
  for (const json& row : state.at("tables").at("assets")) ++counts[row.at("content_sha256")];
  return counts;
}

Words FaultWorld::operations() const {
  const json journal = json::parse(control("GET", "requests"));
  Words operations;
  for (const json& request : journal.at("data")) {
    operations.push_back(request.at("operation").is_string() ? request.at("operation") : request.at("path"));
  }
  return operations;
}

void FaultWorld::forget_requests() const { control("DELETE", "requests"); }

void FaultWorld::add_assets(std::set<std::string>& texts) const {
  const json state = json::parse(control("GET", "state"));
  for (const json& row : state.at("tables").at("assets")) {
    const std::string id = row.at("id");
    texts.insert(server.ask({.target = "/v1/files/" + id + "/content", .token = server.token()}).body);
  }
}

void FaultWorld::add_history(std::set<std::string>& texts, Objects objects) const {
  const fs::path history = tree / ".ws" / "history.git";
  if (!fs::exists(history / "HEAD")) return;
  const std::string git = "git --git-dir='" + history.string() + "' ";
  const std::string all = git + "cat-file --batch-all-objects --batch";
  const std::string named = git + "rev-list --objects --all | cut -d' ' -f1 | " + git + "cat-file --batch";
  const Ended ended = run_command({.arguments = {"sh", "-c", objects == Objects::all ? all : named}});
  add_blobs(ended.out, texts);
}

std::set<std::string> FaultWorld::kept(Objects objects) const {
  std::set<std::string> texts;
  for (const auto& [path, text] : texts_of(tree)) texts.insert(text);
  add_files(tree / ".ws" / "conflicts", texts);
  add_files(tree / ".ws" / "attachments", texts);
  add_assets(texts);
  if (objects == Objects::all) add_files(tree / ".ws" / "tmp", texts);
  add_history(texts, objects);
  add_served(json::parse(control("GET", "state")).at("tables"), texts);
  return texts;
}

std::string FaultWorld::broken_history() const {
  const fs::path history = fs::path(".ws") / "history.git";
  if (!fs::exists(folder_ / "saved" / history / "HEAD")) return {};
  const std::string folder = (tree / history).string();
  const Ended ended = run_command({.arguments = {"git", "--git-dir=" + folder, "fsck", "--full", "--no-dangling"}});
  return ended.exit == 0 ? std::string() : "the history is broken: " + ended.out + ended.err;
}

std::set<std::string> FaultWorld::kept() const { return kept(Objects::reachable); }
std::set<std::string> FaultWorld::kept_at_once() const { return kept(Objects::all); }

Texts snapshot_of(const fs::path& folder, const std::function<bool(const std::string&)>& passes) {
  Texts all;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::end(entry); ++entry) {
    const std::string name = fs::relative(entry->path(), folder).string();
    if (!passes(name)) {
      entry.disable_recursion_pending();
      continue;
    }
    const fs::file_status status = entry->symlink_status();
    std::string what = std::to_string(static_cast<int>(status.type())) + " " +
                       std::to_string(static_cast<int>(status.permissions())) + "\n";
    if (fs::is_symlink(status)) what += fs::read_symlink(entry->path()).string();
    if (fs::is_regular_file(status)) what += read_text(entry->path());
    all[name] = std::move(what);
  }
  return all;
}

unsigned fault_seed() {
  const char* seed = std::getenv("WS_SEED");
  return seed == nullptr ? 1U : static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
}

std::vector<long> spread(long last, long count, unsigned seed) {
  count = sampled(count, last);
  std::vector<long> numbers;
  for (long i = 0; i < count; ++i) numbers.push_back((i * last / count + static_cast<long>(seed)) % last + 1);
  return numbers;
}

}  // namespace ws::test
