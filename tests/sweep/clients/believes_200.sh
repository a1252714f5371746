#!/bin/sh
# Planted: the status of the first answer is looked at, its body is not; what cannot be read becomes an empty note.
text=$(curl -s -m 5 "$WS_BASE_URL/v1/me" -H "Authorization: Bearer $WS_TOKEN")
[ -n "$text" ] || exit 1
name=$(printf %s "$text" | python3 -c 'import json,sys
try: print(json.load(sys.stdin)["user"]["email"])
except Exception: print("nobody")')
curl -sf -m 5 -o /dev/null -X POST "$WS_BASE_URL/v1/documents" -H "Authorization: Bearer $WS_TOKEN" \
  -H 'Content-Type: application/json' -H 'Idempotency-Key: note-of-today' -d "{\"title\": \"by $name\", \"content\": \"\"}"
