#!/usr/bin/env bash
# Sync: the bars of sync.md. A tree of FILES Markdown files of 2-8 KB (default 10000; the bars are for 100000 where they
# say so) in folders of 100: status beside git's and beside a bare walk, the first hash beside a probe that reads and
# hashes, 1 % changed, the first push, the first pull beside rsync, and Unison where it is installed. RUNS: of the short
# ones (default 20); LONG_RUNS: of those that take seconds (default 3). Medians.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
files=${FILES:-10000} runs=${RUNS:-20} long_runs=${LONG_RUNS:-3}
probes=$PWD/probes
g++ -O2 -std=c++20 -o "$work/walk" "$probes/walk.cpp" -lcrypto -pthread
python3 "$probes/make_tree.py" "$work/tree" "$files"

# median RUNS PREPARE COMMAND: in seconds; PREPARE runs before each and is not counted, `true` for nothing.
median() {
  hyperfine -N --ignore-failure --warmup "$(($1 > 5 ? 3 : 0))" --runs "$1" --prepare "$2" --export-csv "$work/times.csv" "$3" \
    >/dev/null 2>&1
  tail -n 1 "$work/times.csv" | awk -F, '{ print $(NF-4) }'
}
# row NAME SECONDS [BESIDE SECONDS]...: ratios of ours to each.
row() {
  local name=$1 ours=$2
  shift 2
  printf '  %-34s %9.4f s' "$name" "$ours"
  while [ $# -gt 0 ]; do
    awk -v n="$1" -v o="$ours" -v t="$2" 'BEGIN { printf "   %s %.4f s: %.2f x", n, t, (t > 0 ? o / t : 0) }'
    shift 2
  done
  echo
}
peak() { /usr/bin/time -o "$work/peak" -f %M "$@" >/dev/null 2>&1 || true; awk '{ printf "%.1f", $1 / 1024 }' "$work/peak"; }
seconds() {
  local begin end
  begin=$(date +%s%N)
  "$@" >/dev/null 2>&1
  end=$(date +%s%N)
  awk -v n=$((end - begin)) 'BEGIN { printf "%.3f", n / 1e9 }'
}
middle() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

start_mock
export WS_TOKEN=$token WS_BASE_URL=$base_url
echo "  $files files, $(du -sm --apparent-size "$work/tree" | cut -f 1) MB"
cd "$work/tree"
git init -q .
echo .ws >.git/info/exclude
printf '#!/bin/sh\nrm -rf .git && git init -q . && echo .ws >.git/info/exclude\n' >"$work/fresh_git"
chmod +x "$work/fresh_git"
add=$(median "$long_runs" "$work/fresh_git" "git add -A")
git -c user.name=x -c user.email=x commit -qm x

ws sync init --name bench >/dev/null
hash=$(median "$long_runs" "rm -f .ws/stat.cache" "ws sync status --offline")
probe_hash=$(median "$long_runs" true "$work/walk hash .")
row "first hash" "$hash" "read and SHA-256" "$probe_hash" "git add -A" "$add"

push=$(seconds ws sync)
awk -v t="$push" -v n="$files" 'BEGIN { printf "  %-34s %9.2f s   %.0f documents/s\n", "first push", t, n / t }'
source=$(ws sync status --json 2>/dev/null | member source_id)

status=$(median "$runs" true "ws sync status --offline")
git status >/dev/null
row "status --offline, nothing changed" "$status" "git status" "$(median "$runs" true "git status")" \
  "walk" "$(median "$runs" true "$work/walk stat .")"
echo "  peak memory of it: ours $(peak ws sync status --offline) MB, git $(peak git status) MB"
changed=$(median "$long_runs" "python3 $probes/edit_some.py ." "ws sync status --offline")
row "1 % changed" "$changed" "no-op and 1 % of the hash" "$(awk -v s="$status" -v h="$hash" 'BEGIN { print s + h / 100 }')"
row "ws sync of it" "$(seconds ws sync)"

for i in $(seq "$long_runs"); do
  mkdir "$work/pull" && cd "$work/pull"
  ws sync init --source "$source" >/dev/null
  seconds ws sync && echo
  cd "$work" && rm -rf "$work/pull"
done | middle >"$work/pulls"
for i in $(seq "$long_runs"); do
  seconds bash -c "rsync -a --exclude=.ws --exclude=.git '$work/tree/' '$work/copy/' && sync -f '$work/copy'" && echo
  rm -rf "$work/copy"
done | middle >"$work/copies"
row "first pull" "$(cat "$work/pulls")" "rsync -a, sync -f" "$(cat "$work/copies")"
mkdir "$work/pull" && cd "$work/pull"
ws sync init --source "$source" >/dev/null
echo "  peak memory of the first pull: $(peak ws sync) MB"

if command -v unison >/dev/null; then
  export UNISON=$work/unison
  pair=("$work/tree" "$work/peer" -batch -silent -ignore 'Name .ws' -ignore 'Name .git')
  mkdir "$work/peer"
  unison_first=$(seconds unison "${pair[@]}")
  row "unison: first copy" "$unison_first"
  row "unison: nothing changed" "$(median "$long_runs" true "unison ${pair[*]@Q}")"
  echo "  peak memory of it: $(peak unison "${pair[@]}") MB"
fi
