#!/bin/sh
# Two people and a week: Mara has a laptop and a desk, Tomás joins her folder. Who signs, who undoes, how one comes back.
# URL: the server. Each machine has a home of its own.
set -eu
key_of() { # of a person, as the one who runs the service gives it out
  curl -sS -H 'Content-Type: application/json' "$URL/_mock/keys" -d "{\"person\": \"$1\", \"scopes\": [\"sync:read\", \"sync:write\", \
\"documents:read\", \"documents:write\", \"assets:read\", \"assets:write\", \"comments:read\", \"workspaces:write\"]}" |
    sed 's/.*"secret": *"\([^"]*\)".*/\1/'
}
machine() { # its home, and a key of its person
  mkdir -p "$top/$1"
  at "$1"
  key_of "$2" | ws login --with-token --store file --base-url "$URL" > /dev/null
}
at() { export HOME="$top/$1" XDG_CONFIG_HOME="$top/$1/c" XDG_DATA_HOME="$top/$1/d" XDG_STATE_HOME="$top/$1/s"; cd "$HOME"; }
top=$PWD
machine laptop mara@example.com
machine desk mara@example.com
machine tomas tomas@example.com

# Monday: Mara begins on the laptop, sees what will be sent, and shares it.
at laptop
mkdir -p trip/pictures
printf '# Plan\n\n- rope\n- lamp\n\n![Map](pictures/map.png)\n' > trip/plan.md
printf '# Diary\n' > trip/diary.md
head -c 3000 /dev/urandom > trip/pictures/map.png
ws sync init trip --shared --format table > said
grep -q '2 notes and 1 attachment' said
grep -q 'everybody in the Workspace can see' said
ws sync trip
source=$(ws -C trip sync status --json --jq .source_id)
at desk
ws sync init trip --yes --source "$source" --base-url "$URL" > /dev/null
ws sync trip
cmp trip/pictures/map.png ../laptop/trip/pictures/map.png

# Tuesday: Tomás joins with the line that Mara was shown; his first sync is one command.
at tomas
ws sync init trip --yes --source "$source" --base-url "$URL" > /dev/null
ws sync trip
cmp trip/plan.md ../laptop/trip/plan.md
ws -C trip sync account | grep -q 'Tom'

# Wednesday: both edit the list; nobody loses a line, and each line is signed by who wrote it.
printf '# Plan\n\n- rope\n- lamp\n- tent\n\n![Map](pictures/map.png)\n' > trip/plan.md
ws sync trip
at laptop
printf '# Plan\n\n- rope, 30 m\n- lamp\n\n![Map](pictures/map.png)\n' > trip/plan.md
ws sync trip
grep -q 'rope, 30 m' trip/plan.md
grep -q tent trip/plan.md
cd trip
ws sync blame plan.md | grep tent | grep -q 'Tom'
cd ..

# Thursday: Tomás borrows the laptop. His key is in use there now, and Mara's folder stays Mara's.
key_of tomas@example.com | ws login --with-token --store file --profile tomas --base-url "$URL" > /dev/null
printf '# Diary\n\nRain.\n' > trip/diary.md
ws sync trip
test "$(ws docs get trip/diary.md --template '{updated_by.name}')" = 'Mara Lindqvist'
status=0
ws sync trip --profile tomas 2> refused || status=$?
test "$status" = 2
grep -q "this folder is Mara Lindqvist's" refused

# Friday: the same line on both machines; it is a conflict, and Mara decides.
at desk
ws sync trip
printf '# Diary\n\nSnow.\n' > trip/diary.md
ws sync trip
at laptop
printf '# Diary\n\nSun.\n' > trip/diary.md
status=0
ws sync trip || status=$?
test "$status" = 7
ws -C trip sync resolve diary.md --keep remote
grep -q Snow trip/diary.md

# Saturday: everything is deleted by mistake. The run stops, and one command brings it back.
rm -r trip/plan.md trip/diary.md trip/pictures
status=0
ws sync trip 2> stopped || status=$?
test "$status" = 7
grep -q 'restore --deleted' stopped
ws -C trip sync restore --deleted
ws sync trip
cmp trip/pictures/map.png ../desk/trip/pictures/map.png

# Sunday: Tomás tidies up too much; Mara takes his run's effect back on both sides.
at tomas
ws sync trip
printf '# Plan\n' > trip/plan.md
ws sync trip
ws -C trip sync undo
at laptop
ws sync trip
grep -q 'rope, 30 m' trip/plan.md
ws -C trip sync status --exit-code > /dev/null
