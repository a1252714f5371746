#!/usr/bin/env bash
# Growth: what one file costs as trees grow, in time and memory. SIZES (default "1000 3000 10000 30000 100000"): files of
# 100-200 bytes in folders of 100. First push, first pull, status and a sync with nothing to do; the server's memory; and
# what could cost the square of the files: a chain of renames (every file takes the name of the next), names that differ
# in case alone, documents of one title. growth.svg is drawn again from it (PLOT=no: it is not).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
sizes=${SIZES:-1000 3000 10000 30000 100000}
probes=$PWD/probes svg=$PWD/growth.svg
export WS_FORMAT=json

# cost NAME FILES COMMAND...: a row NAME, FILES, seconds, processor seconds and MiB at most. How it ends does not matter.
cost() {
  local name=$1 files=$2 begun
  shift 2
  begun=$EPOCHREALTIME
  /usr/bin/time -o "$work/once" -f '%U %S %M' "$@" >/dev/null 2>&1 || true
  tail -n 1 "$work/once" | awk -v n="$name" -v f="$files" -v from="$begun" -v to="$EPOCHREALTIME" \
    '{ printf "%s\t%d\t%.4f\t%.2f\t%.1f\n", n, f, to - from, $1 + $2, $3 / 1024 }' |
    tee -a "$work/growth.tsv" | awk -F'\t' '{ printf "  %-22s %8d files %9.3f s %7.1f us a file %8.1f MiB\n", $1, $2, $3, $3 / $2 * 1e6, $5 }'
}
resident() { awk '/^VmRSS/ { print $2 / 1024 }' "/proc/$server/status"; }
# folder NAME: an empty folder of that name that syncs with a source of its own.
folder() { mkdir "$work/$1" && cd "$work/$1" && ws sync init --name "$1" >/dev/null; }

for files in $sizes; do
  start_mock
  export WS_TOKEN=$token WS_BASE_URL=$base_url
  folder "tree-$files"
  python3 "$probes/make_small.py" . "$files"
  cost 'first status' "$files" ws sync status
  before=$(resident)
  cost 'first push' "$files" ws sync
  awk -v f="$files" -v a="$before" -v b="$(resident)" 'BEGIN { printf "server\t%d\t0\t0\t%.1f\n", f, b - a }' |
    tee -a "$work/growth.tsv" | awk -F'\t' '{ printf "  %-22s %8d files %40.1f MiB\n", $1, $2, $5 }'
  cost status "$files" ws sync status
  cost 'sync, nothing to do' "$files" ws sync
  source=$(ws sync status | sed -n 's/.*"source_id": *"\([^"]*\)".*/\1/p' | head -n 1)
  mkdir "$work/pulled-$files" && cd "$work/pulled-$files" && ws sync init --source "$source" >/dev/null
  cost 'first pull' "$files" ws sync
  cd "$work/tree-$files"
  python3 "$probes/make_small.py" . "$files" chain
  cost 'chain of renames' "$files" ws sync status
  folder "twins-$files"
  python3 "$probes/make_small.py" . "$files" twins
  cost 'names that twin' "$files" ws sync status
  folder "titles-$files"
  python3 "$probes/make_small.py" . "$files" titles
  cost 'one title for all' "$files" ws sync
  cd "$work"
  kill "$server" && wait "$server" 2>/dev/null || true
  server=
  rm -f "$work/ready.json"  # no tree: ext4 passes over inodes that were freed in the last minutes one by one
done
[ "${PLOT:-yes}" = no ] || python3 "$probes/plot_growth.py" "$work/growth.tsv" "$svg"
