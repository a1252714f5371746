#!/usr/bin/env bash
# A walk through the main job, with nothing to type: log in, sync a folder, see a colleague's change, resolve a conflict.
# It uses the programs in build/bin (or WS_BIN_DIR), a mock server of its own and folders that are gone afterwards.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(cd "${WS_BIN_DIR:-$here/../../build/bin}" && pwd)
PATH="$bin:$PATH"

work=$(mktemp -d)
export XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
unset WS_TOKEN WS_TOKEN_FILE WS_PROFILE WS_BASE_URL WS_FORMAT WS_CONFIG_DIR WS_WORKSPACE
server=
stop() {
  [ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
  rm -rf "$work"
}
trap stop EXIT

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'; else bold='' dim='' plain=''; fi
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
# Shows a command and runs it.
run() {
  printf '%s$ %s%s\n' "$dim" "$*" "$plain"
  "$@"
}

title '1. A whole Workspace service, on this machine'
ws-mock --listen 127.0.0.1:0 --ready-file "$work/ready.json" --device auto --device-interval 1 --log off >"$work/url" &
server=$!
for _ in $(seq 200); do [ -s "$work/ready.json" ] && break; sleep 0.02; done
[ -s "$work/ready.json" ] || { echo 'ws-mock did not start' >&2; exit 1; }
url=$(head -n 1 "$work/url")
echo "ws-mock answers at $url"

title '2. Log in (the mock approves by itself; elsewhere a person does so in the browser)'
run ws login --base-url "$url" --store file
run ws whoami

title '3. A folder of notes goes up'
cp -r "$here/notes" "$work/mira"
cd "$work/mira"
run ws sync init --name notes
run ws sync
source=$(ws sync status --json | sed -n 's/.*"source_id": *"\([^"]*\)".*/\1/p')

title '4. A second machine gets the same folder, byte for byte'
mkdir "$work/jonas"
cd "$work/jonas"
run ws sync init --source "$source"
run ws sync
diff -r --exclude=.ws "$work/mira" "$work/jonas" && echo 'both folders hold the same bytes'

title '5. Both edit, in different places of one file'
sed -i 's/^Freezes well\.$/Freezes well, for two months./' "$work/mira/recipes/lentil-soup.md"
sed -i 's/^For four, 35 minutes\.$/For four people, 35 minutes./' "$work/jonas/recipes/lentil-soup.md"
cd "$work/mira" && run ws sync
cd "$work/jonas" && run ws sync
cd "$work/mira" && run ws sync
run sed -n '3p;9p' recipes/lentil-soup.md
diff -r --exclude=.ws "$work/mira" "$work/jonas" && echo 'both folders hold both edits'

title '6. Both edit the same line: a conflict, and nothing is overwritten'
sed -i 's/^status: planning$/status: started/' "$work/mira/projects/garden-wall.md"
sed -i 's/^status: planning$/status: postponed/' "$work/jonas/projects/garden-wall.md"
cd "$work/mira" && run ws sync
cd "$work/jonas"
run ws sync || echo "(exit $?: a conflict is open)"
run ws sync conflicts
run ws sync resolve projects/garden-wall.md --keep mine
run ws sync
cd "$work/mira" && run ws sync
run grep '^status' projects/garden-wall.md
diff -r --exclude=.ws "$work/mira" "$work/jonas" && echo 'both folders agree again'

title 'Done. Nothing was left behind; `ws --help` and `ws sync --help` say what else there is.'
