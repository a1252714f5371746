#!/usr/bin/env bash
# Plants one bug after another in a copy of the tree and looks whether the tests go red. `tests/faults/mutants.sh [NAME...]`
#
# A mutant is tests/faults/mutants/NAME.patch. Its first lines say what the bug is and which tests must see it:
#   Bug: the texts of a batch are not flushed before their renames
#   Test: faults_test [power]
# WS_MUTANTS_TREE: the folder of the copy, kept for the next time (a build takes minutes, one mutant seconds).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD
tree=${WS_MUTANTS_TREE:-$(mktemp -d)}
names=("$@")
[ "${#names[@]}" -gt 0 ] || mapfile -t names < <(cd tests/faults/mutants && ls ./*.patch | sed 's|^\./||; s|\.patch$||')

mkdir -p "$tree"
# By content, with the time of the copy: a file that is older than what was built of it would not be built again.
git ls-files -z | rsync -rlpc --from0 --files-from=- . "$tree/"
cd "$tree"
export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$tree
[ -f build/dev/build.ninja ] || cmake --preset dev >/dev/null

# The first check that failed, and the scenario where there is one.
seen_at() {
  { grep -m 1 -oE '[a-z_]+\.cpp:[0-9]+: failed' test.log || tail -n 1 test.log; } | sed 's/: failed//'
  grep -m 1 -oE '(^|[^a-z.])name := "[^"]*"' test.log | grep -oE '"[^"]*"' || true
}

caught=0
survived=()
for name in "${names[@]}"; do
  patch=$here/tests/faults/mutants/$name.patch
  read -r _ target filter < <(grep '^Test: ' "$patch")
  if ! patch -s -p1 --no-backup-if-mismatch <"$patch"; then
    survived+=("$name (does not fit the sources any more)")
    continue
  fi
  if ! ninja -C build/dev ws ws-mock "$target" >build.log 2>&1; then
    tail -n 20 build.log
    survived+=("$name (does not compile)")
  elif build/dev/bin/"$target" "$filter" --abort --reporter compact >test.log 2>&1; then
    survived+=("$name")
  else
    caught=$((caught + 1))
    echo "$name: caught by $target $filter: $(seen_at)"
  fi
  patch -s -p1 -R --no-backup-if-mismatch <"$patch"
done
[ "${#survived[@]}" -eq 0 ] || printf 'SURVIVED: %s\n' "${survived[@]}"
echo "$caught caught, ${#survived[@]} survived"
[ "${#survived[@]}" -eq 0 ]
