#!/usr/bin/env bash
# Archives the documents whose title starts with "Draft:".
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

for n in 1 2 3; do
  new=$(jq -nc --arg t "Draft: idea $n" '{title: $t, content: "Not for publication."}')
  call POST /v1/documents "$new" "draft-$(sha256sum <<<"$new" | cut -c1-40)"
  expect 201 "creating draft $n"
done

cursor='' ids=''
while :; do
  call GET "/v1/documents?limit=50${cursor:+&cursor=$(jq -rn --arg c "$cursor" '$c|@uri')}"
  expect 200 'listing documents'
  ids+=" $(field '[.data[] | select((.title // "") | startswith("Draft:")) | .id] | join(" ")')"
  cursor=$(jq -r '.next_cursor // empty' "$tmp/body")
  [[ -n $cursor ]] || break
done

count=0
for id in $ids; do
  call DELETE "/v1/documents/$id"
  case $status in
    200) [[ $(field '.status // "archived"') == archived ]] || die "$id is not archived" ;;
    404) echo "$id is gone already" ;;
    *) die "archiving $id: status $status" ;;
  esac
  count=$((count + 1))
done
echo "archived $count drafts"
