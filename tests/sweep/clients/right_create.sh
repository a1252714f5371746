#!/bin/sh
# Right: curl's own retries keep Retry-After and stop at a 4xx; the key is the same for all tries and all runs.
curl -sS --fail -m 15 --retry 3 -o "$TMPDIR/made" -X POST "$WS_BASE_URL/v1/documents" \
  -H "Authorization: Bearer $WS_TOKEN" -H 'Content-Type: application/json' -H 'Idempotency-Key: right-create-sh' \
  -d '{"title": "one", "content": "text"}' 2>/dev/null || exit 1
python3 -c 'import json,sys; json.load(open(sys.argv[1]))["id"]' "$TMPDIR/made" 2>/dev/null
