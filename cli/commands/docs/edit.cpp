// `ws docs edit`: a document in the user's editor, merged with what others changed meanwhile.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/own_file.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/uuid.hpp"
#include "cli/commands/docs/merged_update.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/shared/values.hpp"
#include "cli/terminal/programs.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

/// The draft of an edit, the text that it started from, and what was sent last, on disk: the next `ws docs edit`
/// resumes an unsent draft.
class EditedText {
 public:
  EditedText(const fs::path& state, const std::string& server, const std::string& document_id)
      : folder_(state / "edits" / Sha256::of(server + "\n" + document_id).hex().substr(0, 32)) {}

  fs::path file() const { return folder_ / "text.md"; }

  /// Held while an editor has the draft. Fails with `disk`, naming who holds it.
  Result<LockFile> lock() const {
    WS_TRY(make_folders(folder_.parent_path(), 0700));
    return LockFile::take(folder_.string() + ".lock", "editing this document");
  }

  /// Empty where there is no draft.
  std::optional<SeenText> left_base() const {
    const auto revision = read_file(folder_ / "revision");
    auto content = read_file(folder_ / "base.md");
    if (!revision || !content || !fs::exists(file())) return std::nullopt;
    return SeenText{.revision = std::strtoll(revision->c_str(), nullptr, 10), .content = std::move(*content)};
  }

  Result<void> begin(const SeenText& base, std::string_view text) const {
    WS_TRY(make_folders(folder_, 0700));
    WS_TRY(write_file(folder_ / "base.md", base.content, 0600));
    WS_TRY(write_file(file(), text, 0600));
    return write_file(folder_ / "revision", std::to_string(base.revision), 0600);
  }

  /// Whether it is stored may never be answered.
  Result<void> keep_sent(std::string_view text) const { return write_file(sent_file(), text, 0600); }
  std::optional<std::string> sent() const {
    auto text = read_file(sent_file());
    return text ? std::optional(std::move(*text)) : std::nullopt;
  }
  void forget_sent() const {
    std::error_code ignored;
    fs::remove(sent_file(), ignored);
  }

  void end() const {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

 private:
  fs::path sent_file() const { return folder_ / "sent.md"; }

  fs::path folder_;
};

class Edit {
 public:
  Edit(Session& session, Client& client, std::string id, EditedText text)
      : session_(session), client_(client), id_(std::move(id)), text_(std::move(text)) {}

  Result<ExitCode> run(const std::string& editor) {
    WS_LET(const LockFile lock, text_.lock());
    WS_LET(SeenText base, begin());
    if (auto edited = edit_file(editor, text_.file()); !edited) return fail(kept(edited.error()));
    WS_LET(std::string content, read_user_file(text_.file().string()));
    if (sync::merge::has_markers(content) && !sync::merge::has_markers(base.content)) {
      return fail(kept({.kind = Failure::Kind::conflict,
                        .what = "the text still has conflict markers; nothing was sent",
                        .code = "markers_left"}));
    }
    if (content == base.content) {
      text_.end();
      session_.note("nothing changed");
      return ExitCode::done;
    }
    if (session_.has("dry-run")) {
      session_.note("your draft is saved: " + ShellCommand{"ws", "docs", "edit", id_}.in_backticks() + " sends it");
      return print_request(session_,
                           {.operation = "docs.update",
                            .parameters = {{"document_id", id_}},
                            .body = Json{{"content", content}, {"expected_content_revision", base.revision}}});
    }
    auto end = update_walked(session_,
                             client_,
                             {.document_id = id_,
                              .base = base,
                              .content = std::move(content),
                              .before_sending = [this](std::string_view text) { return text_.keep_sent(text); }});
    if (!end) return fail(kept(end.error()));
    if (end->reply) return done(*end->reply);
    if (!end->keeps_theirs) return fail(left(*end));
    text_.end();
    session_.note("kept their text; nothing was sent");
    return ExitCode::done;
  }

 private:
  /// Resumes the draft of an earlier run, else starts from the document.
  Result<SeenText> begin() {
    if (auto left = text_.left_base()) {
      if (const auto sent = text_.sent()) {
        auto stored = find_stored(client_, id_, *sent);
        if (!stored) return fail(kept(stored.error()));
        text_.forget_sent();
        if (*stored) {
          WS_TRY(text_.begin(**stored, (*stored)->content));
          session_.note(fmt::format("your draft was stored as revision {}", (*stored)->revision));
          return std::move(**stored);
        }
      }
      session_.note(fmt::format("resuming your unsent draft, made from revision {}", left->revision));
      return std::move(*left);
    }
    WS_LET(SeenText base, read_document(client_, id_));
    WS_TRY(text_.begin(base, base.content));
    return base;
  }

  /// Writes both texts into the draft, between conflict markers; the same command resumes it.
  Failure left(const UpdateEnd& end) {
    const std::string theirs = fmt::format("revision {}", end.theirs.revision);
    if (auto begun = text_.begin(end.theirs, with_markers(end.collision, "yours", theirs)); !begun) {
      return kept(begun.error());
    }
    return kept({.kind = Failure::Kind::conflict,
                 .what = fmt::format("{} changes the same lines; nothing was sent", theirs),
                 .code = "revision_conflict"});
  }

  Failure kept(Failure failure) const {
    failure.hint = "your draft is saved: " + ShellCommand{"ws", "docs", "edit", id_}.in_backticks() + " resumes it";
    return failure;
  }

  Result<ExitCode> done(const Reply& reply) {
    text_.end();
    // The same command again would begin another edit.
    session_.outcomes().keep_elsewhere("docs.update",
                                       ShellCommand{"ws", "docs", "get", id_}.in_backticks() + " shows the document");
    if (const auto seen = seen_texts(session_)) keep_seen(*seen, *reply.json, SeenTexts::As::seen);
    return print_reply(session_, operation_of("docs.update"), reply);
  }

  Session& session_;
  Client& client_;
  std::string id_;
  EditedText text_;
};

Result<ExitCode> edit_document(Session& session) {
  const std::string& id = session.arguments().words.front();
  if (!is_uuid(id) && !session.has("no-validate")) {
    return fail(Failure::Kind::usage, fmt::format("\"{}\" is not a document id", id), "`ws docs list` shows them");
  }
  const std::string editor = editor_of(session.world().environment, session.terminal());
  if (editor.empty()) {
    return fail(Failure::Kind::usage,
                "no editor is configured",
                "set VISUAL or EDITOR, or use `ws docs update DOCUMENT -f FILE`");
  }
  WS_LET(const BaseUrl url, session.base_url());
  WS_LET(Client * client, session.client());
  return Edit(session, *client, id, EditedText(session.paths().state, url.text, id)).run(editor);
}

}  // namespace

Command docs_edit_command() {
  return {
      .words = "docs edit",
      .summary = "Edit a document in $VISUAL or $EDITOR",
      .details =
          "What others changed meanwhile is merged. Where both changed the same lines, a terminal asks what to "
          "take; a draft that could not be sent is saved with both texts between markers, and the same command "
          "resumes it.",
      .arguments = {{.placeholder = "DOCUMENT", .help = describe(Subject::document, {}), .names = Subject::document}},
      .examples = {"EDITOR=true ws docs edit 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b"},
      .run = edit_document};
}

}  // namespace ws::cli
