#!/bin/sh
# curl --retry: after 408, 429, 500, 502, 503 and 504, whatever the method.
call() {
  curl --silent --show-error --fail --retry 3 --header "Authorization: Bearer $WS_TOKEN" \
    --header 'Content-Type: application/json' "$@"
}
member() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1" 2>/dev/null; }
documents=$WS_BASE_URL/v1/documents
template=$(call "$documents/$1") && title=$(printf %s "$template" | member title) || {
  echo 'the template was not read' >&2
  exit 1
}
made=$(call --data "{\"title\": \"$title, week 48\", \"content\": \"All is well.\"}" "$documents") &&
  id=$(printf %s "$made" | member id) || {
  echo 'not created, or the answer cannot be read' >&2
  exit 1
}
echo "created $id"
