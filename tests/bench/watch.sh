#!/usr/bin/env bash
# `ws sync watch`: from a save to the service, and from the service to another folder, at the median and the 95th
# percentile of SAVES (40) saves by each of eight editors' ways of saving, among FILES (100) notes; whether any text
# between two saves was sent; and the requests of an idle minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
mkdir -p "$work/here" "$work/there"
seq "${FILES:-100}" | awk -v dir="$work/here" '{ f = sprintf("%s/note-%04d.md", dir, $1); printf "# Note %d\n\nText.\n", $1 >f; close(f) }'
start_mock --journal 100000
export WS_TOKEN=$token WS_BASE_URL=$base_url
source_id=$(cd "$work/here" && ws sync init --name notes --json | member source_id)
(cd "$work/here" && ws sync >/dev/null 2>&1)
(cd "$work/there" && ws sync init --source "$source_id" >/dev/null && ws sync >/dev/null 2>&1)
python3 probes/watch_latency.py "$work" "${SAVES:-40}"
