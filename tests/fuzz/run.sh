#!/usr/bin/env bash
# Runs every fuzz target for SECONDS each, from the texts that freeze on; ends with the first finding, whose input
# libFuzzer names. SEED: the same inputs in the same order each time, so that a change is judged by what it changed;
# without it (0) others each time. Each target watches its own processor time (target.hpp); -timeout is for what never ends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-60}
seed=${2:-0}
rm -rf build/fuzz/seeds
build/fuzz/bin/fuzz_seeds build/fuzz/seeds
while read -r name; do
  mkdir -p "build/fuzz/corpus/$name"
  echo "== $name, $seconds s"
  log=build/fuzz/$name.log
  status=0
  "build/fuzz/bin/$name" -seed="$seed" -max_total_time="$seconds" -max_len=32768 -timeout=60 -rss_limit_mb=1024 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" build/fuzz/seeds \
    >"$log" 2>&1 </dev/null || status=$?
  grep -E 'ERROR|SUMMARY|number_of_executed|Test unit' "$log" || true
  [ "$status" -eq 0 ] || { echo "$name: a finding; all of it is in $log" >&2; exit 1; }
done <build/fuzz/fuzz_targets.txt
