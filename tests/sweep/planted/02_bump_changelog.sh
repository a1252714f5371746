#!/usr/bin/env bash
# Adds an entry with the number of open threads on top of the changelog document.
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

start=$'# Changelog\n\n- 1.0 first release\n'
new=$(jq -nc --arg c "$start" '{title: "Changelog", content: $c}')
call POST /v1/documents "$new" "changelog-$(sha256sum <<<"$new" | cut -c1-40)"
expect 201 'creating the changelog'
doc=/v1/documents/$(field .id)

call GET "$doc"
expect 200 'reading the changelog'
text=$(field .content)
call GET "$doc/comments"
expect 200 'reading its comments'
open=$(field '[.threads // [] | .[] | select(.status == "open")] | length')
entry="- 1.1 second release ($open open threads)"
text=$(sed "s/^# Changelog\$/&\n\n$entry/" <<<"$text" | cat -s)

call GET "$doc"
expect 200 'reading the revision'
revision=$(field .content_revision)
call PUT "$doc" "$(jq -nc --arg c "$text" --argjson r "$revision" '{content: $c, expected_content_revision: $r}')"
expect 200 'updating the changelog'
[[ $(field .content) == *"$entry"* ]] || die 'the answer lacks the entry'
echo "added '$entry' at revision $(field .content_revision)"
