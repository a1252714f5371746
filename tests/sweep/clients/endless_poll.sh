#!/bin/sh
# Planted: polls until the word is "passed", which is never so if the run fails or the key is gone.
api() { curl -s -m 5 -H "Authorization: Bearer $WS_TOKEN" -H 'Content-Type: application/json' "$@"; }
id=$(api -X POST "$WS_BASE_URL/v1/admin/tests/runs" -H 'Idempotency-Key: run-of-today' \
  -d '{"selection_kind": "cases", "case_ids": ["tree.no_cycle"]}' | sed -n 's/^{"id":"\([^"]*\)".*/\1/p')
[ -n "$id" ] || exit 1
until api "$WS_BASE_URL/v1/admin/tests/runs/$id" | grep -q '"status":"passed"'; do sleep 1; done
