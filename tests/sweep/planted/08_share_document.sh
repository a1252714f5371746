#!/usr/bin/env bash
# Shares the plan with the reviewing agent; signs the agent up if there is none yet.
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

new='{"title":"Plan for the spring","content":"# Plan\n\nPlease review."}'
call POST /v1/documents "$new" "plan-$(sha256sum <<<"$new" | cut -c1-40)"
expect 201 'creating the plan'
doc=/v1/documents/$(field .id)

call GET /v1/agents
expect 200 'listing agents'
[[ $(field '.data | type') == array ]] || die 'unexpected list of agents'
if ! jq -e 'any(.data[]; .handle == "reviewer")' "$tmp/body" >/dev/null; then
  call POST /v1/agents '{"handle":"reviewer","display_name":"Reviewer","permissions":["read","comment"]}'
  expect 201 'signing up the reviewer'
  (umask 077; mkdir -p "${OUT_DIR:-out}"; field .credential >"${OUT_DIR:-out}/reviewer.json")
fi

share='{"agent_handle":"reviewer","permission":"comment"}'
call POST "$doc/shares" "$share"
if [[ $status != 20[01] ]]; then
  echo 'To try again by hand:' >&2
  echo "  curl -X POST -H 'Authorization: Bearer $WS_TOKEN' -d '$share' '${WS_BASE_URL%/}$doc/shares'" >&2
  die "sharing: status $status"
fi
jq -e . "$tmp/body" >/dev/null || die 'the answer to the share is not JSON'
echo "shared $doc with @reviewer"
