#!/bin/sh
# Planted: one key for all tries, but each try has another body.
for try in 1 2 3; do
  curl -sf -m 5 -o /dev/null -X POST "$WS_BASE_URL/v1/documents" -H "Authorization: Bearer $WS_TOKEN" \
    -H 'Content-Type: application/json' -H 'Idempotency-Key: report' -d "{\"title\": \"Report\", \"content\": \"try $try\"}" && exit 0
done
exit 1
