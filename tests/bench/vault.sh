#!/usr/bin/env bash
# A whole vault: the bars of vault.md. NOTES (6289) notes and FILES (4491) pictures, as many as a large public vault has,
# go up and come down; UPLOADS (1000) files of 50 KB beside `curl --parallel` of the same three calls; the index of links
# and a status of INDEXED (10000) notes with half as many pictures beside bare readers. LONG_RUNS times (default 3), medians.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
notes=${NOTES:-6289} files=${FILES:-4491} uploads=${UPLOADS:-1000} indexed=${INDEXED:-10000} long_runs=${LONG_RUNS:-3}

seconds_of() { local begin; begin=$(date +%s%N); "$@" >/dev/null 2>&1 || true; awk -v b="$begin" -v e="$(date +%s%N)" 'BEGIN { printf "%.2f\n", (e - b) / 1e9 }'; }
middle() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
requests() { curl -sS --fail "$base_url/_mock/requests" | python3 -c 'import collections, json, sys
print(dict(collections.Counter(each["operation"] for each in json.load(sys.stdin)["data"])))'; }
forget_requests() { curl -sS --fail -o /dev/null -X DELETE -H 'Content-Type: application/json' "$base_url/_mock/requests"; }
assets() { curl -sS --fail "$base_url/_mock/state" | python3 -c 'import json, sys
rows = json.load(sys.stdin)["tables"]["assets"]
print(len(rows), len({row["content_sha256"] for row in rows}))'; }
tie() { ws sync init --name "$1" --json | member source_id; }

# Up, and down on another machine: every byte, each content once.
whole_vault() {
  python3 probes/make_vault.py "$work/vault" "$notes" "$files" 20000
  start_mock --journal 1000000
  export WS_TOKEN=$token WS_BASE_URL=$base_url
  cd "$work/vault"
  local source up down second contents
  source=$(tie vault)
  up=$(seconds_of ws sync)
  mkdir "$work/down"
  cd "$work/down"
  ws sync init --source "$source" >/dev/null 2>&1
  down=$(seconds_of ws sync)
  diff -rq --exclude=.ws "$work/vault" "$work/down" >"$work/differences" || true
  forget_requests
  second=$(seconds_of ws sync)
  contents=$(find "$work/vault" -name '*.png' -exec sha256sum {} + | cut -c1-64 | sort -u | wc -l)
  cd "$OLDPWD"/..
  echo "  $notes notes and $files pictures ($contents contents): up $up s, down $down s; $(wc -l <"$work/differences") files differ"
  read -r made distinct < <(assets)
  echo "    assets on the service: $made, of $distinct contents"
  echo "    the second sync: $second s, requests $(requests)"
}

first_push() {
  mkdir -p "$work/up/img"
  local i source ours=() theirs=()
  for i in $(seq "$uploads"); do head -c 51200 /dev/urandom >"$work/up/img/file-$i.png"; done
  seq "$uploads" | awk '{ printf "![](img/file-%d.png)\n", $1 }' >"$work/up/note.md"
  for i in $(seq "$long_runs"); do
    rm -rf "$work/up/.ws"
    (cd "$work/up" && ws sync init --name "push-$i" >/dev/null 2>&1)
    ours+=("$(cd "$work/up" && seconds_of ws sync)")
    theirs+=("$(seconds_of python3 probes/curl_uploads.py "$work/up/img" "$work/answers-$i" "$base_url" "$token")")
  done
  local a b
  a=$(printf '%s\n' "${ours[@]}" | middle) b=$(printf '%s\n' "${theirs[@]}" | middle)
  echo "  first push of $uploads files of 50 KB: $a s (${ours[*]}); curl --parallel, the same three calls: $b s (${theirs[*]}): $(ratio "$a" "$b") x"
}

# The index of links beside reading the notes; one note changed; the same tree without the setting.
index() {
  python3 probes/make_vault.py "$work/index" "$indexed" $((indexed / 2)) 200
  cd "$work/index"
  tie index >/dev/null 2>&1
  printf 'attachments: linked\n' >.ws/config.yaml
  ws sync >/dev/null 2>&1 || true
  ws sync status --offline >/dev/null 2>&1 || true
  sleep 0.1
  ws sync status --offline >/dev/null 2>&1 || true
  g++ -O2 -std=c++20 -o "$work/walk" "$OLDPWD/probes/walk.cpp" -lcrypto -pthread
  medians "links-check,index-in-place=ws links check" "read-every-note,two-threads=$work/walk read ." "cat-of-every-note=find . -name *.md -exec cat {} +"
  cp .ws/links.cache "$work/links.cache"
  hyperfine -N -i --warmup 2 --runs "${RUNS:-20}" --prepare "rm -f $work/index/.ws/links.cache" --export-csv "$work/cold.csv" "ws links check" >/dev/null 2>&1
  hyperfine -N -i --warmup 2 --runs "${RUNS:-20}" --prepare "python3 $OLDPWD/probes/edit_note.py $work/index/folder-0000/note-00000.md $work/links.cache $work/index/.ws/links.cache" \
    --export-csv "$work/one.csv" "ws links check" >/dev/null 2>&1
  hyperfine -N -i --warmup 2 --runs "${RUNS:-20}" --export-csv "$work/reading.csv" "$work/walk read ." "ws links check" >/dev/null 2>&1
  awk -F, 'FNR == 2 { cell[FILENAME] = $(NF-4) * 1000 } FNR == 3 { warm = $(NF-4) * 1000 }
    END { for (name in cell) { if (name ~ /cold/) cold = cell[name]; if (name ~ /one/) one = cell[name]; if (name ~ /reading/) reading = cell[name] }
      printf "  index of links, cold: %.1f ms, reading the notes by a bare walk of two threads %.1f ms: %.2f x (%.2f x without what a check costs in any case)\n", cold, reading, cold / reading, (cold - warm) / reading
      printf "  index of links, one note changed: %.1f ms, none changed %.1f ms: %.1f ms more\n", one, warm, one - warm }' \
    "$work/cold.csv" "$work/one.csv" "$work/reading.csv"
  cp -a "$work/index" "$work/plain"
  printf 'attachments: off\n' >"$work/plain/.ws/config.yaml"
  for tree in index plain; do for i in 1 2; do (cd "$work/$tree" && ws sync status --offline >/dev/null 2>&1) || true; sleep 0.1; done; done
  medians "status-linked=env -C $work/index ws sync status --offline" "status-off=env -C $work/plain ws sync status --offline"
  cd "$OLDPWD"
}

here=$PWD
whole_vault
cd "$here"
first_push
index
