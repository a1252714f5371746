#!/usr/bin/env bash
# Uploads a small CSV file and checks what the service stored.
set -euo pipefail
: "${WS_BASE_URL:?}" "${WS_TOKEN:?}"
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
die() { echo "${0##*/}: $*" >&2; exit 1; }
auth() { printf 'header = "Authorization: Bearer %s"\n' "$WS_TOKEN"; }
pause() { # as long as Retry-After says, else $1 seconds
  local v; v=$(tr -d '\r' <"$tmp/head" | sed -n 's/^retry-after: *//Ip' | tail -n 1)
  if [[ -z $v ]]; then v=$1; elif ! [[ $v =~ ^[0-9]+$ ]]; then v=$(($(date -d "$v" +%s) - $(date +%s))); fi
  ((v <= 30)) || die "asked to wait $v s, giving up"
  sleep "$((v > 0 ? v : 0))"
}
# call METHOD PATH [JSON [IDEMPOTENCY_KEY]]: the status in $status, the body in $tmp/body
call() {
  local method=$1 path=$2 data=${3-} key=${4-} n opts
  opts=(-sS -m 5 -X "$method" -o "$tmp/body" -D "$tmp/head" -w '%{http_code}')
  [[ -z $data ]] || opts+=(-H 'Content-Type: application/json' --data-binary "$data")
  [[ -z $key ]] || opts+=(-H "Idempotency-Key: $key")
  for n in 1 2 3 4; do
    : >"$tmp/head"; : >"$tmp/body"
    status=$(curl "${opts[@]}" -K <(auth) "${WS_BASE_URL%/}$path") || status=000
    case $status in
      429) ;;
      000 | 502 | 503 | 504) [[ $method == GET || $method == DELETE || -n $key ]] || return 0 ;;
      409) grep -qi '^retry-after:' "$tmp/head" || return 0 ;;
      *) return 0 ;;
    esac
    if ((n < 4)); then pause "$n"; fi
  done
}
expect() { [[ $status == "$1" ]] || die "$2: status $status"; }
field() { jq -er "$1" "$tmp/body" 2>/dev/null || die "unexpected answer: no $1"; }

printf 'day,visits\nmon,12\ntue,19\nwed,7\n' >"$tmp/visits.csv"
size=$(stat -c %s "$tmp/visits.csv")
sha=$(sha256sum "$tmp/visits.csv" | cut -d' ' -f1)
file=$(jq -nc --argjson s "$size" '{file_name: "visits.csv", mime_type: "text/csv", size_bytes: $s}')
call POST /v1/files/uploads "$file"
expect 201 'starting the upload'
url=$(field .upload_url)
session=$(field '{upload_id, blob_name}')
field '.upload_headers | to_entries[] | "header = \"\(.key): \(.value)\""' >"$tmp/put"
for n in 1 2 3 4; do
  : >"$tmp/head"
  code=$(curl -sS -m 5 -o /dev/null -D "$tmp/head" -w '%{http_code}' -K <(auth) -K "$tmp/put" -T "$tmp/visits.csv" "$url") || code=000
  case $code in 000 | 429 | 50[234]) ((n == 4)) || pause "$n" ;; *) break ;; esac
done
[[ $code == 2?? ]] || die "sending the bytes: status $code"
call POST /v1/files/uploads:finalize "$(jq -c --argjson f "$file" '. + $f' <<<"$session")"
expect 201 'finalizing the upload'
id=$(field .id)
[[ $(field .size_bytes) == "$size" ]] || die "asset $id has another size"
[[ $(field '.content_sha256 // "none"') =~ ^($sha|none)$ ]] || die "asset $id has other bytes"
echo "uploaded visits.csv ($size bytes) as asset $id"
