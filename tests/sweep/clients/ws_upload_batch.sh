#!/bin/sh
for name in one two three; do
  [ -e "$TMPDIR/$name.txt" ] || printf 'the %s\n' "$name" >"$TMPDIR/$name.txt"
done
exec ws files upload "$TMPDIR/one.txt" "$TMPDIR/two.txt" "$TMPDIR/three.txt" --jobs 3
