#!/bin/sh
# Somebody who leaves: every document as a Markdown file, and what changed since then once more.
# WS_BASE_URL and WS_TOKEN: the server and the key.
set -eu
ws docs export backup
test "$(ls backup/*.md | wc -l)" -eq "$(ws docs list --all --format ids | wc -l)"
ws docs get Knots --content | cmp - backup/Knots.md

# Later: one is new, one was changed, one has another title, one was archived, and one file was edited here.
ws docs create Farewell -F content='# Farewell' > /dev/null
ws docs update Knots -F content='# Knots' --revision 1 > /dev/null
ws docs update 'Crew list' --title Crew --revision 1 > /dev/null
ws docs archive 'Crossing plan' > /dev/null
echo mine > 'backup/Start here.md'
ws docs export backup --json --jq '.data[] | select(.state != "unchanged") | .state + " " + .file' | sort > again
sort > expected << END
created Farewell.md
unlisted Crossing plan.md
kept Start here.md
updated Crew.md
updated Knots.md
END
diff expected again
test ! -e 'backup/Crew list.md'
test "$(cat 'backup/Start here.md')" = mine
ws docs export backup --delete > /dev/null
test ! -e 'backup/Crossing plan.md'

# Some of them alone.
ws search tides --format ids | ws docs get --stdin -o tides
ls tides/*.md > /dev/null
