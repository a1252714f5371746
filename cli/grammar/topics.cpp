#include "cli/grammar/topics.hpp"

#include <algorithm>

namespace ws::cli {
namespace {

constexpr std::string_view environment_text =
    R"(Environment variables. A flag goes before its variable, a variable before
.ws.yaml and config.yaml. `ws config explain KEY` shows which one was used.

Server and key
  WS_BASE_URL          the server; WS_TOKEN belongs to it
  WS_TOKEN             the key; used instead of a stored one
  WS_TOKEN_FILE        a file with the key
  WS_PROFILE           as --profile
  WS_WORKSPACE         as --workspace: use the stored key of this Workspace
  WS_CREDENTIAL_STORE  where login saves a key: keyring or file
  WS_ALLOW_HTTP        hosts that plain HTTP may go to: host[:port],...

Input and output
  WS_FORMAT            as --format
  WS_NO_INPUT          as --no-input; CI has the same effect
  WS_PAGER, PAGER      shows what is longer than the screen
  NO_COLOR             no colour; CLICOLOR_FORCE: colour in pipes too
  COLUMNS, TERM        the width and the kind of the terminal
  VISUAL, EDITOR       for `ws docs edit` and conflicts
  BROWSER              opens the address of a login

Other
  WS_MAX_WAIT          as --max-wait
  WS_DEBUG             as --debug
  WS_DEVICE_NAME       as --device-name: what this machine is called
  WS_CONFIG_DIR        where config.yaml is
  WS_TRUSTED_FOLDERS   folders of other users whose .ws and .ws.yaml are used
  XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME
                       where settings, keys, state and caches are
  HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE
                       the proxy, and the certificates that are trusted
  GIT_AUTHOR_NAME      your name in the local history, where the service
                       names nobody; unset: your account's
  TMPDIR               where temporary files are
  WS_EVENT_ID, WS_LEASE_TOKEN
                       set by `ws events work` for the command it runs
)";

constexpr std::string_view ignoring_text =
    R"(Which files `ws sync` leaves out.

  Kinds     Markdown is synced, .md and .markdown, and the files that notes
            show (`ws help attachments`). `include:` in .ws/config.yaml adds
            other patterns.
  Patterns  .wsignore takes the patterns of .gitignore, in any folder that
            is synced. A file that matches is neither sent nor deleted.
  Always    .ws, .git, links, devices, and files that editors keep beside yours.
  Sizes     A note of more than 1 MiB is skipped: no document holds more.
  Names     A name that another system cannot hold is skipped or reported.

  ws sync status             lists what is skipped, with the reason
  ws sync status --json      has the same under `skipped`

A document whose file is ignored later is not archived: it is detached. What
goes missing while it is out of sight is not deleted: once the rule is gone it
is received again, or kept here where it went on the service.
Placeholders of cloud folders (.NAME.icloud), links to folders, and folders
with a .ws of their own are left alone and listed.
)";

constexpr std::string_view conflicts_text =
    R"(What happens when both sides changed a document.

`ws sync` merges the two texts line by line. Where both changed the same
lines, or one side deleted what the other edited, it is a conflict: nothing is
overwritten, both texts are kept, and everything else is synced.

  ws sync conflicts                  lists the conflicts
  ws sync resolve                    shows one after the other and asks
  ws sync resolve PATH --keep mine   keeps your text; theirs keeps the one of
                                     the service, both one beside the other
  ws sync resolve PATH --file FILE   takes the text of FILE
  ws sync --on-conflict both         decides during the run, for scripts

Each text that was replaced is in the local history:

  ws sync log PATH                   lists the states of a file
  ws sync restore PATH --at STATE    restores one
)";

constexpr std::string_view attachments_text =
    R"(The pictures and other files that notes show.

`ws sync` brings them both ways with the notes: what a note shows or links to,
from 1 byte to 100 MiB. Equal bytes are sent once; a rename sends nothing. The
document `Attachments` of the source lists them; leave it to `ws`.

In .ws/config.yaml:
  attachments: linked           what notes show; all: every file that is not
                                ignored; off: none
  attachments_exclude: ['*.mov']
  attachments_max_bytes: 20000000
  attachments_kinds: [plain, json]
                                what may arrive unasked; any: everything
  links: keep                   a rename here edits the links to it; report
                                counts them, off says nothing

A setting that leaves a file out deletes it nowhere.

A link that you write sends a file. One that somebody else wrote does not: `ws`
names the file, and leaves it here until you add it. Pictures, sound, films,
documents and archives arrive by themselves; other kinds, and what would replace
a file that was never synced or one that can be run, are held until you decide.

  ws sync attachments           lists them, with the notes that show each
  ws sync attachments add FILE  sends it; --shown: all that others' links show
  ws sync attachments accept FILE   accepts what is held; refuse refuses it
  ws sync log PATH              lists the states of one
  ws sync restore PATH          restores one
  ws sync mv FROM TO            renames a note, file or folder, and edits the
                                links to it
  ws links check                lists the broken links
  ws links fix                  mends those that a rename broke

Where both sides changed a picture it is a conflict: yours stays, theirs lies
beside it as `NAME (remote).png`, until you decide with `ws sync resolve`.
)";

constexpr std::string_view automation_text =
    R"(Using `ws` in scripts and CI.

  Output   In a pipe a list is tab-separated lines without a heading. --json
           prints what the service answered; --fields, --template and --jq
           shape the item. Data is on stdout, everything else on stderr.
  Errors   With --json an error is one line of JSON on stderr, with code, exit,
           message, hint, and `applied`: whether the change was made.
  Ends     `ws help exit-codes` lists the exit codes; 12 means that the outcome
           of a change is unknown. Exit codes do not change.
  Asking   Without a terminal nothing is asked: --yes confirms.
  Repeats  --idempotency-key stable makes a create safe to run again, for 24 hours.
  Keys     WS_TOKEN with WS_BASE_URL, or `ws login --with-token < FILE`.
  Batches  Ids come one a line by --stdin; exit 13 means that some failed.
  Data     What a script did not write itself comes after --, or as --flag=DATA:
           else a line like --file=private.txt is taken for a flag.

  ws docs list --all --format ids | ws docs get --stdin --template '{title}'
  ws ask 'What changed?' --json --jq .answer --timeout 60
  xargs -d '\n' -n 1 -P 8 ws ask --json -- <questions.txt
  ws events work --worker ci -- ./answer.sh
)";

constexpr Topic topics[] = {
    {"flags", "flags of every command", {}},
    {"environment", "environment variables", environment_text},
    {"exit-codes", "how a command may end", {}},
    {"ignoring", "which files are not synced", ignoring_text},
    {"conflicts", "when both sides changed a document", conflicts_text},
    {"attachments", "pictures and other files of notes", attachments_text},
    {"automation", "scripts and CI", automation_text},
};

}  // namespace

std::span<const Topic> help_topics() { return topics; }

std::optional<Topic> find_topic(std::string_view name) {
  const auto found = std::ranges::find(topics, name, &Topic::name);
  if (found == std::end(topics)) return std::nullopt;
  return *found;
}

}  // namespace ws::cli
