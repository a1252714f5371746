#!/bin/sh
# ws, with a key that is made of the request, so that a second run asks for the same creation. It repeats by itself.
set -eu
title=$(ws docs get "$1" --template '{title}')
id=$(ws docs create "$title, week 48" -F content='All is well.' --idempotency-key stable --format ids)
echo "created $id"
