#!/usr/bin/env bash
# Start-up: what a person waits for before anything is done. Bar: <= 10 ms, aim 5 ms.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
medians "ws_--version=ws --version" "git_--version=git --version" "true=true"
medians "ws_--help=ws --help" "git_--help=git --help"
RUNS=40 hyperfine -N --warmup 5 --ignore-failure --export-csv "$work/times.csv" "ws nonsense" >/dev/null 2>&1
awk -F, 'NR == 2 { printf "  %-34s %9.2f ms\n", "ws nonsense (usage error)", $(NF-4) * 1000 }' "$work/times.csv"
