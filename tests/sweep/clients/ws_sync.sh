#!/bin/sh
# `ws sync init` comes before: WS_SWEEP_ROOT is a node of the fixtures.
set -e
notes=$TMPDIR/notes
mkdir -p "$notes"
[ -e "$notes/.ws/state.db" ] || ws sync init "$notes" >/dev/null
[ -e "$notes/new.md" ] || printf '# New\n\nnote\n' >"$notes/new.md"
exec ws sync --yes "$notes" >/dev/null
