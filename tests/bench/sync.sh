#!/usr/bin/env bash
# Sync: a tree of FILES Markdown files of 2-8 KB (default 10000) in folders of 100. The no-op status beside git's own, the
# first push and pull beside rsync.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
files=${FILES:-10000}

python3 - "$work/tree" "$files" <<'PY'
import os, random, sys
root, count = sys.argv[1], int(sys.argv[2])
random.seed(1)
words = "note plan meeting garden river stone letter archive branch signal window paper engine market".split()
for i in range(count):
    folder = os.path.join(root, "folder-%04d" % (i // 100))
    os.makedirs(folder, exist_ok=True)
    size, text = random.randint(2000, 8000), "# Note %d\n\n" % i
    while len(text) < size:
        text += " ".join(random.choices(words, k=12)) + "\n"
    with open(os.path.join(folder, "note-%05d.md" % i), "w") as f:
        f.write(text)
PY

start_mock
export WS_TOKEN=$token WS_BASE_URL=$base_url
cd "$work/tree"
git init -q . && git add -A && git -c user.name=x -c user.email=x commit -qm x
ws sync init --name bench >/dev/null
seconds() { local begin end; begin=$(date +%s%N); "$@" >/dev/null 2>&1; end=$(date +%s%N); awk -v n=$((end - begin)) 'BEGIN { printf "%.2f", n / 1e9 }'; }
push=$(seconds ws sync)
awk -v t="$push" -v n="$files" 'BEGIN { printf "  first push of %d files              %.2f s, %.0f documents/s\n", n, t, n / t }'
source=$(ws sync status --json 2>/dev/null | member source_id)
mkdir "$work/second" && cd "$work/second"
ws sync init --source "$source" >/dev/null
pull=$(seconds ws sync)
copy=$(seconds bash -c "rsync -a --exclude=.ws --exclude=.git '$work/tree/' '$work/third/' && sync -f '$work/third'" || echo 0)
awk -v t="$pull" -v c="$copy" -v n="$files" 'BEGIN { printf "  first pull of %d files              %.2f s; rsync -a and sync -f %.2f s; ours is %.2f x\n", n, t, c, (c > 0 ? t / c : 0) }'
cd "$work/tree"
echo .ws >.git/info/exclude
git status >/dev/null
medians "ws_sync_status_--offline=ws sync status --offline" "git_status=git status"
/usr/bin/time -o "$work/peak" -f '  peak memory of the no-op status       %M KB' ws sync status --offline >/dev/null 2>&1
cat "$work/peak"
