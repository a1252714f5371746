#!/usr/bin/env bash
# Publishes the three release notes below as documents and reads each one back.
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
# call METHOD PATH [JSON]: the status in $status, the body in $tmp/body
call() {
  local method=$1 path=$2 data=${3-} n id opts
  opts=(-sS -m 5 -X "$method" -o "$tmp/body" -D "$tmp/head" -w '%{http_code}')
  [[ -z $data ]] || opts+=(-H 'Content-Type: application/json' --data-binary "$data")
  for n in 1 2 3 4; do
    : >"$tmp/head"; : >"$tmp/body"; id=$(cat /proc/sys/kernel/random/uuid)
    status=$(curl "${opts[@]}" -H "Idempotency-Key: $id" -K <(auth) "${WS_BASE_URL%/}$path") || status=000
    case $status in
      429) ;;
      000 | 502 | 503 | 504) ;;
      409) grep -qi '^retry-after:' "$tmp/head" || return 0 ;;
      *) return 0 ;;
    esac
    if ((n < 4)); then pause "$n"; fi
  done
}
expect() { [[ $status == "$1" ]] || die "$2: status $status"; }
field() { jq -er "$1" "$tmp/body" 2>/dev/null || die "unexpected answer: no $1"; }

publish() { # TITLE TEXT
  local id want
  want=$(jq -nc --arg t "$1" --arg c "$2" '{title: $t, content: $c}')
  call POST /v1/documents "$want"
  expect 201 "publishing '$1'"
  id=$(field .id)
  call GET "/v1/documents/$id"
  expect 200 "reading '$1' back"
  [[ $(field .content) == "$2" ]] || die "'$1' came back with another text"
  echo "published '$1' as $id"
}
publish 'Release 4.0' '# Release 4.0: the new importer'
publish 'Release 4.1' '# Release 4.1: faster search'
publish 'Release 4.2' '# Release 4.2: fixes only'
echo 'published 3 notes'
