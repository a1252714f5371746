#!/usr/bin/env bash
# The mock server: GET of one document with its key checked and the journal on (bar: >= 50,000/s on one core), start to
# the first authenticated 200 (bar: <= 20 ms), resident memory idle (bar: <= 15 MiB).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh

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
  printf 'GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "$token" >&3
  read -r status <&3
  end=$(date +%s%N)
  exec 3>&-
  [[ $status == *200* ]] || { echo "first answer was: $status" >&2; exit 1; }
  echo $(((end - begin) / 1000))
  kill "$server"; wait "$server" 2>/dev/null || true
  server=
}
for _ in $(seq 11); do first_answer; done | sort -n | awk '{ t[NR] = $1 } END { printf "  start to first 200 (shell included)   %.1f ms median of %d\n", t[int((NR+1)/2)] / 1000, NR }'

rm -f "$work/ready.json"
start_mock
awk '/VmRSS/ { printf "  resident memory idle                  %.1f MiB\n", $2 / 1024 }' "/proc/$server/status"
id=$(WS_TOKEN=$token WS_BASE_URL=$base_url ws docs list --limit 1 --format ids --quiet)
echo "  GET one document, journal on (wrk -t1 -c32):"
wrk -t1 -c32 -d"${SECONDS_EACH:-5}s" --latency -H "Authorization: Bearer $token" "$base_url/v1/documents/$id" | grep -E 'Requests/sec|50%|99%|Non-2xx' | sed 's/^ */    /'
awk '/VmRSS/ { printf "  resident memory after                 %.1f MiB\n", $2 / 1024 }' "/proc/$server/status"
