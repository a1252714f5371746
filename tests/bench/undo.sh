#!/usr/bin/env bash
# Undo: the bar of undo.md. FILES notes (default 10000) are synced, leave the folder, and a run archives all of them; then
# that run is taken back. LONG_RUNS times (default 3), medians. The notes are moved out of the folder and not deleted: ext4
# passes over inodes that were freed in the last minutes one by one, and the undo, which makes files, would pay for that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
files=${FILES:-10000} long_runs=${LONG_RUNS:-3}
python3 "$PWD/probes/make_tree.py" "$work/tree" "$files"
# once COMMAND...: seconds of its clock, of its processor time (user and system), and of the server's meanwhile.
once() {
  local before
  before=$(server_ticks)
  /usr/bin/time -o "$work/once" -f '%e %U %S' "$@" >/dev/null 2>&1 || true
  echo "$(tail -n 1 "$work/once") $(server_ticks "$before")"
}
server_ticks() { awk -v from="${1:-}" -v hz="$(getconf CLK_TCK)" '{ print from == "" ? $14 + $15 : ($14 + $15 - from) / hz }' "/proc/$server/stat"; }
middle() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

start_mock
export WS_TOKEN=$token WS_BASE_URL=$base_url
cd "$work/tree"
ws sync init --name bench >/dev/null
ws sync >/dev/null
before=$(find . -name .ws -prune -o -type f -print | wc -l)
for i in $(seq "$long_runs"); do
  mkdir "$work/out-$i"
  find . -mindepth 1 -maxdepth 1 ! -name .ws -exec mv -t "$work/out-$i" {} +
  once ws sync --allow-deletes >>"$work/deletes"
  once ws sync undo --allow-deletes >>"$work/undos"
done
after=$(find . -name .ws -prune -o -type f -print | wc -l)
[ "$before" = "$after" ] || { echo "the undo left $after of $before files" >&2; exit 1; }
paste -d ' ' "$work/deletes" "$work/undos" | awk '
  { printf "  run %d: deletes %.2f s (processor %.2f, the server %.2f), undo %.2f s (processor %.2f, the server %.2f)\n",
      NR, $1, $2 + $3, $4, $5, $6 + $7, $8
    cd += $2 + $3; cu += $6 + $7; sd += $4; su += $8 }
  END { printf "  undo beside the run that it takes back: processor %.2f x, the server %.2f x\n", cu / cd, su / sd }'
awk -v d="$(middle <"$work/deletes")" -v u="$(middle <"$work/undos")" 'BEGIN {
  printf "  %-34s %9.2f s   the run %.2f s: %.2f x\n", "undo of that run", u, d, u / d }'
