#!/bin/sh
# Starts the mock, tests against a sandbox of it, verifies what was asked. Needs ws-mock and curl.
set -eu
exports=$(ws-mock start --name "notes-$$")
trap 'ws-mock stop --name "notes-$$"' EXIT
eval "$exports"
member() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p"; }

sandbox=$(curl -sSf -X POST "$WS_MOCK_CONTROL/sandboxes" | tr ',' '\n')
base_url=$(echo "$sandbox" | member base_url)
token=$(echo "$sandbox" | member token)

# The program under test would be given $base_url and $token; here it is curl.
curl -sSf -X POST "$base_url/v1/documents" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
  -d '{"title": "Tides", "content": "High water at six."}' >/dev/null

curl -sSf -X POST "$base_url/_mock/requests:verify" -H 'Content-Type: application/json' -d '{
  "match": {"operation": "docs.create", "status": 201, "body": {"title": "Tides"}}, "times": 1}' >/dev/null
echo "one document was created, once"
