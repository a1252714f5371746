#!/usr/bin/env bash
# Runs the benchmarks named, or all: `./dev bench [NAME...]`. Ours and its peers or probes run side by side; what is
# printed are medians and ratios. Nothing here passes or fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
all="start mock sweep record sync alike watch vault undo files transfers latency merge growth"
for name in "${@:-$all}"; do
  for one in $name; do
    [ -x "./$one.sh" ] || { echo "no benchmark \"$one\"; there are: $all" >&2; exit 2; }
    echo "== $one"
    "./$one.sh"
  done
done
