#!/bin/sh
# Searches the Workspace for a word and writes the hits to $OUT_DIR/report.md.

set -eu
: "${WS_BASE_URL:?}" "${WS_TOKEN:?}"
base=${WS_BASE_URL%/} out=${OUT_DIR:-out} word=${1:-turbine}
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
mkdir -p "$out"

# ws PATH JSON [KEY]: one POST, the answer on stdout, fails on any refusal
ws() {
  printf 'header = "Authorization: Bearer %s"\n' "$WS_TOKEN" |
    curl -fsS -m 5 -K - -H 'Content-Type: application/json' ${3:+-H "Idempotency-Key: $3"} --data-binary "$2" "$base$1"
}

for n in 1 2 3; do
  new=$(jq -nc --arg w "$word" --arg n "$n" '{title: "Survey \($n)", content: "# Survey \($n)\n\nThe \($w) was inspected."}')
  key=survey-$(printf '%s' "$new" | sha256sum | cut -c1-40)
  ws /v1/documents "$new" "$key" >"$tmp/new"
  jq -er .id "$tmp/new" >/dev/null
done

printf '# Where "%s" is mentioned\n\n' "$word" >"$tmp/report"
cursor=''
while :; do
  query=$(jq -nc --arg q "$word" --arg c "$cursor" '{query: $q, limit: 2} + if $c == "" then {} else {cursor: $c} end')
  ws /v1/search "$query" | tee "$tmp/page" | jq -r '.data[] | "- \(.title // "untitled") (\(.document_id // "-"))"' >>"$tmp/report"
  cursor=$(jq -r '.next_cursor // empty' "$tmp/page")
  [ -n "$cursor" ] || break
done
mv "$tmp/report" "$out/report.md"
echo "wrote $(grep -c '^- ' "$out/report.md" || true) hits to $out/report.md"
