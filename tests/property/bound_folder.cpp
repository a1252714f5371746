#include "tests/property/bound_folder.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/stat.h>

#include "api-client/client/client.hpp"
#include "sync-engine/git/object.hpp"
#include "sync-engine/git/repository.hpp"
#include "sync-engine/remote/api_remote.hpp"

namespace ws::property {
namespace {

namespace fs = std::filesystem;

/// In memory if possible: an engine flushes the disk a dozen times in each run.
fs::path quick_folder() { return fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path(); }

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::error_code ignored;
  const std::uintmax_t size = fs::file_size(path, ignored);
  std::string text(ignored ? 0 : size, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text;
}

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

FileFacts facts_of(const fs::path& path) {
  struct stat status {};
  ::lstat(path.c_str(), &status);
  FileFacts facts{.changed_ns = nanoseconds(status.st_mtim),
                  .touched_ns = nanoseconds(status.st_ctim),
                  .inode = status.st_ino,
                  .mode = status.st_mode};
  facts.text = S_ISLNK(status.st_mode) ? fs::read_symlink(path).string() : read_text(path);
  return facts;
}

Files files_below(const fs::path& root, const std::set<std::string>& leave_out) {
  Files files;
  const std::size_t root_size = root.native().size() + 1;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    const std::string& path = entry->path().native();
    if (leave_out.contains(path.substr(path.rfind('/') + 1))) {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_symlink() && !entry->is_regular_file()) continue;
    files.emplace(path.substr(root_size), facts_of(entry->path()));
  }
  return files;
}

/// Collects every text of a commit and its ancestors.
void collect(sync::git::Repository& repository,
             const sync::git::ObjectId& commit,
             std::set<sync::git::ObjectId>& blobs) {
  std::vector<sync::git::ObjectId> waiting = {commit};
  std::set<sync::git::ObjectId> seen;
  while (!waiting.empty()) {
    const sync::git::ObjectId id = waiting.back();
    waiting.pop_back();
    if (!seen.insert(id).second) continue;
    const auto read = repository.read_commit(id);
    if (!read) continue;
    if (const auto updates = repository.compare_trees(std::nullopt, read->tree)) {
      for (const sync::git::TreeUpdate& update : *updates) {
        if (update.blob && repository.read_blob(*update.blob)) blobs.insert(*update.blob);
      }
    }
    waiting.insert(waiting.end(), read->parents.begin(), read->parents.end());
  }
}

}  // namespace

BoundFolder::BoundFolder(Service& service, std::uint64_t seed)
    : service_(service),
      home_(quick_folder()),
      root_(home_ / "notes"),
      outside_(home_ / "outside"),
      network_([this](const http::Request& request) { return service_.answer(request); }),
      random_(seed) {
  fs::create_directories(root_);
  fs::create_directories(outside_);
  network_.begin({});
  ws::test::FakeTransport transport(network_.clock(),
                                    [this](const http::Request& request) { return network_.carry(request); });
  Client client(transport,
                network_.clock(),
                random_,
                {.base_url = service_url, .credential = Credential{service_.token(), http::origin_of(service_url)}});
  const auto remote = sync::make_api_remote(client);
  const auto binding = sync::init({.folder = root_,
                                   .base_url = service_url,
                                   .origin = http::origin_of(service_url),
                                   .source_id = service_.source_id()},
                                  *remote,
                                  network_.clock(),
                                  random_);
  if (!binding) throw std::runtime_error("init: " + binding.error().what);
}

Result<void> BoundFolder::with_engine(const Order& order, const std::function<void(sync::SyncEngine& engine)>& work) {
  network_.begin(order.fault_rate);
  ws::test::FakeTransport transport(network_.clock(),
                                    [this](const http::Request& request) { return network_.carry(request); });
  ClientOptions options{.base_url = service_url,
                        .credential = Credential{order.only_reads ? service_.viewers_token() : service_.token(),
                                                 http::origin_of(service_url)},
                        .cancelled = &stop_};
  options.budget.retries_left = 100;
  Client client(transport, network_.clock(), random_, options);
  const auto remote = sync::make_api_remote(client);
  stop_ = false;
  words_ = 0;
  const auto progress = [this, &order](const sync::Progress&) {
    if (++words_ == order.stop_at) stop_ = true;
  };
  WS_LET(sync::SyncEngine engine,
         sync::SyncEngine::open(
             root_, remote.get(), network_.clock(), {.progress = progress, .cancelled = &stop_, .threads = 1}));
  work(engine);
  return {};
}

Result<sync::Report> BoundFolder::carry_out(sync::SyncEngine& engine, const Order& order) {
  switch (order.kind) {
    case Order::Kind::run: return engine.run(order.options);
    case Order::Kind::pull: return engine.pull(order.options);
    case Order::Kind::push: return engine.push(order.options);
    case Order::Kind::commit: return engine.commit(order.options);
    case Order::Kind::status: return engine.status(order.options);
    case Order::Kind::push_and_commit: break;
  }
  WS_LET(const sync::Report pushed, engine.push(order.options));
  if (pushed.guard || pushed.ended_by) return pushed;
  return engine.commit(order.options);
}

Result<sync::Report> BoundFolder::carry_out(const Order& order) {
  Result<sync::Report> report;
  WS_TRY(with_engine(order, [&](sync::SyncEngine& engine) { report = carry_out(engine, order); }));
  return report;
}

