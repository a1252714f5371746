#include "cli/grammar/command.hpp"

#include "api-client/base/text.hpp"

namespace ws::cli {
namespace {

const std::vector<Flag>& all_global_flags() {
  static const std::vector<Flag> flags = {
      {.name = "help", .letter = 'h', .help = "show help; with --json for machines"},
      {.name = "version", .letter = 'V', .help = "show the version"},
      {.name = "profile", .letter = 'p', .placeholder = "NAME", .help = "use the key of this profile"},
      {.name = "workspace",
       .letter = 'W',
       .placeholder = "ID",
       .help = "use the key of this Workspace, by id or title"},
      {.name = "base-url", .placeholder = "URL", .help = "the server"},
      {.letter = 'C', .placeholder = "DIR", .help = "run as if started in DIR"},
      {.name = "json", .help = "print JSON as it was received"},
      {.name = "format",
       .placeholder = "F",
       .help = "print in this format",
       .limits = "table, tsv, json, ndjson, yaml, csv or ids"},
      {.name = "fields", .placeholder = "A,B.C", .is_repeated = true, .help = "print only these members"},
      {.name = "jq", .placeholder = "EXPR", .help = "print what a jq program makes of the JSON"},
      {.name = "template", .placeholder = "TEXT", .help = "print a line an item, members in braces: '{title}\\t{id}'"},
      {.name = "output", .letter = 'o', .placeholder = "FILE|-", .help = "write the result to a file"},
      {.name = "force", .help = "let --output replace a file"},
      {.name = "dry-run", .letter = 'n', .help = "print what would be sent or done, and do nothing"},
      {.name = "yes", .letter = 'y', .help = "answer questions with yes"},
      {.name = "no-input", .help = "ask nothing, and fail where an answer is needed"},
      {.name = "no-validate", .help = "send a request even if it breaks a published limit"},
      {.name = "no-retry", .help = "do not repeat a failed request"},
      {.name = "max-wait",
       .placeholder = "S",
       .help = "wait at most this long when the service asks to retry later",
       .fallback = "60"},
      {.name = "timeout", .placeholder = "S", .help = "wait at most this long for one answer", .fallback = "120"},
      {.name = "quiet", .letter = 'q', .help = "print no notes on stderr"},
      {.name = "verbose", .letter = 'v', .help = "print more notes on stderr"},
      {.name = "debug", .help = "trace requests on stderr, secrets redacted"},
      {.name = "color", .placeholder = "WHEN", .help = "colour", .limits = "auto, always or never"},
      {.name = "no-pager", .help = "show long output without a pager"},
      {.name = "plain", .help = "use no colour, no pager and no moving progress, and cut no cell to the width"},
      {.name = "progress",
       .placeholder = "HOW",
       .help = "show progress on stderr",
       .limits = "auto, plain, json or none"},
  };
  return flags;
}

}  // namespace

std::optional<std::string> Parsed::value(std::string_view flag) const {
  const auto found = flags.find(flag);
  if (found == flags.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

std::vector<std::string> Parsed::values(std::string_view flag) const {
  const auto found = flags.find(flag);
  return found == flags.end() ? std::vector<std::string>() : found->second;
}

std::vector<std::string> Parsed::items(std::string_view flag) const {
  std::vector<std::string> items;
  for (const std::string& value : values(flag)) {
    for (const std::string_view item : split(value, ',')) {
      if (!item.empty()) items.emplace_back(item);
    }
  }
  return items;
}

std::span<const Flag> global_flags() { return all_global_flags(); }

std::vector<Flag> paging_flags() {
  return {
      {.name = "limit", .placeholder = "N", .help = "items in a page", .limits = "1-100"},
      {.name = "cursor", .placeholder = "C", .help = "continue after a page: its next_cursor"},
      {.name = "all", .help = "fetch every page"},
      {.name = "max-items", .placeholder = "N", .help = "fetch every page, up to N items"},
  };
}

std::vector<Flag> body_flags() {
  return {
      {.name = "body", .placeholder = "JSON|@FILE|-", .help = "give the whole body"},
      {.letter = 'F',
       .placeholder = "KEY=TEXT",
       .is_repeated = true,
       .help = "set a member; a dot names a member inside another"},
      {.letter = 'J', .placeholder = "KEY=JSON", .is_repeated = true, .help = "set a member to a JSON value"},
  };
}

}  // namespace ws::cli
