#!/bin/sh
# A vault of notes and files goes up, comes down on a second machine byte for byte, is edited, renamed and attached to on
# both sides, and converges. VAULT: the folder to take; without it a small one is made. WS_BASE_URL and WS_TOKEN: the
# server and the key.
set -eu
fail() {
  echo "$1" >&2
  exit 1
}
contents() { (cd "$1" && find . -path ./.ws -prune -o -type f -print | LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum); }
same() {
  contents here > here.sums
  contents there > there.sums
  cmp -s here.sums there.sums || fail "$1: $(diff here.sums there.sums | head -n 20)"
}
synced() { (cd "$1" && ws sync --allow-deletes > ../out 2>&1) || fail "sync in $1 ended with $?: $(tail -n 20 out)"; }
notes() { (cd "$1" && find . -path ./.ws -prune -o -type f -name '*.md' -print | LC_ALL=C sort); }
pictures() { (cd "$1" && find . -path ./.ws -prune -o -type f \( -name '*.png' -o -name '*.jpg' -o -name '*.gif' -o -name '*.svg' \) -print | LC_ALL=C sort); }
# Of two files with the same bytes that get other names in one folder, nobody can tell which became which.
one_of_each() { while read -r file; do printf '%s %s\n' "$(sha256sum < "there/$file" | cut -c 1-64)" "$file"; done | sort -u -k 1,1 | cut -d ' ' -f 2-; }
nth() { sed -n "$1p"; }

mkdir here there
if [ -n "${VAULT:-}" ]; then
  (cd "$VAULT" && find . -name '.*' ! -name . -prune -o -type f -print | tr '\n' '\0' | xargs -0 cp --parents -t "$OLDPWD/here")
else
  mkdir -p here/img here/deep/er
  for i in 1 2 3 4 5 6 7 8 9; do
    printf 'picture %s' "$i" > "here/img/picture $i.png"
    printf '# Note %s\n\n![shown](<img/picture %s.png>)\n\n[next](deep/note-%s.md)\n\nThe end.\n' "$i" "$i" "$i" > "here/note-$i.md"
    printf '# Deep %s\n\n![[picture %s.png|300]] [up](../note-%s.md#note-%s)\n\nThe end.\n' "$i" "$i" "$i" "$i" > "here/deep/note-$i.md"
  done
  printf '%%PDF' > here/deep/er/b.pdf
fi
cd here
source=$(ws sync init --name vault --attachments all --json --jq .source_id)
cd ../there
ws sync init --source "$source" --attachments all > /dev/null
cd ..

# Up and down. What cannot be synced is named, and taken out here.
synced here
(cd here && ws sync status --json --jq '.skipped[].path' > ../skipped) || true
while read -r path; do rm -f "here/$path"; done < skipped
synced here
synced there
same "after the first sync"
(cd here && ws sync status --exit-code > /dev/null 2>&1) || fail "something is left to sync"
broken=$(cd here && ws links check 2> /dev/null | wc -l)
echo "$(notes here | wc -l) notes, $(pictures here | wc -l) pictures, $(wc -l < skipped) skipped, $broken links lead nowhere"

# Edited: every sixth note here, others there; of the pictures too.
notes here | awk 'NR % 6 == 1' | while read -r note; do printf '\nEdited here.\n' >> "here/$note"; done
notes there | awk 'NR % 6 == 4' | while read -r note; do printf '\nEdited there.\n' >> "there/$note"; done
pictures here | awk 'NR % 7 == 2' | while read -r picture; do printf 'edited here' >> "here/$picture"; done
pictures there | awk 'NR % 7 == 5' | while read -r picture; do printf 'edited there' >> "there/$picture"; done
# Attached: one with the bytes of another.
printf 'a new picture' > 'here/new picture.png'
printf '# New here\n\n![n](<new picture.png>)\n' > here/new-here.md
mkdir there/attached
cp "there/$(pictures there | nth 1)" there/attached/copy.png
printf '# New there\n\n![n](attached/copy.png)\n' > there/new-there.md
# Removed.
rm "here/$(pictures here | nth 4)"
synced there
synced here
synced there
same "after edits on both sides"

# Renamed: here by `ws sync mv`, there by hand with `links: keep`. No link breaks by it.
broken=$(cd here && ws links check 2> /dev/null | wc -l)
folder=$(pictures here | nth 1 | cut -d/ -f2)
printf 'links: keep\n' >> there/.ws/config.yaml
(cd here && ws sync mv "$folder" 'renamed folder' > /dev/null) || fail "mv of $folder"
synced here
synced there
same "after the rename of a folder"
notes there | awk 'NR % 9 == 2' | head -n 30 | while read -r note; do mv "there/$note" "there/${note%.md} renamed.md"; done
pictures there | awk 'NR % 9 == 3' | head -n 30 | one_of_each | while read -r picture; do
  mv "there/$picture" "$(dirname "there/$picture")/renamed $(basename "$picture")"
done
synced there
synced here
synced there
same "after renames there"
after=$(cd here && ws links check 2> /dev/null | wc -l)
test "$after" -le "$broken" || fail "$after links lead nowhere after the renames, $broken before"

# One picture edited on both sides: both are kept.
picture=$(pictures here | nth 3)
printf 'ours' > "here/$picture"
printf 'theirs' > "there/$picture"
synced there
(cd here && ws sync > ../out 2>&1) && fail "two pictures do not collide"
(cd here && ws sync resolve "$picture" --keep both > /dev/null)
synced here
synced there
same "after the conflict"
test "$(cat "there/$picture")" = ours || fail "ours is not there"
(cd there && ws sync status --exit-code > /dev/null 2>&1) || fail "something is left to sync"
(cd here && ws sync --json --jq .clean) | grep -qx true || fail "not in step"
