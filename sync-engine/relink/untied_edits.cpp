#include "sync-engine/relink/untied_edits.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/json.hpp"
#include "sync-engine/changes/carry_out.hpp"
#include "sync-engine/disk/safe_write.hpp"

namespace ws::sync {
namespace {

/// Its first byte keeps it out of `StagingFolder::leftovers`.
constexpr const char* steps_name = ".steps.json";
/// Before the hash of a text that others wrote.
constexpr std::string_view kept_prefix = "kept-";

Json to_json(const std::vector<FileStep>& steps, const std::string& command) {
  Json list = Json::array();
  for (const FileStep& step : steps)
    list.push_back({{"from", step.from->string()},
                    {"to", step.to->string()},
                    {"seen", step.seen->hex()},
                    {"result", step.result->hex()}});
  return {{"v", 1}, {"command", command}, {"steps", std::move(list)}};
}

std::optional<FileStep> read_step(const Json& each) {
  const auto from = RelativePath::parse(find_text(each, "from").value_or(""));
  const auto to = RelativePath::parse(find_text(each, "to").value_or(""));
  const auto seen = Sha256::from_hex(find_text(each, "seen").value_or(""));
  const auto result = Sha256::from_hex(find_text(each, "result").value_or(""));
  if (!from || !to || !seen || !result) return std::nullopt;
  return FileStep{.from = *from, .to = *to, .seen = *seen, .result = *result};
}

tl::unexpected<Failure> damaged_steps() {
  return fail(
      Failure::Kind::disk,
      fmt::format("{}/{}, the record of an interrupted command, cannot be read", untied_edits_folder, steps_name),
      fmt::format("compare the notes with their earlier texts, then remove {}", untied_edits_folder));
}

/// As modes say, also to root, whom the system refuses nothing.
bool is_read_only(int folder, const char* name) {
  struct stat status {};
  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  return (status.st_mode & 0222U) == 0 || ::faccessat(folder, name, W_OK, AT_EACCESS) != 0;
}

/// What would stop a step halfway is found before the first.
class WritableCheck {
 public:
  explicit WritableCheck(const RootFolder& root) : root_(root), device_(device_of(root.fd())) {}

  /// Fails with `disk`.
  Result<void> check(const FileStep& step) {
    WS_TRY(check_folder(step.from->folder()));
    if (step.from->folder() != step.to->folder()) WS_TRY(check_folder(step.to->folder()));
    const Descriptor folder = root_.open_beneath(step.from->folder(), O_RDONLY | O_DIRECTORY);
    if (step.seen != step.result && folder && is_read_only(folder.get(), std::string(step.from->name()).c_str()))
      return fail(
          Failure::Kind::disk,
          fmt::format("{} is read-only, and its links would have to be edited: nothing was changed", step.from->text()),
          "make it writable");
    return {};
  }

 private:
  static dev_t device_of(int folder) {
    struct stat status {};
    return ::fstat(folder, &status) == 0 ? status.st_dev : dev_t{};
  }

  /// Of a folder that is to be made: the one above it.
  Result<void> check_folder(std::string_view name) {
    if (!checked_.emplace(name).second) return {};
    const Descriptor folder = root_.open_beneath(name, O_RDONLY | O_DIRECTORY);
    if (!folder && errno == ENOENT && !name.empty()) return check_folder(parent_folder(name));
    const std::string shown = name.empty() ? root_.path().string() : std::string(name);
    if (!folder) return disk_failure("open", shown);
    if (is_read_only(folder.get(), "."))
      return fail(Failure::Kind::disk, fmt::format("the folder {} is read-only: nothing was changed", shown));
    if (device_of(folder.get()) != device_)
      return fail(
          Failure::Kind::disk,
          fmt::format("{} is on another file system than {}: nothing was changed", shown, root_.path().string()),
          "run the command in there");
    return {};
  }

  const RootFolder& root_;
  dev_t device_;
  std::set<std::string, std::less<>> checked_;
};

/// The steps, whichever of them were done before. Fails with `disk`.
Result<UntiedDone> make_changes(SafeWriter& writer, const std::vector<FileStep>& steps) {
  std::multimap<Sha256, std::string> texts;
  WS_LET(const std::vector<std::string> names, writer.leftovers());
  for (const std::string& name : names) {
    WS_LET(const Sha256 hash, writer.hash_leftover(name));
    texts.emplace(hash, name);
  }
  const BegunSteps begun(writer, steps);
  StagedTexts staged(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].seen == steps[i].result || begun.is_written(steps[i])) continue;
    auto text = texts.extract(*steps[i].result);
    if (text.empty()) {
      staged[i] = fail(Failure::Kind::conflict, "its new text is missing");
    } else {
      staged[i] = Staged{.name = std::move(text.mapped()), .hash = *steps[i].result};
    }
  }
  UntiedDone done;
  WS_TRY(carry_out({.texts = &writer}, steps, staged, true, [&](std::size_t i, Result<void> outcome) -> Result<void> {
    const FileStep& step = steps[i];
    if (!outcome) {
      if (outcome.error().kind != Failure::Kind::conflict) return outcome;
      done.left.push_back(step.from->string());
      return {};
    }
    if (step.is_rename()) ++done.renamed;
    if (step.seen != step.result) ++done.edited;
    return {};
  }));
  return done;
}

