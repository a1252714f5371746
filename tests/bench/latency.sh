#!/usr/bin/env bash
# What people wait for on a slow network: the programs behind a relay that adds RTT (100) milliseconds to each round trip
# and one more to each new connection; beside `git push` and `git clone` of the same notes through the same relay.
# NOTES (1000,10000): the sizes of the first push and pull. ROWS: some of sync files lists export first events; the
# lists are of all that the rows before sent.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
start_mock
# shellcheck disable=SC2086 # the rows are words
python3 latency.py "$base_url" "$token" "$work/latency" ${ROWS:-}
