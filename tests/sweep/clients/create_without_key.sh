#!/bin/sh
# Planted: creates are sent up to three times, without an Idempotency-Key.
for title in one two; do
  for try in 1 2 3; do
    curl -sf -m 5 -o /dev/null -X POST "$WS_BASE_URL/v1/documents" -H "Authorization: Bearer $WS_TOKEN" \
      -H 'Content-Type: application/json' -d "{\"title\": \"$title\", \"content\": \"text\"}" && continue 2
  done
  exit 1
done
