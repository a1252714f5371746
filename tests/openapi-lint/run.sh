#!/usr/bin/env bash
# Lints the OpenAPI document in FILE with a linter from npm. Exit 77 where there is no npm: ctest takes it for "skipped".
# usage: tests/openapi-lint/run.sh FILE
set -euo pipefail
file=$(realpath -- "$1")
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
command -v npm >/dev/null || { echo "npm is not installed: not linted" >&2; exit 77; }

# Two test runs at once share one node_modules: one of them installs.
(
  flock 9
  if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm ci --silent >&2
  fi
) 9>.install.lock
exec node lint.mjs "$file"
