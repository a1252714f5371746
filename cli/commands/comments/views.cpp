// How comment threads look on a terminal.
#include <nlohmann/json.hpp>

#include "cli/commands/comments/commands.hpp"
#include "cli/output/human.hpp"
#include "cli/terminal/clean.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t widest_text = 100;

/// `text` line by line, each wrapped, below an indent.
std::string indented(std::string_view text, std::size_t by, const Terminal& terminal) {
  const std::size_t columns = std::min(static_cast<std::size_t>(terminal.columns()), widest_text);
  const std::string cleaned = clean(text, Breaks::keep);
  std::string lines;
  for (std::size_t begin = 0; begin <= cleaned.size();) {
    const std::size_t end = std::min(cleaned.find('\n', begin), cleaned.size());
    const std::string line = cleaned.substr(begin, end - begin);
    if (!line.empty()) lines += std::string(by, ' ') + wrap(line, columns - by, by);
    lines += '\n';
    begin = end + 1;
  }
  return lines;
}

std::string author_of(const Json& entry, ViewContext& context) {
  std::string name = fill("{actor_identity.display_name}", entry, context);
  if (name.empty()) name = fill("{author_kind:words}", entry, context);
  return clean(name, Breaks::space);
}

/// The first entry, and the replies below it, indented once more.
std::string entries_of(const Json& thread, ViewContext& context, const Terminal& terminal) {
  const Json* const entries = find(thread, "entries");
  if (entries == nullptr || !entries->is_array()) return {};
  std::string text;
  std::size_t by = indent;
  for (const Json& entry : *entries) {
    text += std::string(by, ' ') + terminal.paint(Stream::out, Look::strong, author_of(entry, context));
    text += terminal.paint(Stream::out, Look::faint, fill("[, {created_at:time}]", entry, context)) + "\n";
    text += indented(find_text(entry, "body").value_or(""), by, terminal);
    by = 2 * indent;
  }
  return text;
}

std::string render_thread(const Json& thread, ViewContext& context, const Terminal& terminal) {
  const std::string quote = clean(fill("{anchor.selection_preview}", thread, context), Breaks::space);
  const auto columns = static_cast<std::size_t>(terminal.columns());
  const std::string about = quote.empty() ? "On the whole document" : "On \"" + quote + "\"";
  std::string text = terminal.is_plain() ? about : wrap(about, std::min(columns, widest_text), 0);
  text += "\n" + entries_of(thread, context, terminal);
  const std::string state = fill("{status:words}[, thread {id:short}]", thread, context);
  return text + std::string(indent, ' ') + terminal.paint(Stream::out, Look::faint, clean(state, Breaks::space)) + "\n";
}

std::string render_threads(const Json& whole, ViewContext& context, const Terminal& terminal) {
  std::string text;
  const Json* const threads = find(whole, "threads");
  if (threads == nullptr || !threads->is_array()) return text;
  for (const Json& thread : *threads) text += (text.empty() ? "" : "\n") + render_thread(thread, context, terminal);
  return text;
}

constexpr std::string_view listed_by[] = {"comments.list"};
constexpr std::string_view added_by[] = {"comments.add"};
constexpr std::string_view added[] = {"Commented on the document {page_id} (thread {id})"};
constexpr std::string_view replied_by[] = {"comments.reply"};
constexpr std::string_view replied[] = {"Replied in the thread {id}"};
constexpr std::string_view set_by[] = {"comments.set_status"};
constexpr std::string_view set[] = {"The thread {id} is marked as {status:words}"};

constexpr View views[] = {
    {.of = listed_by, .list = render_threads, .none = "No comments."},
    {.of = added_by, .lines = added},
    {.of = replied_by, .lines = replied},
    {.of = set_by, .lines = set},
};

}  // namespace

std::span<const View> comments_views() { return views; }

}  // namespace ws::cli
