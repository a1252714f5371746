#!/bin/sh
printf '# Report\n\nhello\n' >"$TMPDIR/report.md"
exec ws docs create -f "$TMPDIR/report.md" --idempotency-key stable
