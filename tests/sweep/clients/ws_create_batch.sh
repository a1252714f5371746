#!/bin/sh
set -eu
for title in Tides Lamps Wind; do
  ws docs create "$title" -F content="About $title." --idempotency-key stable >/dev/null
done