Result<void> BoundFolder::resolve(const sync::Conflict& conflict, sync::Keep keep) {
  Result<void> resolved;
  WS_TRY(with_engine({}, [&](sync::SyncEngine& engine) { resolved = engine.resolve(conflict, keep); }));
  return resolved;
}

Files BoundFolder::files() const { return files_below(root_, {".ws"}); }
Files BoundFolder::files_outside() const { return files_below(outside_, {}); }
Files BoundFolder::own_files() const {
  // Unreachable new objects are not counted.
  return files_below(
      root_ / ".ws",
      {"stat.cache", "links.cache", "attachments.cache", "lock", "state.db-shm", "objects", "hooks", "info"});
}

std::map<std::string, std::string> BoundFolder::tree() const {
  std::map<std::string, std::string> tree;
  for (const auto& [path, file] : files()) {
    if (path.ends_with(".md") && path.front() != '.' && S_ISREG(file.mode)) tree[path] = file.text;
  }
  return tree;
}

std::map<std::string, std::string> BoundFolder::pictures() const {
  std::map<std::string, std::string> pictures;
  for (const auto& [path, file] : files()) {
    if (path.ends_with(".png") && S_ISREG(file.mode)) pictures[path] = file.text;
  }
  return pictures;
}

bool BoundFolder::remembers(const std::string& text) const { return forgotten({text}).empty(); }

std::set<std::string> BoundFolder::forgotten(std::set<std::string> texts) const {
  std::error_code ignored;
  for (const char* const folder : {"conflicts", "attachments"}) {
    if (!fs::exists(own(folder), ignored)) continue;
    for (const auto& [path, file] : files_below(own(folder), {})) texts.erase(file.text);
  }
  if (texts.empty() || !fs::exists(own("history.git") / "HEAD", ignored)) return texts;
  auto repository = sync::git::Repository::open(own("history.git"));
  if (!repository) return texts;
  std::set<sync::git::ObjectId> blobs = kept_for_undo();
  for (const auto& [path, file] : files_below(own("history.git") / "refs", {})) {
    if (const auto id = sync::git::ObjectId::from_hex(std::string_view(file.text).substr(0, 40)))
      collect(*repository, *id, blobs);
  }
  std::erase_if(texts, [&](const std::string& text) {
    const sync::git::ObjectId wanted = sync::git::object_id(sync::git::ObjectType::blob, text);
    return blobs.contains(wanted) && repository->read_blob(wanted).has_value();
  });
  return texts;
}

std::set<sync::git::ObjectId> BoundFolder::kept_for_undo() const {
  std::set<sync::git::ObjectId> blobs;
  auto state = sync::StateStore::open(own("state.db"));
  if (!state) return blobs;
  const auto all = state->operations().list();
  if (!all) return blobs;
  for (const sync::Operation& each : *all) {
    const auto rows = state->operations().rows(each.id);
    if (!rows) continue;
    for (const sync::OperationRow& row : *rows) {
      if (row.before) blobs.insert(row.before->blob);
      if (row.after) blobs.insert(row.after->blob);
    }
  }
  return blobs;
}

std::set<std::string> BoundFolder::spare_texts() const {
  std::set<std::string> texts;
  for (const auto& [path, file] : files_below(own("tmp"), {})) texts.insert(file.text);
  return texts;
}

std::map<sync::DocumentId, sync::BaseRow> BoundFolder::base() const {
  auto state = sync::StateStore::open(own("state.db"));
  auto rows = state ? state->base() : fail(Failure(state.error()));
  if (!rows) throw std::runtime_error("the state cannot be read: " + rows.error().what);
  return std::move(*rows);
}

std::size_t BoundFolder::operations() const {
  auto state = sync::StateStore::open(own("state.db"));
  const auto all = state ? state->operations().list() : fail(Failure(state.error()));
  if (!all) throw std::runtime_error("the operations cannot be read: " + all.error().what);
  return all->size();
}

std::vector<std::string> BoundFolder::conflicts() const {
  std::vector<std::string> lines;
  auto state = sync::StateStore::open(own("state.db"));
  if (!state) return lines;
  const auto open = state->conflicts();
  if (!open) return lines;
  for (const sync::Conflict& conflict : *open)
    lines.push_back(std::string(name(conflict.kind())) + " " + conflict.path.string());
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool BoundFolder::hides_files() const {
  const Files all = files();
  return config().find("leave_out:") != std::string::npos ||
         std::any_of(all.begin(), all.end(), [](const auto& file) { return file.first.ends_with(".wsignore"); });
}

void BoundFolder::add_strangers() {
  std::ofstream(outside_ / "secret.md") << "not yours\n";
  std::ofstream(root_ / "plain.txt") << "no Markdown\n";
  std::ofstream(root_ / ".hidden.md") << "hidden\n";
  fs::create_symlink("../outside", root_ / "link");
  fs::create_symlink("../outside/secret.md", root_ / "link.md");
}

void BoundFolder::set_max_file_bytes(std::uint64_t bytes) { configure(fmt::format("max_file_bytes: {}\n", bytes)); }

std::string BoundFolder::config() const { return read_text(root_ / ".ws/config.yaml"); }
void BoundFolder::configure(const std::string& yaml) { std::ofstream(root_ / ".ws/config.yaml") << yaml; }

}  // namespace ws::property
