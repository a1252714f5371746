#!/usr/bin/env bash
# Polls for changes of documents since a cursor, prints each once and then keeps the cursor in a file (./poller.cursor).
# The API has no cursor of changes for documents; ours is what was printed: one line "id revision" for each.
set -u -o pipefail
umask 077
export LC_ALL=C.UTF-8
base=${WS_BASE_URL-} base=${base%/} last='nothing was sent'
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT || exit 1
id_form='^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

fail() { printf '%s: %s\n' "$(basename "$0" .sh)" "${1//"$WS_TOKEN"/***}" >&2; exit 1; }

# send METHOD URL [BODY [KEY]]: one send; status 0: no whole answer, the outcome is not known. No redirects, no .curlrc.
send() {
  local args=(-q -sS --max-time 3 --proto =http,https -X "$1" -o "$tmp/body" -D "$tmp/head" -w '%{http_code}')
  : >"$tmp/body"; : >"$tmp/head"
  [ -n "${3-}" ] && args+=(-H 'Content-Type: application/json' --data-binary "$3")
  [ -n "${4-}" ] && args+=(-H "Idempotency-Key: $4")
  status=$(curl "${args[@]}" -K <(printf 'header = "Authorization: Bearer %s"\n' "$WS_TOKEN") -- "$base$2" 2>"$tmp/err") || status=0
  if [[ $status == 2* ]]; then code=- last="$1 $2: status $status: "; else note "$1 $2"; fi
}
header() { tr -d '\r' <"$tmp/head" | sed -n "s/^$1:[[:space:]]*//Ip" | tail -n 1; }
note() { # sets code and last
  code=$(jq -r '[.code?, (.detail? | .code?, .[0]?.type?)] | map(strings) | .[0] // "-"' "$tmp/body" 2>/dev/null) || code=-
  last="$1: status $status, code ${code:=-}, request $(header x-request-id): $(cat "$tmp/err" 2>/dev/null)"
}
# pause N: waits before send N + 1; false: this is not to be repeated.
pause() {
  local said now s
  case $status in 0 | 2?? | 408 | 425 | 429 | 5??) ;; *) [ "$status $code" = '409 idempotency_in_flight' ] || return 1 ;; esac
  said=$(header retry-after) now=$(header date) s=0
  if [[ $said =~ ^[0-9]+(\.[0-9]+)?$ ]]; then s=$said
  elif [ -n "$said" ] && said=$(date -d "$said" +%s 2>/dev/null); then s=$((said - $(date -d "${now:-now}" +%s))); fi
  [[ $s =~ ^(0+|-.*)$ ]] && s=0.$(printf '%02d' $((5 * 2 ** ($1 - 1))))
  [ "$1" -lt 4 ] && [ "${s%.*}" -le 30 ] && sleep "$s"
}
# call OK FILTER METHOD PATH [BODY [KEY]]: up to 4 sends, so only for what is safe to repeat. FILTER checks the shape.
call() {
  local ok=$1 filter=$2 n; shift 2
  for n in 1 2 3 4; do
    send "$@"
    [ "$status" = "$ok" ] && jq -e "$filter" "$tmp/body" >/dev/null 2>&1 && return 0
    pause "$n" || break
  done
  [ "$status" = "$ok" ] && last+='unexpected shape of the answer'
  return 1
}

[[ ${WS_BASE_URL-} =~ ^https?:// ]] && [ -n "${WS_TOKEN:=}" ] || fail 'WS_BASE_URL and WS_TOKEN must be set'
keep=poller.cursor
page="(.data | type == \"array\") and all(.data[]; (.id | type == \"string\" and test(\"$id_form\")) and (.content_revision | type == \"number\"))
  and has(\"next_cursor\") and (.next_cursor | . == null or (type == \"string\" and . != \"\"))"

create() { # something to see; made once
  local body
  body=$(jq -nc --arg t "Poller $1" '{title: $t, content: "# \($t)\n"}') || fail 'cannot make the body'
  call 201 ".id | type == \"string\" and test(\"$id_form\")" POST /v1/documents "$body" \
    "poller-$(printf %s "$body" | sha256sum | cut -c 1-40)" || fail "create Poller $1: $last"
}
list_all() { # all documents into $tmp/all, over all pages
  local cursor=''
  : >"$tmp/all"; : >"$tmp/cursors"
  while :; do
    call 200 "$page" GET "/v1/documents?limit=5${cursor:+&cursor=$cursor}" || fail "list documents: $last"
    jq -r '.data[] | [.id, .content_revision, .updated_at // "-", .title // "-"] | @tsv' "$tmp/body" >>"$tmp/all" || fail 'list documents'
    cursor=$(jq -r '.next_cursor // "" | @uri' "$tmp/body") || fail 'list documents'
    [ -n "$cursor" ] || return 0
    grep -qxF -- "$cursor" "$tmp/cursors" && fail "list documents: $last: a cursor came a second time, it does not end"
    printf '%s\n' "$cursor" >>"$tmp/cursors"
  done
}
poll() {
  list_all
  [ -e "$keep" ] || : >"$keep" || fail "cannot write $keep"
  cp "$keep" "$tmp/seen" || fail "cannot read $keep"
  awk -F '[\t ]' 'FILENAME == ARGV[1] { old[$1] = $2 + 0; next } $2 + 0 > old[$1] + 0 { old[$1] = $2 + 0; line[$1] = $0 }
    END { for (id in line) print line[id] }' "$tmp/seen" "$tmp/all" | sort -t $'\t' -k 3,3 -k 1,1 >"$tmp/new" || fail 'cannot compare'
  [ -s "$tmp/new" ] || return 0
  cat "$tmp/new" || fail 'cannot print'
  awk -F '[\t ]' '{ rev[$1] = $2 } END { for (id in rev) print id, rev[id] }' "$tmp/seen" "$tmp/new" | sort >"$keep.part" \
    && sync "$keep.part" && mv "$keep.part" "$keep" || fail "cannot keep $keep"
}

create 1
create 2
for round in 1 2; do
  poll
  [ "$round" = 2 ] || sleep 0.2
done
