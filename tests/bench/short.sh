#!/usr/bin/env bash
# Whether the benchmark of syncing still works, in seconds: a few files, every run once, and each figure has to be there.
# No figure is judged. Ends with 77 where a tool that it needs is not installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for tool in hyperfine rsync git python3 g++; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
[ -x /usr/bin/time ] || { echo "skipped: time is not installed"; exit 77; }
report=$(FILES=200 RUNS=1 LONG_RUNS=1 ./sync.sh)
echo "$report"
for figure in "first hash" "first push" "status --offline" "1 % changed" "ws sync of it" "first pull" "peak memory of it"; do
  line=$(grep -F "  $figure" <<<"$report" | head -n 1) || { echo "no figure: $figure" >&2; exit 1; }
  [[ $line =~ [1-9] ]] || { echo "no number: $line" >&2; exit 1; }
done
