#include "server-mock/services/events/notify.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/events/event_queue.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/visibility.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

/// Whether the agent is not revoked and may read the document.
Result<bool> can_be_notified(World& world, std::string_view agent_id, const Document& document) {
  WS_LET(const std::optional<std::string> owner,
         read_row(world,
                  read_text,
                  "select owner_user_id from agents where id = ? and workspace_id = ? and status <> 'revoked'",
                  agent_id,
                  document.workspace_id));
  if (!owner) return false;
  WS_LET(const Caller agent, caller_in(world, document.workspace_id, *owner, agent_id, contract::Role::owner));
  WS_LET(const AccessLevel access, access_to(world, agent, agent.role, document));
  return access != AccessLevel::none;
}

/// The agents that wrote in the thread, by first comment.
Result<std::vector<std::string>> agents_in(World& world, std::string_view thread_id) {
  return read_rows(world,
                   read_text,
                   "select author_id from comment_entries where thread_id = ? and author_kind = 'agent' "
                   "group by author_id order by min(sequence)",
                   thread_id);
}

Json links_of(const Document& document) {
  const std::string self = "/v1/documents/" + document.id;
  return {{"document", self}, {"comments", self + "/comments"}};
}

Json payload_of(const CommentNotice& news) {
  Json links = links_of(news.document);
  links["replies"] = fmt::format("/v1/documents/{}/comments/{}/replies", news.document.id, news.thread_id);
  return {{"body", news.body},
          {"author", to_json(news.author)},
          {"document_title", news.document.title},
          {"conversation_thread_id", news.conversation_thread_id},
          {"links", std::move(links)}};
}

}  // namespace

Result<void> notify_of_comment(World& world, const CommentNotice& news) {
  struct Notified {
    std::string agent_id = {};
    std::string_view kind = {};
  };
  std::vector<Notified> notified;
  const auto tell = [&](const std::string& agent_id, std::string_view kind) {
    const bool self = news.author.kind == "agent" && news.author.id == agent_id;
    if (agent_id.empty() || self || std::ranges::find(notified, agent_id, &Notified::agent_id) != notified.end())
      return;
    notified.push_back({agent_id, kind});
  };
  for (const Handle& handle : news.mentions) tell(handle.agent_id, "comment.mention");
  WS_LET(const std::vector<std::string> writers, agents_in(world, news.thread_id));
  for (const std::string& agent_id : writers) tell(agent_id, "comment.reply");
  if (notified.empty()) return {};

  const Json payload = payload_of(news);
  for (const Notified& agent : notified) {
    WS_LET(const bool hears, can_be_notified(world, agent.agent_id, news.document));
    if (!hears) continue;
    WS_TRY(queue_event(world,
                       {.kind = agent.kind,
                        .agent_id = agent.agent_id,
                        .document_id = news.document.id,
                        .thread_id = news.thread_id,
                        .comment_id = news.comment_id,
                        .payload = payload}));
  }
  return {};
}

Result<void> notify_of_share(World& world, const ShareNotice& news) {
  if (news.by.kind == "agent" && news.by.id == news.agent_id) return {};
  const Json payload = {{"permission", news.permission},
                        {"message", news.message},
                        {"shared_by", to_json(news.by)},
                        {"document_title", news.document.title},
                        {"links", links_of(news.document)}};
  WS_TRY(queue_event(
      world,
      {.kind = "document.shared", .agent_id = news.agent_id, .document_id = news.document.id, .payload = payload}));
  return {};
}

