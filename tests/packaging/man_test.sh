#!/usr/bin/env bash
# usage: man_test.sh BIN: man pages are made of the programs without a warning, and hold every command and flag.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$source/packaging/documents.py" man "$1" "$work/man"
if command -v groff >/dev/null; then
  said=$(groff -man -ww -Kutf8 -Tutf8 -z "$work"/man/* 2>&1) || true
  [ -z "$said" ] || { echo "$said" >&2; exit 1; }
fi
for page in ws.1 ws-sync.1 ws-docs.1 ws-mock.1 ws-config.5 ws-fixtures.5; do
  [ -s "$work/man/$page" ] || { echo "$page is missing" >&2; exit 1; }
done
# What the help names is in the pages; these hold it as roff writes it.
python3 - "$1" "$work/man" <<'PY'
import json, re, subprocess, sys
from pathlib import Path
told = json.loads(subprocess.run([sys.argv[1] + "/ws", "__reference"], check=True, capture_output=True, text=True).stdout)
missing = []
for command in told["commands"]:
    noun = command["command"].split()[0]
    if noun == "mock":
        continue
    page = (Path(sys.argv[2]) / f"ws-{noun}.1").read_text().replace("\\-", "-")
    missing += [f"{noun}: {name}" for name in [command["usage"]] + [flag["name"] for flag in command["flags"] if flag["name"]] if name.replace("\\", "\\e").replace("'", "\\(aq") not in page]
for flag in set(re.findall(r"--[a-z-]+", subprocess.run([sys.argv[1] + "/ws-mock", "--help"], capture_output=True, text=True).stdout)) - {"--help"}:
    if flag not in (Path(sys.argv[2]) / "ws-mock.1").read_text().replace("\\-", "-"):
        missing.append(f"ws-mock: {flag}")
print("\n".join(missing))
sys.exit(bool(missing))
PY
