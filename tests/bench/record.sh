#!/usr/bin/env bash
# The proxy `ws-mock record` beside the service itself: reads a second, a file of 100 MiB up and down.
# Bars: reads >= 0.8 x direct; at most 16 MiB more memory after the upload than before it.
# A service that answers in 0.1 ms leaves no time in which a proxy on the same processors could work: one that takes 5 ms,
# as a service across a network does, is measured beside it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
start_mock --fixtures ../../server-mock/fixtures/example.yaml --allow-host localhost
ws-mock record --to "$base_url" --listen 127.0.0.1:0 --log off --out "$work/session.jsonl" >"$work/proxy.url" 2>"$work/said" &
proxy=$!
trap 'kill $proxy 2>/dev/null; finish' EXIT
for _ in $(seq 500); do [ -s "$work/proxy.url" ] && break; sleep 0.01; done
proxy_url=$(head -n 1 "$work/proxy.url")

rate() { wrk -t 1 -c 8 -d "${1}s" -H "Authorization: Bearer $token" "$2/v1/documents?limit=5" | sed -n 's/^Requests.sec: *//p'; }
rate 1 "$proxy_url" >/dev/null
# reads NAME: the middle one of three.
reads() {
  for _ in 1 2 3; do
    echo "$(rate 3 "$base_url") $(rate 3 "$proxy_url")"
  done | sort -n | sed -n 2p | { read -r direct through
    printf '  %-33s %9.0f direct, %.0f through the proxy: %.2f x\n' "$1" "$direct" "$through" "$(echo "$through / $direct" | bc -l)"; }
}
reads 'reads a second'
rule() { curl -sf -X "$1" -H 'Content-Type: application/json' ${2:+-d "$2"} "$base_url/_mock/faults" >/dev/null; }
rule POST '{"operation": "docs.list", "effect": {"delay_ms": 5}}'
reads '... of a service that takes 5 ms'
rule DELETE

memory() { awk '/VmHWM/ {print $2 / 1024}' "/proc/$proxy/status"; }
before=$(memory)
head -c $((100 << 20)) /dev/urandom >"$work/file"
export WS_TOKEN=$token
for url in "$base_url" "$proxy_url"; do
  begin=$(date +%s.%N)
  id=$(ws --base-url "$url" files upload "$work/file" --json | python3 -c 'import json, sys; d = json.load(sys.stdin); d = d.get("data", d); d = d[0] if isinstance(d, list) else d; print(d.get("asset_id") or d["id"])')
  uploaded=$(date +%s.%N)
  ws --base-url "$url" files download "$id" -o "$work/back" --force >/dev/null
  done=$(date +%s.%N)
  cmp "$work/file" "$work/back"
  printf '  100 MiB %-26s %9.2f s up, %.2f s down\n' "$([ "$url" = "$base_url" ] && echo direct || echo through the proxy)" "$(echo "$uploaded - $begin" | bc -l)" "$(echo "$done - $uploaded" | bc -l)"
done
printf '  memory of the proxy               %9.1f MiB at most, %.1f before the file\n' "$(memory)" "$before"
