#!/usr/bin/env bash
# Uploads a small file: start, PUT to the upload address, finalize; then checks size and hash of what is there.
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
name=uploader-sample.txt mime=text/plain file=$tmp/sample state=uploader.state asset='' resumed='' unsent=''
printf 'A small file.\nIt has two lines.\n' >"$file" || fail 'cannot write the sample'
size=$(stat -c %s "$file") sha=$(sha256sum <"$file" | cut -d ' ' -f 1)
is_id="(type == \"string\" and test(\"$id_form\"))"
mine="(.id | $is_id) and .original_file_name == \"$name\" and .size_bytes == $size and (.content_sha256 // \"$sha\") == \"$sha\""
upload="(.upload_id | $is_id) and (.upload_url | test(\"^https?://\")) and .upload_method == \"PUT\" and (.blob_name | length > 0)
  and (.upload_headers | type == \"object\" and all(.[]; type == \"string\"))"

find_asset() { # is it there already? (the list has no cursor; beyond 100 files the state file alone knows)
  call 200 '.data | type == "array"' GET '/v1/files?limit=100' || fail "list files: $last"
  asset=$(jq -r "[.data[] | select($mine) | .id][0] // empty" "$tmp/body") && [ -n "$asset" ]
}
start() { # an upload that is never finalized is no file, so this may be repeated
  call 201 "$upload" POST /v1/files/uploads "$(jq -nc --arg n "$name" --arg m "$mime" --argjson s "$size" \
    '{file_name: $n, mime_type: $m, size_bytes: $s}')" || fail "start the upload: $last"
  cp "$tmp/body" "$state.part" && mv "$state.part" "$state" || fail "cannot keep $state"
}
put() { # without the key; the same bytes to the same address may be sent again
  local args=(-q -sS --max-time 3 --proto =http,https -X PUT --data-binary "@$file" -o "$tmp/body" -D "$tmp/head") n line
  grep -qF -- "$WS_TOKEN" "$state" && fail 'the upload address or its headers hold the key: not sent'
  while IFS= read -r line; do args+=(-H "$line"); done < <(jq -r '.upload_headers | if any(keys[]; test("^content-type$"; "i"))
    then . else . + {"Content-Type": ""} end | to_entries[] | "\(.key): \(.value)" | gsub("[\r\n]"; "")' "$state")
  for n in 1 2 3 4; do
    : >"$tmp/head"; : >"$tmp/body"
    status=$(curl "${args[@]}" -w '%{http_code}' -- "$(jq -r .upload_url "$state")" 2>"$tmp/err") || status=0
    note 'PUT to the upload address'
    [ "$status" = 200 ] && return 0
    pause "$n" || return 1
  done
}
finalize() {
  local n again kept body
  body=$(jq -c --arg n "$name" --arg m "$mime" --argjson s "$size" \
    '{upload_id, blob_name, file_name: $n, mime_type: $m, size_bytes: $s}' "$state") || return 1
  for n in 1 2 3 4; do
    send POST /v1/files/uploads:finalize "$body"
    if [ "$status" = 201 ] && jq -e "$mine" "$tmp/body" >/dev/null 2>&1; then asset=$(jq -r .id "$tmp/body"); return 0; fi
    if [ "$code" = upload_consumed ]; then asset=$(jq -r ".asset_id | select($is_id)" "$tmp/body"); [ -n "$asset" ] && return 0; fi
    if [ "$code" = upload_incomplete ] && [ "$n" -lt 4 ]; then put || { unsent=1; return 1; }; continue; fi
    kept="$status $last" again=1
    pause "$n" || again=''
    find_asset && return 0 # done, although nobody told us
    status=${kept%% *} last=${kept#* }
    [ -n "$again" ] || return 1
  done
}

if ! find_asset; then
  jq -e "$upload" "$state" >/dev/null 2>&1 && resumed=1
  if [ -z "$resumed" ] || ! finalize; then
    [ -n "$resumed" ] && case $unsent$status in 1* | 403 | 404 | 410 | 422) ;; *) fail "finalize: $last" ;; esac
    start # the first time, or what an earlier run began is no longer valid
    put || fail "send the bytes: $last"
    finalize || fail "finalize: $last"
  fi
fi
call 200 "$mine" GET "/v1/files/$asset" || fail "file $asset: $last"
for n in 1 2 3 4; do
  send GET "/v1/files/$asset/content"
  [ "$status" = 200 ] && [ "$(sha256sum <"$tmp/body" | cut -d ' ' -f 1)" = "$sha" ] && break
  pause "$n" || fail "content of file $asset ($(stat -c %s "$tmp/body") bytes): $last"
done
rm -f "$state"
printf '%s %s %s bytes sha256 %s\n' "$asset" "$name" "$size" "$sha" || fail 'cannot print'
