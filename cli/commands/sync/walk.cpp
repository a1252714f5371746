// `ws sync resolve` without PATH: the conflicts one after the other, with the user.
#include <algorithm>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "api-client/base/clean.hpp"
#include "api-client/base/media_type.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/client/client.hpp"
#include "cli/commands/shared/changed_by.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"
#include "cli/terminal/programs.hpp"
#include "cli/walk/choices.hpp"
#include "cli/walk/conflict_story.hpp"
#include "cli/walk/guide.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/git/object.hpp"

namespace ws::cli {
namespace {

using sync::Conflict;
using sync::Keep;
using Outcome = walk::ConflictResolver::Outcome;

constexpr std::size_t shown_states_of_a_file = 100;
constexpr std::size_t searched_states = 20;
constexpr std::size_t digits_of_a_state = 10;

bool is_a_name(const Conflict& conflict) {
  return conflict.is_about(sync::ConflictSubject::place) || conflict.is_about(sync::ConflictSubject::revision);
}

struct ImageSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

/// How many bytes nearly every image needs: a JPEG has its thumbnail before its size.
constexpr std::size_t image_sample_bytes = std::size_t{256} << 10U;

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = (value << 8U) | static_cast<unsigned char>(c);
  return value;
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = (value << 8U) | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

std::optional<ImageSize> jpeg_size(std::string_view bytes) {
  for (std::size_t at = 2; at + 9 <= bytes.size();) {
    if (static_cast<unsigned char>(bytes[at]) != 0xff) return std::nullopt;
    const auto marker = static_cast<unsigned char>(bytes[at + 1]);
    if (marker == 0xff) {  // fill bytes
      ++at;
      continue;
    }
    // Start of frame, for any coding; 0xc4, 0xc8 and 0xcc are other markers.
    const bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (is_frame)
      return ImageSize{.width = big_endian(bytes.substr(at + 7, 2)), .height = big_endian(bytes.substr(at + 5, 2))};
    at += 2 + big_endian(bytes.substr(at + 2, 2));
  }
  return std::nullopt;
}

std::optional<ImageSize> webp_size(std::string_view bytes) {
  const std::string_view kind = bytes.substr(12, 4);
  if (kind == "VP8X")
    return ImageSize{.width = little_endian(bytes.substr(24, 3)) + 1, .height = little_endian(bytes.substr(27, 3)) + 1};
  if (kind == "VP8 ")
    return ImageSize{.width = little_endian(bytes.substr(26, 2)) & 0x3fffU,
                     .height = little_endian(bytes.substr(28, 2)) & 0x3fffU};
  if (kind != "VP8L") return std::nullopt;
  const std::uint32_t packed = little_endian(bytes.substr(21, 4));
  return ImageSize{.width = (packed & 0x3fffU) + 1, .height = ((packed >> 14U) & 0x3fffU) + 1};
}

/// In pixels. Reads PNG, GIF, JPEG, WebP, BMP; empty for other formats and if the bytes end too early.
std::optional<ImageSize> image_size_of(std::string_view bytes) {
  if (bytes.size() < 30) return std::nullopt;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"))
    return ImageSize{.width = big_endian(bytes.substr(16, 4)), .height = big_endian(bytes.substr(20, 4))};
  if (bytes.starts_with("GIF8"))
    return ImageSize{.width = little_endian(bytes.substr(6, 2)), .height = little_endian(bytes.substr(8, 2))};
  if (bytes.starts_with("BM"))
    return ImageSize{.width = little_endian(bytes.substr(18, 4)), .height = little_endian(bytes.substr(22, 4))};
  if (bytes.starts_with("\xff\xd8")) return jpeg_size(bytes);
  if (bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") return webp_size(bytes);
  return std::nullopt;
}

/// One conflict on the resolver.
class SyncConflictResolver final : public walk::ConflictResolver {
 public:
  SyncConflictResolver(Session& session, SyncTree& tree, Conflict conflict)
      : session_(session), tree_(tree), conflict_(std::move(conflict)) {}

  /// The conflict as it is now. A service that cannot be asked leaves out who and when.
  Result<walk::ShownConflict> shown_conflict() {
    if (conflict_.is_about(sync::ConflictSubject::attachment)) return shown_attachment();
    walk::Facts facts;
    if (const auto change = last_change()) {
      facts.their_name = change->name;
      facts.their_time = change->time;
      if (is_outdated(*change)) {
        WS_LET(const std::optional<Conflict> now, tree_.engine->refresh_conflict(conflict_));
        if (now) conflict_ = *now;
      }
    }
    WS_LET(sync::ConflictTexts texts, tree_.engine->texts(conflict_));
    if (texts.remote_place) facts.their_place = texts.remote_place->string();
    if (conflict_.which == sync::ConflictCase::service_went_back && can_ask_) {
      auto rewound = tree_.engine->rewound();
      if (rewound) facts.rewound = std::move(*rewound);
    }
    on_disk_ = read_file_here();
    if (is_a_name(conflict_)) facts.my_time = time_here();
    if (on_disk_ && !is_a_name(conflict_)) {
      const bool being_merged = walk::has_open_markers(*on_disk_) && texts.local;
      if (!being_merged) texts.local = on_disk_;
      facts.my_time = time_here();
    }
    mine_ = texts.local;
    theirs_ = texts.remote;
    return walk::tell_conflict(texts, facts);
  }

  Result<Outcome> carry_out(const walk::Decided& decided) override {
    WS_LET(const std::optional<Outcome> moved, show_if_changed());
    if (moved) return *moved;
    auto done = resolve(decided);
    tree_.progress->clear();
    if (!done) {
      if (!is_refusal(done.error())) return fail(std::move(done).error());
      // Between our look and our word: the service has the last one.
      WS_LET(const std::optional<Outcome> changed, show_if_changed());
      if (changed) return *changed;
      return Outcome{.kind = Outcome::Kind::refused, .lines = {done.error().what + ".", done.error().hint}};
    }
    return Outcome{.kind = Outcome::Kind::done, .lines = told(decided)};
  }

  std::string open_both(const walk::ShownConflict& shown) override {
    std::vector<std::string> places;
    for (const std::string& file : shown.files) places.push_back((tree_.root / file).string());
    const std::string both = fmt::format("{}", fmt::join(places, " and "));
    const bool opened = has_desktop(session_.world().environment) &&
                        std::ranges::all_of(places, [](const std::string& place) { return open_on_desktop(place); });
    return opened ? "Opened both: " + both + "." : "There is no desktop to open them on: they are at " + both + ".";
  }

  Result<std::vector<std::string>> history() override {
    WS_LET(const auto states, tree_.engine->log({.path = conflict_.path, .limit = shown_states_of_a_file}));
    std::vector<std::string> lines;
    for (const sync::HistoryState& state : states) {
      const bool gone = std::ranges::any_of(state.changes, [](const auto& change) { return !change.blob; });
      lines.push_back(fmt::format("{}   {}   {}{}",
                                  shown_time(state.time),
                                  state.id.substr(0, digits_of_a_state),
                                  state.message,
                                  gone ? " (the file is gone)" : ""));
    }
    if (!lines.empty()) {
      lines.push_back("");
      lines.push_back(restore_command("STATE").in_backticks() + " restores one.");
    }
    return lines;
  }

 private:
  Result<walk::ShownConflict> shown_attachment() {
    walk::Facts facts{.my_time = time_here()};
    WS_LET(const auto open, tree_.engine->open_attachment(conflict_.path));
    if (open && open->local) facts.my_file = describe(*open->local, conflict_.path);
    if (open && open->remote) {
      facts.their_file = describe(*open->remote, open->beside.value_or(conflict_.path));
      facts.their_time = time_of_asset(open->remote->asset);
      facts.list_changed = who_changed_the_list(open->there.value_or(conflict_.path));
      if (open->beside) facts.their_place = open->beside->string();
    }
    return walk::tell_conflict({.conflict = conflict_}, facts);
  }

  /// "image/png, 12 KB, 640 x 480"; what the file that lies there tells too.
  std::string describe(const sync::Attachment& file, const sync::RelativePath& where) const {
    std::string sample(image_sample_bytes, '\0');
    std::ifstream in(tree_.root / where.string(), std::ios::binary);
    in.read(sample.data(), static_cast<std::streamsize>(sample.size()));
    sample.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    const std::string type = file.media_type.empty() ? media_type_of(where.name(), sample) : file.media_type;
    std::string text = fmt::format("{}, {}", type, human_size(file.size_bytes));
    if (const auto size = image_size_of(sample)) text += fmt::format(", {} x {}", size->width, size->height);
    return text;
  }

  /// "Grace Hopper, on 2026-11-20 10:04"; empty where the service cannot be asked.
  std::string who_changed_the_list(const sync::RelativePath& file) {
    const auto part = tree_.engine->list_part_of(file);
    const auto client = session_.client();
    if (!part || part->empty() || !client) return {};
    const auto change = find_last_change(**client, part->text());
    if (!change || !change->name) return {};
    return *change->name + (change->time ? ", on " + *change->time : "");
  }

  std::optional<std::string> time_of_asset(const std::string& asset) {
    const auto client = session_.client();
    if (!client || asset.empty()) return std::nullopt;
    const auto reply = (*client)->call({.operation = "files.get", .parameters = {{"asset_id", asset}}});
    const auto text = reply ? find_text(*reply->json, "created_at") : std::nullopt;
    if (!text) return std::nullopt;
    const auto time = parse_rfc3339(*text);
    return time ? std::optional(shown_time(*time)) : std::nullopt;
  }

  std::optional<LastChange> last_change() {
    if (conflict_.document.empty() || !can_ask_) return std::nullopt;
    const auto client = session_.client();
    if (!client) return std::nullopt;
    auto change = find_last_change(**client, conflict_.document.text());
    can_ask_ = change.has_value();
    return change;
  }

  bool is_outdated(const LastChange& change) const {
    if (is_a_name(conflict_)) return false;
    if (change.archived) return conflict_.remote.has_value();
    return !conflict_.remote || conflict_.remote->revision.number != change.revision;
  }

  std::optional<std::string> read_file_here() const {
    if (conflict_.is_about(sync::ConflictSubject::attachment) || !conflict_.local) return std::nullopt;
    const auto root = sync::RootFolder::open(tree_.root);
    if (!root) return std::nullopt;
    const auto files = sync::SafeWriter::open(*root);
    if (!files) return std::nullopt;
    auto text = files->read(conflict_.path);
    return text ? std::optional(std::move(*text)) : std::nullopt;
  }

  std::optional<std::string> time_here() const {
    struct stat status {};
    if (::lstat((tree_.root / conflict_.path.string()).c_str(), &status) != 0) return std::nullopt;
    return shown_time(Time(std::chrono::seconds(status.st_mtim.tv_sec)));
  }

  /// Empty: everything is as it was shown.
  Result<std::optional<Outcome>> show_if_changed() {
    using MaybeOutcome = std::optional<Outcome>;
    const Conflict shown = conflict_;
    const std::optional<std::string> file = on_disk_;
    WS_LET(const std::optional<Conflict> now, tree_.engine->refresh_conflict(conflict_));
    tree_.progress->clear();
    if (!now) {
      return MaybeOutcome(Outcome{.kind = Outcome::Kind::gone,
                                  .lines = {fmt::format("{}: nothing is left to decide", name_of_conflict())}});
    }
    const bool moved_there = now->remote != shown.remote || now->which != shown.which || now->path != shown.path;
    conflict_ = *now;
    const bool moved_here = read_file_here() != file;
    if (!moved_there && !moved_here) return MaybeOutcome();
    WS_LET(walk::ShownConflict shown_conflict, this->shown_conflict());
    std::string what = moved_there && moved_here ? "It changed on both sides while you looked at it."
                       : moved_there             ? "It changed on the service while you looked at it."
                                                 : "The file here changed while you looked at it.";
    what += " Nothing was done. Below is its present state; your choices for the earlier one are dropped.";
    return MaybeOutcome(
        Outcome{.kind = Outcome::Kind::changed, .lines = {std::move(what)}, .now = std::move(shown_conflict)});
  }

  /// As a command that decides the same: for the record of the run.
  std::string command_of(Keep keep) const {
    const bool is_about_name =
        conflict_.is_about(sync::ConflictSubject::place) || conflict_.kind() == sync::ConflictKind::path;
    ShellCommand command{"ws", "sync", "resolve"};
    const std::string_view word = keep_word(keep);
    is_about_name ? command.add({"--path=", word}) : command.add({"--keep=", word});
    return command.path(conflict_.path.text()).text();
  }

  Result<void> resolve(const walk::Decided& decided) {
    tree_.engine->set_command(command_of(decided.keep));
    if (decided.keep == Keep::merged) return tree_.engine->resolve(conflict_, Keep::merged, decided.text);
    // The bytes of an attachment are compared by the decision itself.
    const bool as_recorded = is_a_name(conflict_) || conflict_.is_about(sync::ConflictSubject::attachment) ||
                             !conflict_.local ||
                             (mine_ && on_disk_ == mine_ && conflict_.local->hash == Sha256::of(*mine_));
    if (!as_recorded && decided.keep == Keep::local && mine_) {
      // The service knows the text that the conflict was recorded with; what is in the file goes by itself.
      return tree_.engine->resolve(conflict_, Keep::merged, mine_);
    }
    if (!as_recorded && decided.keep == Keep::both) {
      return fail(Failure::Kind::conflict,
                  "the file was edited since the conflict was recorded, and the copy would hold the older text",
                  "run `ws sync` first, or choose another key");
    }
    return tree_.engine->resolve(conflict_, decided.keep, {});
  }

  static bool is_refusal(const Failure& failure) {
    return failure.kind == Failure::Kind::conflict || failure.kind == Failure::Kind::usage ||
           failure.kind == Failure::Kind::invalid || failure.kind == Failure::Kind::not_found;
  }

  std::string name_of_conflict() const { return clean(conflict_.path.text(), Breaks::space); }

  std::vector<std::string> told(const walk::Decided& decided) const {
    const std::string kept = decided.where_it_collides ? fmt::format("{} where it collides, and merged the rest",
                                                                     kept_text(*decided.where_it_collides))
                                                       : kept_text(decided.keep);
    std::string line = fmt::format("resolved {}: {}; {}",
                                   name_of_conflict(),
                                   kept,
                                   what_follows(conflict_, decided.where_it_collides ? Keep::merged : decided.keep));
    std::vector<std::string> lines = {std::move(line)};
    if (const std::string undo = undo_line(decided.keep); !undo.empty()) lines.push_back("  undo: " + undo);
    return lines;
  }

  ShellCommand restore_command(const std::string& state) const {
    return program_for(tree_).add({"sync", "restore"}).path(conflict_.path.text()).add({"--at=", state});
  }

  /// As a command that is no `ws -C DIR` names it.
  std::string path_from_here(const sync::RelativePath& path) const {
    const bool is_here = program_for(tree_) == ShellCommand{"ws"};
    return is_here ? path.string() : (tree_.root / path.string()).string();
  }

  /// What the decision took away, and the command that brings it back.
  std::string undo_line(Keep keep) const {
    switch (conflict_.row().subject) {
      case sync::ConflictSubject::place: return undo_of_a_name(keep);
      case sync::ConflictSubject::revision: return "";
      case sync::ConflictSubject::attachment:
        return conflict_.kind() == sync::ConflictKind::path ? undo_of_a_name(keep) : undo_of_bytes(keep);
      case sync::ConflictSubject::text: break;
    }
    const auto& lost = keep == Keep::local ? theirs_ : mine_;
    // Nothing was lost: a file came to be.
    if (!lost) return ShellCommand{"rm"}.path(path_from_here(conflict_.path)).text();
    const std::string state = find_state(*lost);
    if (!state.empty()) return restore_command(state).text();
    return program_for(tree_).add({"sync", "log"}).path(conflict_.path.text()).text();
  }

  std::string undo_of_bytes(Keep keep) const {
    const auto& lost = keep == Keep::local ? conflict_.remote : conflict_.local;
    if (!lost || keep == Keep::both) return "";
    return program_for(tree_).add({"sync", "restore"}).path(conflict_.path.text()).text();
  }

  std::string undo_of_a_name(Keep keep) const {
    const bool both_renamed = conflict_.which == sync::ConflictCase::renamed_on_both ||
                              conflict_.which == sync::ConflictCase::renamed_on_both_kept_here ||
                              conflict_.which == sync::ConflictCase::attachment_renamed_on_both;
    if (both_renamed) {
      const std::string here = path_from_here(conflict_.path);
      const std::string there = path_from_here(conflict_.remote->path);
      return keep == Keep::local ? ShellCommand{"mv"}.path(here).path(there).text()
                                 : ShellCommand{"mv"}.path(there).path(here).text();
    }
    if (!mine_ || read_file_here()) return "";
    const std::string state = find_state(*mine_);
    return state.empty() ? "" : restore_command(state).text();
  }

  /// The newest state with that text; empty where the history has none.
  std::string find_state(const std::string& text) const {
    const auto wanted = sync::git::object_id(sync::git::ObjectType::blob, text);
    const auto states = tree_.engine->log({.path = conflict_.path, .limit = searched_states});
    if (!states) return {};
    for (const sync::HistoryState& state : *states) {
      const bool has_it = std::ranges::any_of(state.changes, [&](const auto& change) { return change.blob == wanted; });
      if (has_it) return state.id.substr(0, digits_of_a_state);
    }
    return {};
  }

  Session& session_;
  SyncTree& tree_;
  Conflict conflict_;
  std::optional<std::string> mine_ = {};
  std::optional<std::string> theirs_ = {};
  std::optional<std::string> on_disk_ = {};  ///< as it was shown
  bool can_ask_ = true;
};

}  // namespace

Result<WalkReport> walk_conflicts(Session& session, SyncTree& tree, const std::vector<Conflict>& conflicts) {
  WalkReport report{.left_open = conflicts.size()};
  const walk::TextTools tools(editor_of(session.world().environment, session.terminal()));
  const auto surface = walk::make_surface(session.terminal(), session.world().environment, session.world().cancelled);
  for (std::size_t i = 0; i < conflicts.size(); ++i) {
    SyncConflictResolver resolver(session, tree, conflicts[i]);
    WS_LET(walk::ShownConflict shown_conflict, resolver.shown_conflict());
    tree.progress->clear();
    const walk::Position position{.number = i + 1, .count = conflicts.size()};
    WS_LET(const walk::WalkEnd end, lead_through(std::move(shown_conflict), position, {}, resolver, *surface, tools));
    if (end == walk::WalkEnd::decided || end == walk::WalkEnd::gone) --report.left_open;
    report.stopped = end == walk::WalkEnd::stopped;
    if (report.stopped || end == walk::WalkEnd::quit) break;
  }
  return report;
}

}  // namespace ws::cli
