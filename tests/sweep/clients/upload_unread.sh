#!/bin/sh
# Planted: the upload is finalized without a look at what the service kept.
api() { curl -sf -m 5 -H "Authorization: Bearer $WS_TOKEN" -H 'Content-Type: application/json' "$@"; }
field() { python3 -c 'import json,sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1" 2>/dev/null; }
begun=$(api -X POST "$WS_BASE_URL/v1/files/uploads" -d '{"file_name": "a.txt", "size_bytes": 11}') || exit 1
id=$(printf %s "$begun" | field upload_id) && name=$(printf %s "$begun" | field blob_name) || exit 1
printf 'hello world' >"$TMPDIR/a.txt"
curl -sf -m 5 -o /dev/null -H 'Content-Type: application/octet-stream' -T "$TMPDIR/a.txt" "$(printf %s "$begun" | field upload_url)" || exit 1
api -o /dev/null -X POST "$WS_BASE_URL/v1/files/uploads:finalize" \
  -d "{\"upload_id\": \"$id\", \"blob_name\": \"$name\", \"file_name\": \"a.txt\", \"size_bytes\": 11}" || exit 1
