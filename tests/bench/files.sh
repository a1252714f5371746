#!/usr/bin/env bash
# 100 MiB up and down through the mock server, with its resident memory; beside them what the machine can do: the same
# bytes copied and hashed, and sent by Python's http.server. Bar: docs of `ws-mock`, "What it must be".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh

size=104857600
head -c "$size" /dev/urandom >"$work/file"
sum=$(sha256sum <"$work/file" | cut -d' ' -f1)
peak() { awk '/VmHWM/ { printf "%.1f", $2 / 1024 }' "/proc/$server/status"; }
seconds_of() { local begin; begin=$(date +%s%N); "$@"; awk -v b="$begin" -v e="$(date +%s%N)" 'BEGIN { printf "%.2f", (e - b) / 1e9 }'; }
speed() { awk -v s="$1" 'BEGIN { printf "%d MiB/s", 100 / s }'; }
call() { curl -sS --fail -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@"; }

stop() { kill "$server"; wait "$server" 2>/dev/null || true; server=; rm -f "$work/ready.json"; }

put() { curl -sS --fail -o /dev/null -H 'Content-Type: application/octet-stream' -T "$work/file" "$upload_url"; }
get() { curl -sS --fail -o "$work/back" -H "Authorization: Bearer $token" "$base_url/v1/files/$asset/content"; }
copy_and_hash() { cp "$work/file" "$work/copy" && sync "$work/copy" && sha256sum "$work/copy" >/dev/null; }

up_and_down() {
  local started up down
  started=$(call -d "{\"file_name\":\"file\",\"size_bytes\":$size}" "$base_url/v1/files/uploads")
  upload_url=$(member upload_url <<<"$started")
  up=$(seconds_of put)
  asset=$(call -d "{\"upload_id\":\"$(member upload_id <<<"$started")\",\"blob_name\":\"$(member blob_name <<<"$started")\",\"file_name\":\"file\",\"size_bytes\":$size}" \
    "$base_url/v1/files/uploads:finalize" | member id)
  down=$(seconds_of get)
  [ "$(sha256sum <"$work/back" | cut -d' ' -f1)" = "$sum" ] || { echo "the bytes that came back are others" >&2; exit 1; }
  echo "  $1: up ${up} s ($(speed "$up")), down ${down} s ($(speed "$down")), resident at most $(peak) MiB  (bar 16)"
}

start_mock
up_and_down "in memory mode      "
stop
start_mock --data "$work/world.db"
up_and_down "with --data, durable"
stop
echo "  cp, fsync, sha256sum: $(seconds_of copy_and_hash) s"

(cd "$work" && exec python3 -c '
import http.server, functools
handler = functools.partial(http.server.SimpleHTTPRequestHandler)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
open("port.new", "w").write(str(server.server_address[1])); import os; os.rename("port.new", "port")
server.serve_forever()' 2>/dev/null) &
peer=$!
trap 'kill "$peer" 2>/dev/null; finish' EXIT
until [ -s "$work/port" ]; do sleep 0.05; done
down=$(seconds_of curl -sS -o "$work/back" "http://127.0.0.1:$(cat "$work/port")/file")
echo "  Python's http.server: down ${down} s ($(speed "$down"))"
