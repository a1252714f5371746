#include "cli/commands/docs/merged_update.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/text.hpp"
#include "cli/commands/shared/changed_by.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/terminal/programs.hpp"
#include "cli/walk/guide.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kept_revisions = 3;

/// The revisions stored in a folder, newest first.
std::vector<std::int64_t> revisions_in(const fs::path& folder) {
  std::vector<std::int64_t> revisions;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (const auto revision = parse_whole<std::int64_t>(entry.path().stem().string())) revisions.push_back(*revision);
  }
  std::ranges::sort(revisions, std::greater());
  return revisions;
}

fs::path file_in(const fs::path& folder, std::int64_t revision) { return folder / (std::to_string(revision) + ".md"); }

constexpr const char* bases_file = "bases";
constexpr std::size_t kept_bases = 16;

/// A safe name for what a server or a user chose.
std::string name_of(std::string_view text) { return Sha256::of(text).hex().substr(0, 32); }

fs::path sent_file(const fs::path& folder, const SeenTexts::Place& place) {
  return folder / (name_of(place) + ".sent");
}

struct PlaceBase {
  std::string place = {};
  std::int64_t revision = 0;
};

/// The last base of each place, newest last: a line each.
std::vector<PlaceBase> bases_in(const fs::path& folder) {
  std::vector<PlaceBase> bases;
  const auto text = read_file(folder / bases_file);
  if (!text) return bases;
  for (const std::string_view line : split_lines(*text)) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const auto revision = parse_whole<std::int64_t>(line.substr(0, blank));
    if (revision) bases.push_back({.place = std::string(line.substr(blank + 1)), .revision = *revision});
  }
  return bases;
}

bool write_bases(const fs::path& folder, const std::vector<PlaceBase>& bases) {
  std::string text;
  for (const PlaceBase& base : bases) text += fmt::format("{} {}\n", base.revision, base.place);
  return write_file(folder / bases_file, text, 0600).has_value();
}

constexpr int max_rounds = 5;

Result<Reply> send_update(Session& session, Client& client, const TextChange& change) {
  const contract::Operation& operation = operation_of("docs.update");
  Call call{.operation = operation.id};
  call.parameters.emplace_back("document_id", change.document_id);
  Json body{{"content", change.content}, {"expected_content_revision", change.base.revision}};
  if (change.title) body["title"] = *change.title;
  call.body = JsonBox(std::move(body));
  WS_TRY(check_call(session, operation, call));
  if (change.before_sending) WS_TRY(change.before_sending(change.content));
  return client.call(std::move(call));
}

Failure unknown_base(const TextChange& change) {
  return {.kind = Failure::Kind::conflict,
          .what = fmt::format(
              "the document was changed since revision {}, and that revision's text is not saved here to merge with",
              change.base.revision),
          .hint = ShellCommand{"ws", "docs", "get", change.document_id, "--content"}.in_backticks() +
                  " shows the current text; apply your change to it",
          .code = "revision_conflict"};
}

Failure still_moving(const TextChange& change) {
  return {.kind = Failure::Kind::conflict,
          .what = fmt::format("the document was changed again after each of 5 tries; revision {} is not the latest",
                              change.base.revision),
          .hint = "run the same command again",
          .code = "revision_conflict"};
}

}  // namespace

SeenTexts::SeenTexts(const fs::path& cache, std::string_view server)
    : folder_(cache / "texts" / Sha256::of(server).hex().substr(0, 16)) {}

fs::path SeenTexts::folder_of(std::string_view document_id) const { return folder_ / name_of(document_id); }

SeenTexts::Place SeenTexts::place_of(const std::string& file, int standard) {
  const fs::path path = file == "-" ? fs::path("/proc/self/fd") / std::to_string(standard) : fs::path(file);
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return {};
  return fs::weakly_canonical(fs::absolute(path, error), error).string();
}

void SeenTexts::keep(std::string_view document_id, const SeenText& text, As as, const Place& place) const {
  const fs::path folder = folder_of(document_id);
  if (!make_folders(folder, 0700) || !write_file(file_in(folder, text.revision), text.content, 0600)) return;
  std::vector<PlaceBase> bases = bases_in(folder);
  if (as == As::base || (as == As::first_base && bases.empty())) {
    std::erase_if(bases, [&](const PlaceBase& base) { return base.place == name_of(place); });
    bases.push_back({.place = name_of(place), .revision = text.revision});
    if (bases.size() > kept_bases) bases.erase(bases.begin());
    if (!write_bases(folder, bases)) return;
    forget_sent(document_id, place);
  }
  std::error_code ignored;
  const std::vector<std::int64_t> revisions = revisions_in(folder);
  for (std::size_t i = kept_revisions; i < revisions.size(); ++i) {
    if (std::ranges::find(bases, revisions[i], &PlaceBase::revision) == bases.end()) {
      fs::remove(file_in(folder, revisions[i]), ignored);
    }
  }
}

