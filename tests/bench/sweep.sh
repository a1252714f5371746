#!/usr/bin/env bash
# The fault sweep of a usual script (three tries a call, two creates): rows, and what the sweep takes beside the script's
# own time. Bar: <= 5 s for 72 rows on two processors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
cat >"$work/script.sh" <<'S'
for title in one two three; do
  curl -s -f -m 5 --retry 2 --retry-delay 1 -o /dev/null -H "Authorization: Bearer $WS_TOKEN" \
    -H 'Content-Type: application/json' -d "{\"title\": \"$title\", \"content\": \"text\"}" "$WS_BASE_URL/v1/documents" || exit 1
done
S
for jobs in 1 2; do
  begin=$(date +%s.%N)
  ws-mock sweep --json --jobs "$jobs" --patience 1s --max-rows 72 --skip timeout-before -- sh "$work/script.sh" >"$work/report.json" || true
  end=$(date +%s.%N)
  python3 - "$work/report.json" "$jobs" "$begin" "$end" <<'P'
import json, sys
report, jobs = json.load(open(sys.argv[1])), int(sys.argv[2])
took, own = float(sys.argv[4]) - float(sys.argv[3]), report["own_ms"] / 1000
rows = len(report["rows"])
print(f"  {rows} rows, {jobs} jobs              {took:9.2f} s, of which the script {own / jobs:.2f} s: {took - own / jobs:.2f} s beside it")
P
done
