#!/bin/sh
[ -e "$TMPDIR/report.txt" ] || printf 'the report\n' >"$TMPDIR/report.txt"
exec ws files upload "$TMPDIR/report.txt"
