#!/bin/sh
# ws, with a key that is made of the request, so that a second run asks for the same creation. It repeats by itself.
set -eu
title=$(ws docs get --template '{title}' -- "$1")
id=$(ws docs create -F content='All is well.' --idempotency-key stable --format ids -- "$title, week 48")
echo "created $id"
