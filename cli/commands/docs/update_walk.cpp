#include "cli/commands/docs/update_walk.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands/shared/changed_by.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/terminal/editor.hpp"
#include "cli/walk/guide.hpp"

namespace ws::cli {
namespace {

using walk::Verdict;

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
    shown_conflict.offers = {{.verdict = Verdict::mine,
                              .what = "keep mine",
                              .effects = {"Your text replaces theirs, as the next revision."}},
                             {.verdict = Verdict::theirs,
                              .what = "keep theirs",
                              .effects = {"Nothing is stored, and your change is dropped."}},
                             {.verdict = Verdict::merged,
                              .what = "take the merge",
                              .effects = {"The result is stored as the next revision."}}};
    return shown_conflict;
  }

  Result<Outcome> carry_out(const walk::Decided& decided) override {
    if (decided.verdict == Verdict::theirs) {
      end_.keeps_theirs = true;
      return Outcome{};
    }
    TextChange next = end_.sent;
    next.base = end_.theirs;
    next.base_is_known = true;
    if (decided.verdict == Verdict::merged) next.content = decided.text;
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
                   .lines = {"It was changed again while you looked at it. Nothing was stored; this is its text now, "
                             "beside the one that you had chosen."},
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
