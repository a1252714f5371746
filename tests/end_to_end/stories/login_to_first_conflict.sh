#!/bin/sh
# A new user: log in, make a document from a file, read it back by its title, sync a folder of notes, settle a conflict.
# URL: the server.
set -eu
ws login --base-url "$URL" --store file
ws whoami
printf '# Tidal gate\n\nIt opens at dusk.\n' > gate.md
ws docs create -f gate.md
ws docs list
ws docs get 'Tidal gate' --content > copy.md
cmp gate.md copy.md
mkdir notes
printf '# Plan\n' > notes/plan.md
ws sync init notes
ws sync notes
ws docs get notes/plan.md --content | cmp - notes/plan.md

# The same line is edited here and on the service: nothing is overwritten, and the person decides.
printf '# Plan\n\nLeave at six.\n' > notes/plan.md
ws sync notes
printf '# Plan\n\nLeave at nine.\n' > theirs.md
ws docs update notes/plan.md -f theirs.md --revision "$(ws docs get notes/plan.md --template '{content_revision}')"
printf '# Plan\n\nLeave at seven.\n' > notes/plan.md
status=0
ws sync notes || status=$?
test "$status" = 7
grep -q seven notes/plan.md
cd notes
test "$(ws sync conflicts | wc -l)" -eq 1
ws sync resolve plan.md --keep remote
ws sync
grep -q nine plan.md
test -z "$(ws sync conflicts)"

# A slip is taken back; the text that lost is in the history.
rm plan.md
ws sync
ws sync undo
grep -q nine plan.md
ws sync log plan.md | grep -q .
ws logout
