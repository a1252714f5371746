#!/usr/bin/env bash
# The merge beside `git merge-file` on the same cases: how many come out clean, as a conflict, clean and wrong.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake --preset dev >/dev/null
cmake --build --preset dev --target merge_corpus >/dev/null
build/dev/bin/merge_corpus