/// All of ours goes; a text that is nobody's step stays, for somebody wrote it.
Result<bool> clear(const StagingFolder& folder, const std::vector<FileStep>& steps) {
  std::set<Sha256> ours;
  for (const FileStep& step : steps) {
    ours.insert(*step.seen);
    ours.insert(*step.result);
  }
  bool is_empty = true;
  WS_LET(const std::vector<std::string> names, folder.leftovers());
  for (const std::string& name : names) {
    WS_LET(const Sha256 hash, folder.hash_leftover(name));
    is_empty = is_empty && ours.contains(hash);
    WS_TRY(ours.contains(hash) ? folder.remove_leftover(name)
                               : folder.rename_leftover(name, std::string(kept_prefix) + hash.hex()));
  }
  // Last: until then the next command comes here again.
  WS_TRY(folder.remove_leftover(steps_name));
  return is_empty;
}

Result<UntiedDone> do_steps(const RootFolder& root,
                            StagingFolder staging,
                            const std::vector<FileStep>& steps,
                            const std::string& command) {
  SafeWriter writer = SafeWriter::over(root, std::move(staging));
  auto done = make_changes(writer, steps);
  if (!done) {
    Failure failure = std::move(done).error();
    failure.hint = "some of it is done: run the same command again to finish it";
    return fail(std::move(failure));
  }
  done->command = command;
  WS_LET(const bool is_empty, clear(writer, steps));
  if (!is_empty) done->kept = untied_edits_folder;
  return done;
}

}  // namespace

bool UntiedEdits::are_unfinished(const RootFolder& root) {
  return static_cast<bool>(
      root.open_beneath(fmt::format("{}/{}", untied_edits_folder, steps_name), O_PATH | O_NOFOLLOW));
}

Result<UntiedEdits> UntiedEdits::open(const RootFolder& root) {
  if (::mkdirat(root.fd(), untied_edits_folder, 0700) != 0 && errno != EEXIST)
    return disk_failure("write in", root.path().string());
  Descriptor folder = root.open_beneath(untied_edits_folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!folder) return disk_failure("open", untied_edits_folder);
  struct stat status {};
  // A checkout, or an archive, may hold a folder of that name: its steps are not ours.
  const bool is_ours =
      ::fstat(folder.get(), &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & 077U) == 0;
  if (!is_ours)
    return fail(Failure::Kind::disk,
                fmt::format("{} was not made by ws for this user: nothing was changed", untied_edits_folder),
                "remove it");
  if (!lock_file(folder.get(), WaitForLock::no)) {
    Failure failure{.kind = Failure::Kind::disk, .what = "another `ws links` is editing this folder"};
    failure.hint = "wait for it, then run the same command again";
    failure.code = "tree_locked";
    return fail(std::move(failure));
  }
  return UntiedEdits(root, std::move(folder));
}

UntiedEdits::~UntiedEdits() {
  // Only where it is empty.
  if (folder_) ::unlinkat(root_->fd(), untied_edits_folder, AT_REMOVEDIR);
}

Result<std::optional<UntiedDone>> UntiedEdits::finish_interrupted() {
  StagingFolder staging(Descriptor(::fcntl(folder_.get(), F_DUPFD_CLOEXEC, 0)));
  auto text = read_file_at(folder_.get(), steps_name);
  if (!text && text.error().kind == Failure::Kind::not_found) {
    // Cut off before the first step: the texts are copies.
    WS_LET(const std::vector<StagingFile> files, staging.files());
    for (const StagingFile& file : files) {
      if (!file.name.starts_with(kept_prefix)) WS_TRY(staging.remove_leftover(file.name));
    }
    return std::optional<UntiedDone>{};
  }
  if (!text) return fail(std::move(text).error());
  const auto parsed = parse_bounded(*text);
  if (!parsed || find_integer(*parsed, "v") != 1 || !parsed->contains("steps")) return damaged_steps();
  std::vector<FileStep> steps;
  for (const Json& each : (*parsed)["steps"]) {
    const auto step = read_step(each);
    if (!step) return damaged_steps();
    steps.push_back(*step);
  }
  WS_LET(UntiedDone done, do_steps(*root_, std::move(staging), steps, find_text(*parsed, "command").value_or("")));
  return std::optional(std::move(done));
}

Result<UntiedDone> UntiedEdits::carry_out(const RelinkPlan& plan, const std::string& command) {
  WritableCheck writable(*root_);
  for (const FileStep& step : plan.steps) WS_TRY(writable.check(step));
  StagingFolder staging(Descriptor(::fcntl(folder_.get(), F_DUPFD_CLOEXEC, 0)));
  const auto written = [&]() -> Result<void> {
    for (const RelinkedNote& note : plan.told.notes) WS_TRY(staging.stage(note.after));
    WS_TRY(staging.flush_texts());
    WS_LET(const Staged list, staging.stage(to_json(plan.steps, command).dump()));
    WS_TRY(staging.flush_texts());
    WS_TRY(staging.rename_leftover(list.name, steps_name));
    if (::fsync(folder_.get()) != 0 || ::fsync(root_->fd()) != 0) return disk_failure("flush", untied_edits_folder);
    return {};
  }();
  if (!written) {
    static_cast<void>(staging.remove_leftover(steps_name));
    static_cast<void>(finish_interrupted());
    return fail(written.error());
  }
  return do_steps(*root_, std::move(staging), plan.steps, command);
}

}  // namespace ws::sync
