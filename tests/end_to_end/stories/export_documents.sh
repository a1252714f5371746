#!/bin/sh
# Somebody who leaves: every document as a Markdown file, with a list of the titles.
# WS_BASE_URL and WS_TOKEN: the server and the key.
set -eu
mkdir export
ws docs list --all --template '{id}\t{title}' > export/titles.tsv
ws docs list --all --format ids | while read -r id; do
  ws docs get "$id" --content -o "export/$id.md"
done
test "$(wc -l < export/titles.tsv)" -eq "$(ls export/*.md | wc -l)"
test "$(wc -l < export/titles.tsv)" -gt 0
