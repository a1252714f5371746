#!/bin/sh
# A job of any CI: a sample of the faults for each change, the same sample for the same seed; all of them every night.
# Known findings stand in FILE, a WORD:ROW a line, and do not fail it: recipes/sweep/ci_job.sh [SCRIPT [FILE]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
script=${1:-$here/publish_notes.sh}
reports=${REPORTS:-.}
set -- --junit "$reports/sweep.xml" --html "$reports/sweep.html" ${2:+--accept "$2"}
[ -n "${NIGHTLY:-}" ] || set -- --sample "${SAMPLE:-6}" --seed "${SEED:-1}" --skip timeout-before "$@"
exec ws-mock sweep "$@" -- "$script"
