#!/usr/bin/env bash
# Notes of one content beside distinct ones of the same size: NOTES (100000) in folders of 100, the first push and a
# status with nothing to do. What tells notes apart by their text alone becomes slow, or quadratic, where all are alike.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
notes=${NOTES:-100000}
start_mock
export WS_TOKEN=$token WS_BASE_URL=$base_url

# tree FOLDER TEXT: TEXT with a %06d, which is the number of the note, or 0 where they are alike.
tree() {
  mkdir "$1"
  for folder in $(seq -w 0 $(((notes - 1) / 100))); do mkdir "$1/$folder"; done
  seq 0 $((notes - 1)) | awk -v dir="$1" -v text="$2" -v last="$(((notes - 1) / 100))" '{
    f = sprintf("%s/%0*d/note-%06d.md", dir, length(last), int($1 / 100), $1); printf text, $1 >f; close(f) }'
}
# seconds COMMAND...: "CLOCK PROCESSOR".
seconds() {
  local TIMEFORMAT='%R %U %S'
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%s %.2f\n", $1, $2 + $3 }'
}
middle() { sort -n | awk '{ all[NR] = $0 } END { print all[int((NR + 1) / 2)] }'; }
measured() { # FOLDER: sets push and status
  cd "$1"
  ws sync init --name "${1##*/}" >/dev/null 2>&1
  push=$(seconds ws sync --allow-large)
  ws sync >/dev/null 2>&1
  status=$(for _ in $(seq "${RUNS:-5}"); do seconds ws sync status; done | middle)
  cd - >/dev/null
}
row() {
  awk -v name="$1" -v a="$2" -v b="$3" 'BEGIN { split(a, alike, " "); split(b, distinct, " ")
    printf "  %-8s alike %.2f s, distinct %.2f s: %.2f x (processor %.2f x)\n", name, alike[1], distinct[1],
      alike[1] / distinct[1], alike[2] / distinct[2] }'
}
tree "$work/distinct" '# Note %06d\n\nA line of text that stands in every one of these notes, and another one.\n'
tree "$work/alike" '# Note 000000\n\nA line of text that stands in every one of these notes, and another one.\n'
measured "$work/distinct"
distinct_push=$push distinct_status=$status
measured "$work/alike"
echo "  $notes notes of one content beside distinct ones"
row push "$push" "$distinct_push"
row status "$status" "$distinct_status"
