#!/bin/sh
# Publishes a note: `ws-mock sweep -- recipes/sweep/publish_notes.sh` finds nothing to complain of.
#
# The key is made of what is created: a second try, and a second run, find the first one's document. curl repeats
# after 5xx and 429 alone, as long as Retry-After says, and what came back is read before it is believed.
set -eu
title='Release notes'
key=publish-$(printf %s "$title" | cksum | cut -d ' ' -f 1)
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
curl --silent --show-error --fail --max-time 15 --retry 3 --output "$answer" \
  --header "Authorization: Bearer $WS_TOKEN" --header 'Content-Type: application/json' \
  --header "Idempotency-Key: $key" --data "{\"title\": \"$title\", \"content\": \"All is well.\"}" \
  "$WS_BASE_URL/v1/documents"
python3 -c 'import json, sys; print("published as", json.load(open(sys.argv[1]))["id"])' "$answer" 2>/dev/null || {
  echo 'the answer cannot be read: run this again' >&2
  exit 1
}
