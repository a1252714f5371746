#!/bin/sh
# Links of a folder of notes: checked, kept through renames by `ws sync mv` and by hand, and taken back.
# WS_BASE_URL and WS_TOKEN: the server and the key.
set -eu
fail() {
  echo "$1" >&2
  exit 1
}
mkdir vault vault/img vault/deep
cd vault
printf 'x' > img/a.png
printf '# Index\n\n[one](one.md#part) ![a](img/a.png) [[one|shown]] ![[a.png|300]]\n\n`[one](one.md)`\n' > index.md
printf '# One\n\n## Part\n\n[back](index.md)\n' > one.md
printf '[up](../one.md "t") [no](../onee.md) [nopart](../one.md#prt)\n' > deep/two.md
ws sync init >/dev/null
ws sync >/dev/null 2>&1 || fail "the first sync failed"

# What leads nowhere, with its place and the nearest name.
ws links check > ../broken && fail "broken links end with 1"
grep -q '^deep/two.md:1:26: `../onee.md` does not exist; the nearest name is `../one.md`$' ../broken || fail "$(cat ../broken)"
grep -q '^deep/two.md:1:47: `../one.md#prt` names a heading that does not exist; the nearest name is `#part`$' ../broken || fail "$(cat ../broken)"
test "$(wc -l < ../broken)" = 2
ws links check --format quickfix > ../quickfix && fail "exit 1"
cmp -s ../broken ../quickfix
# As VS Code takes the lines apart with the task in the documents.
python3 - "$RECIPES/../docs/notes.md" ../quickfix > ../problems <<'END'
import json, re, sys
tasks = json.loads(re.search(r"\n```json\n(.*?)\n```\n", open(sys.argv[1]).read(), re.S).group(1))
pattern = tasks["tasks"][0]["problemMatcher"]["pattern"]
for line in open(sys.argv[2]):
    found = re.search(pattern["regexp"], line.rstrip("\n"))
    print(*(found.group(pattern[name]) for name in ("file", "line", "column", "message")), sep="|")
END
grep -qx 'deep/two.md|1|26|`../onee.md` does not exist; the nearest name is `../one.md`' ../problems || fail "$(cat ../problems)"
test "$(wc -l < ../problems)" = 2
(cd deep && ws links check --format quickfix .) | grep -q '^two.md:1:26:' || fail "an editor in a folder does not find the note"
test "$(ws links check --json --jq '.data[0].line' || true)" = 1
ws links check deep/two.md > ../note && fail "exit 1"
cmp -s ../broken ../note || fail "one note: $(cat ../note)"
ws links check index.md 2>/dev/null || fail "a note without broken links"
(cd deep && ws links check --format quickfix two.md) | grep -q '^two.md:1:26:' || fail "one note, in its folder"
ws links check img/a.png 2> ../refused && fail "a picture has no links"
grep -q 'img/a.png is not a synced note' ../refused || fail "$(cat ../refused)"
ws links check none.md 2> ../refused && fail "there is no such note"
grep -q 'there is no file or folder .*none.md' ../refused || fail "$(cat ../refused)"
ws links check deep > ../below && fail "exit 1"
ln -s vault/deep ../linked # another name of the same notes
ws links check ../linked > ../below_link && fail "broken links behind a linked folder"
cmp -s ../below ../below_link || fail "$(cat ../below_link)"
ws sync status --offline 2>&1 | grep -q '2 links are broken' || fail "status does not count them"
ws sync status --offline --json --jq .broken_links | grep -qx 2 || fail "status --json does not count them"

# What exists and is not synced is not called missing.
mkdir odd
printf '[l](linked.md) [i](ignored.txt) [h](.hidden.md) [p](pipe)\n' > odd/odd.md
ln -s ../one.md odd/linked.md
printf 'ignored.txt\n' > .wsignore
touch odd/ignored.txt odd/.hidden.md
mkfifo odd/pipe
ws links check odd > ../odd && fail "exit 1"
grep -q '`linked.md` is a symbolic link, which ws does not follow$' ../odd || fail "$(cat ../odd)"
grep -q ignored.txt ../odd && fail "$(cat ../odd)"
grep -q '`pipe` exists, but is not synced$' ../odd || fail "$(cat ../odd)"
grep -q '`.hidden.md` leads to a place that is not synced' ../odd || fail "$(cat ../odd)"
rm -r odd .wsignore

# A rename shows its edits, then makes them, and nothing else changes.
cp index.md ../index.before
cp deep/two.md ../two.before
ws sync mv one.md 'deep/one note.md' -n | grep -q 'deep/one%20note.md#part' || fail "-n shows no diff"
test -e one.md || fail "-n renamed it"
ws sync mv one.md 'deep/one note.md' >/dev/null
test "$(cat index.md)" = "$(sed 's,(one.md#part),(deep/one%20note.md#part),; s,\[\[one|,[[one note|,' ../index.before)" || fail "$(cat index.md)"
test "$(cat deep/two.md)" = "$(sed 's,(../one.md,(one%20note.md,g' ../two.before)" || fail "$(cat deep/two.md)"
grep -q '(../index.md)' 'deep/one note.md' || fail "its own links do not follow"

# There and back are the same bytes; so is an undo.
ws sync mv 'deep/one note.md' one.md >/dev/null
cmp index.md ../index.before && cmp deep/two.md ../two.before || fail "not the same bytes"
ws sync mv img pictures >/dev/null
grep -q 'pictures/a.png' index.md && grep -q '!\[\[a.png|300\]\]' index.md || fail "the folder's links"
test -e pictures/a.png && test ! -e img || fail "the folder"
ws sync undo >/dev/null 2>&1 || true
cmp index.md ../index.before || fail "the undo of the links"
test -e img/a.png || fail "the undo of the folder"
ws sync >/dev/null 2>&1 || fail "nothing is left to sync"

# A rename by hand is told of with the command that mends it.
mv one.md eins.md
ws sync 2>&1 | grep -q 'break 4 links: `ws links fix`' || fail "the run does not tell"
ws links fix --yes >/dev/null
grep -q '(eins.md#part)' index.md && grep -q '\[\[eins|' index.md && grep -q '(../eins.md "t")' deep/two.md || fail "fix"
ws sync >/dev/null 2>&1
cmp -s index.md ../index.before && fail "they are edits"

# `links: keep` mends at once, before the push.
printf 'links: keep\n' >> .ws/config.yaml
mv eins.md one.md
ws sync --json 2>/dev/null | grep -q '"links_mended": *[1-9]' || fail "keep tells nothing"
cmp index.md ../index.before && cmp deep/two.md ../two.before || fail "keep"
ws sync status --json --jq .clean | grep -qx true || fail "something is left"
# What an explicit rename explains.
sed 's,one.md,gone.md,' ../two.before > deep/two.md
ws links fix --rename gone.md=one.md --yes >/dev/null
cmp deep/two.md ../two.before || fail "--rename"
# A damaged index is made anew.
printf 'rubbish' > .ws/links.cache
ws links check > ../again || true
cmp ../broken ../again || fail "a damaged index"
