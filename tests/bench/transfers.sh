#!/usr/bin/env bash
# What `ws` adds to curl, and what it saves: FILES (200) files of 50 KB up, and a list of DOCUMENTS (10000) documents, each
# beside a loop of curl that makes the same requests.
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

by_ws() { ws files upload --jobs "$1" "$work"/up/*.bin --format ids --quiet >"$work/ids"; [ "$(wc -l <"$work/ids")" = "$files" ]; }
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