namespace {

bool is_ascii_word(char32_t c) {
  return (c >= U'0' && c <= U'9') || (c >= U'A' && c <= U'Z') || (c >= U'a' && c <= U'z') || c == U'_';
}

/// Letters of scripts that separate words by spaces. In other scripts `@` may begin a mention anywhere.
bool is_word(char32_t c) {
  const bool latin = c >= 0xC0 && c <= 0x24F && c != 0xD7 && c != 0xF7;
  const bool greek_or_cyrillic = c >= 0x370 && c <= 0x52F && c != 0x37E && c != 0x387;
  return is_ascii_word(c) || latin || greek_or_cyrillic;
}

char32_t first_of(std::string_view text) { return text.empty() ? U' ' : utf8::next(text); }

char32_t last_of(std::string_view text) {
  std::size_t start = text.size();
  while (start > 0 && (static_cast<unsigned char>(text[--start]) & 0xC0U) == 0x80U) {
  }
  return first_of(text.substr(start));
}

/// No mention after `tom@scout`, `.../@scout`, `@@scout`, `\@scout`.
bool may_begin(std::string_view before) {
  const char32_t c = last_of(before);
  return !is_word(c) && std::u32string_view(U"@/\\").find(c) == std::u32string_view::npos;
}

/// No mention in `@scouting`, `@scout-2`, `@scout.org`, `@scout@example.com`.
bool may_end(std::string_view after) {
  const char32_t c = first_of(after);
  if (is_word(c)) return false;
  const bool joins = std::u32string_view(U"-./@").find(c) != std::u32string_view::npos;
  return !joins || !is_word(first_of(after.substr(1)));
}

bool starts_with_ignoring_case(std::string_view text, std::string_view start) {
  return equal_ignoring_case(text.substr(0, start.size()), start);
}

std::size_t run_of(std::string_view text, char c) { return std::min(text.find_first_not_of(c), text.size()); }

/// The code fence that `line` opens: at least three backticks or tildes, indented by at most three columns; else empty.
std::string_view fence_of(std::string_view line) {
  const std::size_t indent = run_of(line, ' ');
  line.remove_prefix(indent);
  if (indent > 3 || line.empty() || (line[0] != '`' && line[0] != '~')) return {};
  const std::string_view fence = line.substr(0, run_of(line, line[0]));
  const bool span = fence[0] == '`' && line.find('`', fence.size()) != std::string_view::npos;
  return fence.size() < 3 || span ? std::string_view() : fence;
}

bool closes(std::string_view line, std::string_view fence) {
  const std::string_view other = fence_of(line);
  return other.size() >= fence.size() && other[0] == fence[0] &&
         line.find_first_not_of(" \t\r\n", line.find(other) + other.size()) == std::string_view::npos;
}

/// Replaces fenced code blocks by spaces.
void blank_fences(std::string& text) {
  std::string fence;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(start, end - start);
    const std::string opening(fence.empty() ? fence_of(line) : std::string_view());
    const bool inside = !fence.empty() || !opening.empty();
    if (!fence.empty() && closes(line, fence)) {
      fence.clear();
    } else if (fence.empty()) {
      fence = opening;
    }
    if (inside)
      std::fill(
          text.begin() + static_cast<std::ptrdiff_t>(start), text.begin() + static_cast<std::ptrdiff_t>(end - 1), ' ');
    start = end;
  }
}

/// Position of the next run of exactly `length` backticks at or after `from`; npos if there is none.
std::size_t find_run(std::string_view text, std::size_t from, std::size_t length) {
  for (std::size_t at = text.find('`', from); at != std::string_view::npos;) {
    const std::size_t found = run_of(text.substr(at), '`');
    if (found == length) return at;
    at = text.find('`', at + found);
  }
  return std::string_view::npos;
}

/// Replaces code spans by spaces: a run of backticks up to the next run of the same length (CommonMark 0.30, 6.1).
void blank_spans(std::string& text) {
  for (std::size_t at = text.find('`'); at != std::string::npos;) {
    const std::size_t length = run_of(std::string_view(text).substr(at), '`');
    const bool escaped = at > 0 && text[at - 1] == '\\';
    const std::size_t begin = escaped ? at + 1 : at;
    const std::size_t ticks = escaped ? length - 1 : length;
    const std::size_t close = ticks == 0 ? std::string::npos : find_run(text, begin + ticks, ticks);
    std::size_t next = at + length;
    if (close != std::string::npos) {
      next = close + ticks;
      std::fill(
          text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(next), ' ');
    }
    at = text.find('`', next);
  }
}

std::string without_code(std::string_view body) {
  std::string text(body);
  if (text.find_first_of("`~") == std::string::npos) return text;
  blank_fences(text);
  blank_spans(text);
  return text;
}

const Handle* longest_at(std::string_view text, std::span<const Handle> handles) {
  const Handle* best = nullptr;
  for (const Handle& handle : handles) {
    if (best != nullptr && handle.text.size() <= best->text.size()) continue;
    if (starts_with_ignoring_case(text, handle.text) && may_end(text.substr(handle.text.size()))) best = &handle;
  }
  return best;
}

}  // namespace

Result<std::vector<Handle>> handles_in(World& world, std::string_view workspace_id) {
  WS_LET(std::vector<Handle> handles,
         read_rows(world,
                   read_as<Handle>,
                   "select handle, id, 0 from agents where workspace_id = ?1 and status <> 'revoked' "
                   "union all select lower(substr(u.email, 1, instr(u.email, '@') - 1)), '', 1 "
                   "from members m join users u on u.id = m.user_id where m.workspace_id = ?1 order by 3, 1, 2",
                   workspace_id));
  std::erase_if(handles, [](const Handle& handle) { return handle.text.empty(); });
  return handles;
}

std::vector<Handle> find_mentions(std::string_view body, std::span<const Handle> handles) {
  std::vector<Handle> found;
  if (body.find('@') == std::string_view::npos) return found;
  const std::string text = without_code(body);
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + 1)) {
    const std::string_view all = text;
    if (!may_begin(all.substr(0, at))) continue;
    const Handle* handle = longest_at(all.substr(at + 1), handles);
    if (handle != nullptr && std::ranges::find(found, *handle) == found.end()) found.push_back(*handle);
  }
  return found;
}

}  // namespace ws::mock
