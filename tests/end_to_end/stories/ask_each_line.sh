#!/bin/sh
# A question a line, eight at a time; an answer a file, under the number of its line.
# WS_BASE_URL and WS_TOKEN: the server and the key.
set -eu
printf 'Who opens the gate?\nWhat is in the soup?\nWhen do we sail?\n' > questions.txt
mkdir answers
cat -n questions.txt | while read -r number question; do
  printf '%s\0%s\0' "$number" "$question"
done | xargs -0 -n 2 -P 8 sh -c 'ws ask "$2" --timeout 60 --json --jq .status > "answers/$1.txt"' ask
test "$(cat answers/1.txt answers/2.txt answers/3.txt | sort -u)" = completed