std::optional<SeenText> SeenTexts::find(std::string_view document_id, std::int64_t revision) const {
  auto content = read_file(file_in(folder_of(document_id), revision));
  if (!content) return std::nullopt;
  return SeenText{.revision = revision, .content = std::move(*content)};
}

std::optional<SeenText> SeenTexts::base(std::string_view document_id,
                                        const Place& place,
                                        const std::string& text) const {
  std::vector<PlaceBase> bases = bases_in(folder_of(document_id));
  const auto own = std::ranges::find(bases, name_of(place), &PlaceBase::place);
  if (own != bases.end() && !place.empty()) return find(document_id, own->revision);
  // Any file may come by a pipe: its own base, or one that was read since.
  const std::int64_t oldest = own != bases.end() ? own->revision : 0;
  if (oldest == 0 && bases.size() == kept_bases) return std::nullopt;  // the right one may be forgotten
  std::erase_if(bases, [&](const PlaceBase& base) { return base.revision < oldest; });
  std::ranges::sort(bases, {}, &PlaceBase::revision);
  std::optional<SeenText> made_from;
  for (const PlaceBase& base : bases) {
    auto newer = find(document_id, base.revision);
    if (!newer) return std::nullopt;
    if (made_from) {
      const auto merged = sync::merge::merge_markdown(made_from->content, text, newer->content);
      if (!merged || !merged->is_clean() || merged->text() != text) break;
    }
    made_from = std::move(newer);
  }
  return made_from;
}

void SeenTexts::keep_sent(std::string_view document_id, const Place& place, std::string_view text) const {
  const fs::path folder = folder_of(document_id);
  if (make_folders(folder, 0700)) static_cast<void>(write_file(sent_file(folder, place), text, 0600));
}

