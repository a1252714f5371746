#!/bin/sh
# Right: reads, and fails loudly.
curl -sS --fail -m 3 "$WS_BASE_URL/v1/me" -H "Authorization: Bearer $WS_TOKEN" >"$TMPDIR/me" 2>/dev/null || exit 1
python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$TMPDIR/me" 2>/dev/null || exit 1
