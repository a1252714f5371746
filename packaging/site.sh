#!/usr/bin/env bash
# usage: site.sh BIN OUT      a web site of README.md, docs/ and the man pages: static files, no script, by pandoc
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/.." && pwd)
bin=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
find "$out" -mindepth 1 -delete
cp "$here/site/style.css" "$out/style.css"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/documents.py" man "$bin" "$work/man"

# page FORMAT FILE TARGET [TITLE]: links to .md files become links to pages. A man page has no heading above its sections.
page() {
  local from=$1 file=$2 target=$3 up title heading=()
  [ "$from" != man ] || heading=(--shift-heading-level-by=1 -V heading="$4")
  mkdir -p "$(dirname "$out/$target")"
  up=$(printf '%s' "$target" | sed 's|[^/]*$||; s|[^/]*/|../|g')
  title=${4:-$(sed -n 's/^# //p' "$file" | head -n 1)}
  pandoc -f "$from" -t html5 --template "$here/site/page.html" -V up="$up" --metadata title="$title" "${heading[@]}" \
    --lua-filter "$here/site/links.lua" -o "$out/$target" "$file"
}
page gfm "$source/README.md" index.html ws
cd "$source"
for file in docs/*.md docs/reference/*.md CHANGELOG.md CONTRIBUTING.md SECURITY.md ARCHITECTURE.md recipes/README.md recipes/retries/README.md; do
  page gfm "$file" "${file%.md}.html"
done
for file in "$work"/man/*; do
  name=$(basename "$file")
  page man "$file" "man/$name.html" "${name%.*}(${name##*.})"
done
{
  printf '# Man pages\n\n'
  for file in "$work"/man/*; do printf -- '- [%s](%s)\n' "$(basename "$file")" "$(basename "$file").html"; done
} >"$work/index.md"
page gfm "$work/index.md" man/index.html
cp LICENSE THIRD_PARTY "$out/"
cp docs/reference/*.json "$out/docs/reference/"
[ ! -f docs/session.svg ] || cp docs/session.svg "$out/docs/"
mv "$out/docs/README.html" "$out/docs/index.html"
mv "$out/docs/reference/README.html" "$out/docs/reference/index.html"
mv "$out/recipes/README.html" "$out/recipes/index.html"
mv "$out/recipes/retries/README.html" "$out/recipes/retries/index.html"

# Every link of ours leads somewhere.
python3 - "$out" <<'PY'
import re, sys
from pathlib import Path
out, broken = Path(sys.argv[1]), []
for page in out.rglob("*.html"):
    for link in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', page.read_text()):
        if not (page.parent / link).exists():
            broken.append(f"{page.relative_to(out)}: {link}")
print("\n".join(sorted(broken)))
sys.exit(bool(broken))
PY
