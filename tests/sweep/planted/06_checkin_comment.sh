#!/usr/bin/env bash
# Posts the daily check-in as a comment on the stand-up document.
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

new='{"title":"Stand-up","content":"# Stand-up\n\nOne comment a day."}'
call POST /v1/documents "$new" "standup-$(sha256sum <<<"$new" | cut -c1-40)"
expect 201 'creating the stand-up document'
doc=/v1/documents/$(field .id)

# A comment has no idempotency key: it is sent once.
jq -nc --arg b "Check-in of $(date -u +%F): all green." '{body: $b, entry_point: "cron"}' >"$tmp/comment"
code=$(curl -sS -K <(auth) -H 'Content-Type: application/json' --data-binary @"$tmp/comment" \
  -o "$tmp/body" -w '%{http_code}' "${WS_BASE_URL%/}$doc/comments") || die 'no answer to the comment; it may be there or not'
[[ $code == 201 ]] || die "commenting: status $code"
thread=$(field .id)

call GET "$doc/comments"
expect 200 'reading the comments back'
jq -e --arg t "$thread" 'any(.threads[]?; .id == $t)' "$tmp/body" >/dev/null || die "thread $thread is not listed"
echo "checked in: thread $thread"
