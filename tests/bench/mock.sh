#!/usr/bin/env bash
# The mock server beside two peers that npm provides: json-server (keeps what is created) and Prism (validates against
# our OpenAPI document, keeps nothing). Bars: docs of `ws-mock`, "What it must be".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
seconds=${SECONDS_EACH:-5}
peers_bin=$PWD/peers/node_modules/.bin

stop_server() { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; server=; rm -f "$work/ready.json"; }
resident() { awk '/VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$server/status"; }
ticks() { awk -v hz="$(getconf CLK_TCK)" '{ printf "%d", ($14 + $15) * 1000000 / hz }' "/proc/$server/stat"; }
# rate URL [SCRIPT]: requests a second, the slowest of a hundred, and microseconds of the server's CPU for one: what
# others on the machine change least. Complains about answers other than 2xx.
rate() {
  local url=$1 out before
  shift
  before=$(ticks)
  out=$(wrk -t1 -c32 -d"${seconds}s" --latency -H "Authorization: Bearer ${token:-none}" "$@" "$url")
  grep -E 'Non-2xx|Socket errors' <<<"$out" >&2 || true
  awk -v us="$(($(ticks) - before))" '/99%/ { p99 = $2 } /requests in/ { n = $1 }
    /Requests\/sec/ { printf "%d %s %.1f\n", $2, p99, us / n }' <<<"$out"
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

cat >"$work/create.lua" <<'EOT'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"title":"A note of a few words","content":"# A heading\\n\\nSome text that is neither long nor short.\\n"}'
EOT

# --- start -----------------------------------------------------------------------------------------------------------
first_answer() {
  rm -f "$work/ready.json"
  local begin end
  begin=$(date +%s%N)
  ws-mock --listen 127.0.0.1:0 --ready-file "$work/ready.json" --log off >/dev/null &
  server=$!
  until [ -s "$work/ready.json" ]; do :; done
  base_url=$(member base_url <"$work/ready.json")
  token=$(member token <"$work/ready.json")
  # bash's own socket: a curl process would cost more than what is measured.
  exec 3<>"/dev/tcp/127.0.0.1/${base_url##*:}"
  printf 'GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "$token" >&3
  read -r status <&3
  end=$(date +%s%N)
  exec 3>&-
  [[ $status == *200* ]] || { echo "first answer was: $status" >&2; exit 1; }
  echo $(((end - begin) / 1000))
  stop_server
}
for _ in $(seq 11); do first_answer; done | sort -n | awk '{ t[NR] = $1 } END { printf "  start to first 200 (shell included)   %.1f ms median of %d  (bar 20)\n", t[int((NR+1)/2)] / 1000, NR }'

# --- ours ------------------------------------------------------------------------------------------------------------
start_mock
echo "  resident memory idle                  $(resident) MiB  (bar 15)"
id=$(WS_TOKEN=$token WS_BASE_URL=$base_url ws docs list --limit 1 --format ids --quiet)
read -r get p99 cpu < <(rate "$base_url/v1/documents/$id")
echo "  GET one document, journal on          $get/s, p99 $p99, $cpu us of CPU each  (bar 50000)"
echo "  resident memory after it              $(resident) MiB"
# The same bytes without a thought.
curl -s -i --raw -H "Authorization: Bearer $token" "$base_url/v1/documents/$id" >"$work/answer"
g++ -O2 -std=c++20 -o "$work/responder" probes/responder.cpp
"$work/responder" "$work/answer" >"$work/port" &
ours=$server server=$!
until [ -s "$work/port" ]; do sleep 0.01; done
read -r bare _ bare_cpu < <(rate "http://127.0.0.1:$(cat "$work/port")/v1/documents/$id")
kill "$server" && wait "$server" 2>/dev/null || true
server=$ours
echo "  the same from a bare epoll responder  $bare/s, $bare_cpu us of CPU each; ours is $(ratio "$cpu" "$bare_cpu") x  (bar 2.5)"
get_cpu=$cpu
thirds=()
work_each=()
for _ in 1 2 3; do
  read -r one p99 cpu < <(rate "$base_url/v1/documents" -s "$work/create.lua")
  thirds+=("$one")
  work_each+=("$cpu")
done
echo "  POST create, first ${seconds} s             ${thirds[0]}/s, p99 $p99, ${work_each[*]} us of CPU each: $(ratio "${work_each[0]}" "$get_cpu") x that GET  (bar 2.0)"
echo "  third ${seconds} s of creates over first    $(ratio "${thirds[2]}" "${thirds[0]}")  (bar 0.95)"
stop_server
start_mock --journal 0
read -r off _ _ < <(rate "$base_url/v1/documents/$id")
stop_server
start_mock
read -r on _ _ < <(rate "$base_url/v1/documents/$id")
echo "  journal on over off                   $(ratio "$on" "$off")  ($on/s, $off/s; bar 0.9)"
echo '{"rules": [{"operation": "docs.archive", "effect": {"status": {"status": 500}}}]}' >"$work/faults.json"
stop_server
if start_mock --faults "$work/faults.json" 2>/dev/null && [ -n "$base_url" ]; then
  read -r faulty _ _ < <(rate "$base_url/v1/documents/$id")
  echo "  a fault rule elsewhere, on over off   $(ratio "$faulty" "$on")"
  stop_server
fi
start_mock
python3 ./waiting_claims.py "$base_url" "$token" "$server" 2000
stop_server
start_mock
python3 ./worlds.py "$base_url" "$token" "$server"
stop_server
# Instructions are the same on a busy machine.
if command -v valgrind >/dev/null; then python3 ./instructions.py "$bin/ws-mock"; else echo "  no instructions: valgrind is missing"; fi
ws-mock openapi >"$work/openapi.json"

# --- peers -----------------------------------------------------------------------------------------------------------
command -v node >/dev/null && ../support/npm_ci.sh "$PWD/peers" || { echo "  no peers: node or npm is missing"; exit 0; }
wait_for() { for _ in $(seq 1500); do curl -sf -o /dev/null -H "Authorization: Bearer x" "$1" && return; sleep 0.01; done; echo "no answer from $1" >&2; return 1; }
peer() {  # peer NAME GET-URL POST-URL: with the server running
  wait_for "$2"
  local memory get_rate first third
  memory=$(resident)
  read -r get_rate _ _ < <(rate "$2")
  read -r first _ _ < <(rate "$3" -s "$work/create.lua")
  read -r _ _ _ < <(rate "$3" -s "$work/create.lua")
  read -r third _ _ < <(rate "$3" -s "$work/create.lua")
  printf '  %-12s %7s MiB   GET %6s/s (ours %5s x)   create %6s/s (ours %5s x)   third over first %s\n' \
    "$1" "$memory" "$get_rate" "$(ratio "$get" "$get_rate")" "$first" "$(ratio "${thirds[0]}" "$first")" "$(ratio "$third" "$first")"
  stop_server
}
# What a peer has in place of a reset: it is started again, over a file with the 1,000 documents that it had.
restarted() {
  local begin
  begin=$(date +%s%N)
  "$@" >/dev/null 2>&1 &
  server=$!
  until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$((($(date +%s%N) - begin) / 1000000))"
  stop_server
}
port=$(free_port)
python3 -c 'import json
print(json.dumps({"documents": [{"id": i, "title": f"Note {i}", "content": "# A heading\n\nSome text.\n" * 20} for i in range(1000)]}))' >"$work/many.json"
for _ in 1 2 3 4 5; do restarted node "$peers_bin/json-server" --quiet --host 127.0.0.1 --port "$port" "$work/many.json"; done |
  sort -n | awk '{ t[NR] = $1 } END { printf "  json-server, a restart over 1,000 documents    %d ms\n", t[3] }'
for _ in 1 2 3; do restarted node "$peers_bin/prism" mock -h 127.0.0.1 -p "$port" "$work/openapi.json"; done |
  sort -n | awk '{ t[NR] = $1 } END { printf "  Prism, a restart (it keeps nothing)             %d ms\n", t[2] }'
port=$(free_port)
echo '{"documents": [{"id": 1, "title": "One", "content": "text"}]}' >"$work/db.json"
node "$peers_bin/json-server" --quiet --host 127.0.0.1 --port "$port" "$work/db.json" >/dev/null 2>&1 &
server=$!
peer json-server "http://127.0.0.1:$port/documents/1" "http://127.0.0.1:$port/documents"
port=$(free_port)
node "$peers_bin/prism" mock -h 127.0.0.1 -p "$port" "$work/openapi.json" >/dev/null 2>&1 &
server=$!
peer Prism "http://127.0.0.1:$port/v1/documents/$id" "http://127.0.0.1:$port/v1/documents"