std::optional<std::string> SeenTexts::sent(std::string_view document_id, const Place& place) const {
  auto text = read_file(sent_file(folder_of(document_id), place));
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

void SeenTexts::forget_sent(std::string_view document_id, const Place& place) const {
  std::error_code ignored;
  fs::remove(sent_file(folder_of(document_id), place), ignored);
}

Result<SeenTexts> seen_texts(Session& session) {
  WS_LET(const BaseUrl url, session.base_url());
  return SeenTexts(session.paths().cache, url.text);
}

void keep_seen(const SeenTexts& seen, const Json& document, SeenTexts::As as, const SeenTexts::Place& place) {
  const auto id = find_text(document, "id");
  const auto revision = find_integer(document, "content_revision");
  auto content = find_text(document, "content");
  if (id && revision && content) seen.keep(*id, {.revision = *revision, .content = std::move(*content)}, as, place);
}

Result<SeenText> read_document(Client& client, const std::string& document_id) {
  Call call{.operation = "docs.get"};
  call.parameters.emplace_back("document_id", document_id);
  WS_LET(const Reply reply, client.call(std::move(call)));
  const auto revision = find_integer(*reply.json, "content_revision");
  auto content = find_text(*reply.json, "content");
  if (!revision || !content)
    return fail(Failure::Kind::internal, "the answer of the service is not usable: it has no content");
  return SeenText{.revision = *revision, .content = std::move(*content)};
}

Result<std::optional<SeenText>> find_stored(Client& client, const std::string& document_id, std::string_view sent) {
  WS_LET(SeenText now, read_document(client, document_id));
  return now.content == sent ? std::optional(std::move(now)) : std::nullopt;
}

namespace {

/// Sends the change once. Where somebody stored another text meanwhile, `collision` is the merge with it, clean or not.
/// Fails as the update does; with `conflict` where the base text is not known.
Result<UpdateEnd> update_once(Session& session, Client& client, const TextChange& change) {
  UpdateEnd end{.sent = change};
  Result<Reply> sent = send_update(session, client, change);
  if (sent) {
    end.reply = std::move(*sent);
    return end;
  }
  // Which code a mismatch has is not published: whether it is one, the revision tells.
  if (sent.error().kind != Failure::Kind::conflict) return fail(sent.error());
  WS_LET(end.theirs, read_document(client, change.document_id));
  if (end.theirs.revision == change.base.revision) return fail(sent.error());
  if (!change.base_is_known) return fail(unknown_base(change));
  WS_LET(end.collision, sync::merge::merge_markdown(change.base.content, change.content, end.theirs.content));
  return end;
}

Result<UpdateEnd> update_merged(Session& session, Client& client, const TextChange& change) {
  TextChange now = change;
  for (int round = 1;; ++round) {
    WS_LET(UpdateEnd end, update_once(session, client, now));
    if (end.reply || !end.collision.is_clean()) return end;
    if (round == max_rounds) return fail(still_moving(now));
    session.note(fmt::format("merged with revision {}, which was stored meanwhile", end.theirs.revision));
    now.content = end.collision.text();
    now.base = std::move(end.theirs);
  }
}

using sync::Keep;

/// Resolves a conflict between a new text and a revision that somebody else stored.
class DocumentConflictResolver final : public walk::ConflictResolver {
 public:
  DocumentConflictResolver(Session& session, Client& client, UpdateEnd end)
      : session_(session), client_(client), end_(std::move(end)) {}

  UpdateEnd take_end() { return std::move(end_); }

  walk::ShownConflict shown_conflict() {
    const auto last = find_last_change(client_, end_.sent.document_id);
    const bool is_theirs = last && static_cast<std::int64_t>(last->revision) == end_.theirs.revision;
    walk::ShownConflict shown_conflict{.name = last && last->title ? *last->title : end_.sent.document_id,
                                       .what = "changed by someone else",
                                       .base = end_.sent.base.content,
                                       .mine = end_.sent.content,
                                       .theirs = end_.theirs.content};
    shown_conflict.story.push_back(fmt::format("You began with revision {}.", end_.sent.base.revision));
    const std::string who = is_theirs && last->name ? *last->name : "Somebody";
    const std::string when = is_theirs && last->time ? " on " + *last->time : "";
    shown_conflict.story.push_back(fmt::format("{} stored revision {}{}.", who, end_.theirs.revision, when));
    shown_conflict.offers = {
        {.keep = Keep::local, .what = "keep mine", .effects = {"Your text replaces theirs, as the next revision."}},
        {.keep = Keep::remote, .what = "keep theirs", .effects = {"Nothing is stored, and your change is dropped."}},
        {.keep = Keep::merged, .what = "take the merge", .effects = {"The result is stored as the next revision."}}};
    return shown_conflict;
  }

  Result<Outcome> carry_out(const walk::Decided& decided) override {
    if (decided.keep == Keep::remote) {
      end_.keeps_theirs = true;
      return Outcome{};
    }
    TextChange next = end_.sent;
    next.base = end_.theirs;
    next.base_is_known = true;
    if (decided.keep == Keep::merged) next.content = decided.text;
    auto sent = update_once(session_, client_, next);
    if (!sent) {
      const Failure& failure = sent.error();
      const bool may_go_on = failure.kind == Failure::Kind::conflict || failure.kind == Failure::Kind::usage ||
                             failure.kind == Failure::Kind::invalid;
      if (!may_go_on) return fail(failure);
      return Outcome{.kind = Outcome::Kind::refused, .lines = {failure.what + ".", failure.hint}};
    }
    end_ = std::move(*sent);
    if (end_.reply) return Outcome{};
    return Outcome{.kind = Outcome::Kind::changed,
                   .lines = {"The document was changed again while you looked at it. Nothing was stored; below are its "
                             "text now and the one that you had chosen."},
                   .now = shown_conflict()};
  }

  Result<std::vector<std::string>> history() override { return std::vector<std::string>(); }

 private:
  Session& session_;
  Client& client_;
  UpdateEnd end_;
};

}  // namespace

Result<UpdateEnd> update_walked(Session& session, Client& client, const TextChange& change) {
  WS_LET(UpdateEnd end, update_merged(session, client, change));
  if (end.reply || !may_walk(session)) return end;
  DocumentConflictResolver resolver(session, client, std::move(end));
  const walk::TextTools tools(editor_of(session.world().environment, session.terminal()));
  const auto surface = walk::make_surface(session.terminal(), session.world().environment, session.world().cancelled);
  const walk::Position position{.noun = "Document"};
  walk::ShownConflict shown_conflict = resolver.shown_conflict();
  const walk::SideNames names{.mine = "yours", .theirs = "theirs"};
  WS_LET(const walk::WalkEnd walked,
         lead_through(std::move(shown_conflict), position, names, resolver, *surface, tools));
  if (walked == walk::WalkEnd::stopped && session.world().cancelled.load()) {
    return fail(Failure::Kind::cancelled, "stopped; nothing was stored");
  }
  return resolver.take_end();
}

}  // namespace ws::cli
