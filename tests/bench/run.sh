#!/usr/bin/env bash
# Runs the benchmarks named, or all: `./dev bench [start|mock|sweep|sync|files|transfers|merge]`. Ours and its peers or probes run
# side by side; what is printed are medians and ratios. Nothing here passes or fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for name in "${@:-start mock sweep sync files transfers merge}"; do
  for one in $name; do
    [ -x "./$one.sh" ] || { echo "no benchmark \"$one\"; there are: start mock sweep sync files transfers merge" >&2; exit 2; }
    echo "== $one"
    "./$one.sh"
  done
done
