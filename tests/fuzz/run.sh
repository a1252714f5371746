#!/usr/bin/env bash
# Runs every fuzz target for SECONDS each; ends with the first finding, whose input libFuzzer names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-60}
for target in build/fuzz/bin/*_fuzz; do
  name=$(basename "$target")
  mkdir -p "build/fuzz/corpus/$name"
  echo "== $name, $seconds s"
  log=build/fuzz/$name.log
  status=0
  "$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" >"$log" 2>&1 || status=$?
  grep -E 'ERROR|SUMMARY|number_of_executed|Test unit' "$log" || true
  [ "$status" -eq 0 ] || { echo "$name: a finding; all of it is in $log" >&2; exit 1; }
done
