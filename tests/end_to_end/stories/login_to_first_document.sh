#!/bin/sh
# A new user: log in, make a document from a file, read it back by its title, and sync a folder of notes.
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
ws logout
