#!/usr/bin/env bash
# Sync: the bars of sync.md. A tree of FILES Markdown files of 2-8 KB (default 10000; the bars are for 100000 where they
# say so) in folders of 100: status beside git's and beside a bare walk, the first hash beside a probe that reads and
# hashes, 1 % changed, the first push, the first pull beside rsync, and Unison where it is installed. RUNS: of the short
# ones (default 20); LONG_RUNS: of those that take seconds (default 3). Medians of the clock, then of processor time: on a
# machine that others use too the second is the steadier one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
files=${FILES:-10000} runs=${RUNS:-20} long_runs=${LONG_RUNS:-3}
probes=$PWD/probes
g++ -O2 -std=c++20 -o "$work/walk" "$probes/walk.cpp" -lcrypto -pthread
python3 "$probes/make_tree.py" "$work/tree" "$files"

# median RUNS PREPARE COMMAND: SECONDS/PROCESSOR SECONDS; PREPARE runs before each and is not counted, `true` for nothing.
median() {
  hyperfine -N --ignore-failure --warmup "$(($1 > 5 ? 3 : 0))" --runs "$1" --prepare "$2" --export-csv "$work/times.csv" "$3" \
    >/dev/null 2>&1
  # CSV: command,mean,stddev,median,user,system,min,max
  tail -n 1 "$work/times.csv" | awk -F, '{ printf "%s/%s\n", $(NF-4), $(NF-3) + $(NF-2) }'
}
# once COMMAND...: the same of one run.
once() {
  /usr/bin/time -o "$work/once" -f '%e %U %S' "$@" >/dev/null 2>&1 || true
  tail -n 1 "$work/once" | awk '{ printf "%s/%s\n", $1, $2 + $3 }'
}
middle() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
clock() { echo "${1%/*}"; }
# row NAME TIME [BESIDE TIME]...: ratios of ours to each.
row() {
  local name=$1 ours=$2
  shift 2
  printf '  %-34s %9.4f s' "$name" "$(clock "$ours")"
  while [ $# -gt 0 ]; do
    awk -v n="$1" -v o="$ours" -v t="$2" 'BEGIN { split(o, a, "/"); split(t, b, "/")
      printf "   %s %.4f s: %.2f x (processor %.2f x)", n, b[1], (b[1] > 0 ? a[1] / b[1] : 0), (b[2] > 0 ? a[2] / b[2] : 0) }'
    shift 2
  done
  echo
}
peak() { /usr/bin/time -o "$work/peak" -f %M "$@" >/dev/null 2>&1 || true; tail -n 1 "$work/peak" | awk '{ printf "%.1f", $1 / 1024 }'; }

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
row "first hash" "$hash" "read and SHA-256" "$(median "$long_runs" true "$work/walk hash .")" "git add -A" "$add"

server_before=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
push=$(once ws sync)
server_after=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
awk -v t="$push" -v n="$files" -v s=$((server_after - server_before)) -v hz="$(getconf CLK_TCK)" 'BEGIN { split(t, a, "/")
  printf "  %-34s %9.2f s   %.0f documents/s   processor: ours %.2f s, the server %.2f s\n", "first push", a[1], n / a[1], a[2], s / hz }'
source=$(ws sync status --json 2>/dev/null | member source_id)

status=$(median "$runs" true "ws sync status --offline")
git status >/dev/null
row "status --offline, nothing changed" "$status" "git status" "$(median "$runs" true "git status")" \
  "walk" "$(median "$runs" true "$work/walk stat .")"
echo "  peak memory of it: ours $(peak ws sync status --offline) MB, git $(peak git status) MB"
ws sync watch --interval 1h >/dev/null 2>&1 &
watch=$!
# A status that comes from the watch leaves the stat cache unread.
for _ in $(seq 100); do
  sleep 0.2
  ws sync status --offline >/dev/null
  strace -o "$work/calls" -e trace=openat ws sync status --offline >/dev/null 2>&1
  grep -q stat.cache "$work/calls" || break
done
row "status --offline while a watch runs" "$(median "$runs" true "ws sync status --offline")" "git status" "$(median "$runs" true "git status")"
row "status while a watch runs" "$(median "$runs" true "ws sync status")"
kill "$watch" && wait "$watch" 2>/dev/null || true
changed=$(median "$long_runs" "python3 $probes/edit_some.py ." "ws sync status --offline")
row "1 % changed" "$changed" "no-op and 1 % of the hash" \
  "$(awk -v s="$status" -v h="$hash" 'BEGIN { split(s, a, "/"); split(h, b, "/"); printf "%s/%s", a[1] + b[1] / 100, a[2] + b[2] / 100 }')"
row "ws sync of it" "$(once ws sync)"

# Turn about, each into a folder of its own, and nothing is removed in between: ext4 passes over inodes that were freed in
# the last minutes one by one, and whoever makes files next would pay for it.
for i in $(seq "$long_runs"); do
  mkdir "$work/pull-$i" && cd "$work/pull-$i"
  ws sync init --source "$source" >/dev/null
  once ws sync >>"$work/pulls"
  cd "$work"
  once bash -c "rsync -a --exclude=.ws --exclude=.git '$work/tree/' '$work/copy-$i/' && sync -f '$work/copy-$i'" >>"$work/copies"
done
row "first pull" "$(middle <"$work/pulls")" "rsync -a, sync -f" "$(middle <"$work/copies")"
row "first push, from above" "$push" "rsync -a, sync -f" "$(middle <"$work/copies")"
mkdir "$work/pull" && cd "$work/pull"
ws sync init --source "$source" >/dev/null
echo "  peak memory of the first pull: $(peak ws sync) MB"
cd "$work/copy-1"
ws sync init --name again >/dev/null
echo "  peak memory of the first push: $(peak ws sync) MB"

if command -v unison >/dev/null; then
  export UNISON=$work/unison
  pair=("$work/tree" "$work/peer" -batch -silent -ignore 'Name .ws' -ignore 'Name .git')
  mkdir "$work/peer"
  unison_first=$(once unison "${pair[@]}")
  row "unison: first copy" "$unison_first"
  row "unison: nothing changed" "$(median "$long_runs" true "unison ${pair[*]@Q}")"
  echo "  peak memory of it: $(peak unison "${pair[@]}") MB"
fi
