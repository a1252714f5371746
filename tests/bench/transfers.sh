#!/usr/bin/env bash
# What `ws` adds to curl, and what it saves: FILES (200) files of 50 KB up and down, beside a loop of curl and beside
# `curl --parallel` with the same requests, and a list of DOCUMENTS (10000) documents beside a loop of curl.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
files=${FILES:-200} documents=${DOCUMENTS:-10000}

mkdir "$work/up" "$work/notes"
for i in $(seq "$files"); do head -c 51200 /dev/urandom >"$work/up/file-$i.bin"; done
seq "$documents" | awk -v dir="$work/notes" '{ f = sprintf("%s/note-%05d.md", dir, $1); printf "# Note %d\n\nText.\n", $1 >f; close(f) }'
start_mock --fixtures "$work/notes"
export WS_TOKEN=$token WS_BASE_URL=$base_url

seconds_of() { local begin; begin=$(date +%s%N); "$@"; awk -v b="$begin" -v e="$(date +%s%N)" 'BEGIN { printf "%.2f", (e - b) / 1e9 }'; }
call() { curl -sS --fail -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

by_ws() { ws files upload --again --jobs "$1" "$work"/up/*.bin --template '{id}' --quiet >"$work/ids"; [ "$(wc -l <"$work/ids")" = "$files" ]; }
curl_one() {
  local started name=${1##*/}
  started=$(call -d "{\"file_name\":\"$name\",\"size_bytes\":51200}" "$base_url/v1/files/uploads")
  curl -sS --fail -o /dev/null -H 'Content-Type: application/octet-stream' -T "$1" "$(member upload_url <<<"$started")"
  call -o /dev/null -d "{\"upload_id\":\"$(member upload_id <<<"$started")\",\"blob_name\":\"$(member blob_name <<<"$started")\",\"file_name\":\"$name\",\"size_bytes\":51200}" \
    "$base_url/v1/files/uploads:finalize"
}
by_curl() { local file; for file in "$work"/up/*.bin; do curl_one "$file"; done; }

four=$(seconds_of by_ws 4)
one=$(seconds_of by_ws 1)
loop=$(seconds_of by_curl)
echo "  $files uploads of 50 KB: ws, four at a time $four s, one at a time $one s; a loop of curl $loop s"
echo "    ours is $(ratio "$four" "$loop") x; one at a time $(ratio "$one" "$loop") x"

# One process for each of the three steps, its requests in parallel and over connections that it keeps.
headers="header = \"Authorization: Bearer $token\"
header = \"Content-Type: application/json\""
# in_parallel: a curl configuration from stdin, what it prints in the files that it names.
in_parallel() { curl -sS --fail --parallel --config - >/dev/null; }
starts() {
  local file
  for file in "$work"/up/*.bin; do
    printf 'next\n%s\nurl = "%s"\ndata = "{\\"file_name\\":\\"%s\\",\\"size_bytes\\":51200}"\noutput = "%s"\n' \
      "$headers" "$base_url/v1/files/uploads" "${file##*/}" "$work/answers/${file##*/}"
  done | tail -n +2
}
puts() {
  local file
  for file in "$work"/up/*.bin; do
    printf 'next\nheader = "Content-Type: application/octet-stream"\nupload-file = "%s"\nurl = "%s"\noutput = "/dev/null"\n' \
      "$file" "$(member upload_url <"$work/answers/${file##*/}")"
  done | tail -n +2
}
finalizes() {
  local file name started
  for file in "$work"/up/*.bin; do
    name=${file##*/}
    started=$(<"$work/answers/$name")
    printf 'next\n%s\nurl = "%s"\ndata = "{\\"upload_id\\":\\"%s\\",\\"blob_name\\":\\"%s\\",\\"file_name\\":\\"%s\\",\\"size_bytes\\":51200}"\noutput = "/dev/null"\n' \
      "$headers" "$base_url/v1/files/uploads:finalize" "$(member upload_id <<<"$started")" "$(member blob_name <<<"$started")" "$name"
  done | tail -n +2
}
descriptions() {
  local id
  while read -r id; do printf 'next\n%s\nurl = "%s"\noutput = "/dev/null"\n' "$headers" "$base_url/v1/files/$id"; done <"$work/ids" | tail -n +2
}
contents() {
  local id
  while read -r id; do
    printf 'next\n%s\nurl = "%s"\noutput = "%s"\n' "$headers" "$base_url/v1/files/$id/content" "$work/down-curl/$id"
  done <"$work/ids" | tail -n +2
}
# timed COMMAND...: "CLOCK PROCESSOR", in seconds.
timed() {
  local TIMEFORMAT='%R %U %S'
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%s %.2f\n", $1, $2 + $3 }'
}
sum() { awk '{ clock += $1; processor += $2 } END { printf "%.2f %.2f\n", clock, processor }'; }
beside() {  # beside NAME OURS THEIRS
  awk -v name="$1" -v a="$2" -v b="$3" 'BEGIN { split(a, ours, " "); split(b, theirs, " ")
    printf "  %-10s ws %s s (processor %s s), curl --parallel %s s (processor %s s): %.2f x (processor %.2f x)\n",
      name, ours[1], ours[2], theirs[1], theirs[2], ours[1] / theirs[1], ours[2] / theirs[2] }'
}
# What ws holds through a power cut, curl's files have to hold too: the answer that names an upload, and what came down.
flushed() { timed find "$1" -type f -exec sync -d {} +; }
mkdir "$work/answers" "$work/down-curl"
for _ in $(seq "${RUNS:-3}"); do
  rm -rf "$work/down-ws"
  rm -rf "$work"/answers/* "$work"/down-curl/*
  ours=$(timed by_ws 8)
  theirs=$(
    for step in starts puts finalizes; do
      $step >"$work/config"
      timed in_parallel <"$work/config"
      [ "$step" != starts ] || flushed "$work/answers"
    done | sum
  )
  beside uploads "$ours" "$theirs"
  ours=$(timed xargs -a "$work/ids" ws files download -o "$work/down-ws/" --quiet)
  theirs=$(
    for step in descriptions contents; do
      $step >"$work/config"
      timed in_parallel <"$work/config"
    done | { cat; flushed "$work/down-curl"; } | sum
  )
  beside downloads "$ours" "$theirs"
done
[ "$(find "$work/down-ws" -name '*.bin' -size 50k | wc -l)" = "$files" ] || echo "  not all came down" >&2

list_by_ws() { ws docs list --all --format ids --quiet >"$work/ids"; }
list_by_curl() {
  local page cursor=
  : >"$work/curl_ids"
  while true; do
    page=$(call -G -d limit=100 ${cursor:+--data-urlencode "cursor=$cursor"} "$base_url/v1/documents")
    grep -o '"object":"document"' <<<"$page" >>"$work/curl_ids"
    cursor=$(member next_cursor <<<"$page")
    [ -n "$cursor" ] && [ "$cursor" != null ] || break
  done
}
ours=$(seconds_of list_by_ws)
theirs=$(seconds_of list_by_curl)
echo "  $(wc -l <"$work/ids") documents listed: ws $ours s, a loop of curl ($(wc -l <"$work/curl_ids") documents) $theirs s; ours is $(ratio "$ours" "$theirs") x"
/usr/bin/time -o "$work/peak" -f '    peak memory of the listing %M KB' ws docs list --all --format ids >/dev/null && cat "$work/peak"
