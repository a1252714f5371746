#!/bin/sh
# Starts the mock, tests against a sandbox of it, verifies what was asked. Needs ws-mock and curl.
set -eu
folder=$(mktemp -d)
ws-mock --ready-file "$folder/ready.json" --exit-with-parent --log off >/dev/null &
mock=$!
trap 'kill "$mock" 2>/dev/null; wait "$mock" 2>/dev/null; rm -rf "$folder"' EXIT
until [ -s "$folder/ready.json" ]; do
  kill -0 "$mock" # it ended: so do we
  sleep 0.01
done
member() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p"; }

control_url=$(member control_url <"$folder/ready.json")
sandbox=$(curl -sSf -X POST "$control_url/sandboxes" | tr ',' '\n')
base_url=$(echo "$sandbox" | member base_url)
token=$(echo "$sandbox" | member token)

# The program under test would be given $base_url and $token; here it is curl.
curl -sSf -X POST "$base_url/v1/documents" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
  -d '{"title": "Tides", "content": "High water at six."}' >/dev/null

curl -sSf -X POST "$base_url/_mock/requests:verify" -H 'Content-Type: application/json' -d '{
  "match": {"operation": "docs.create", "status": 201, "body": {"title": "Tides"}}, "times": 1}' >/dev/null
echo "one document was created, once"
