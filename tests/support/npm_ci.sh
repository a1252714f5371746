#!/usr/bin/env bash
# Installs the npm packages of a test folder, once: again only when its lock file has changed.
set -euo pipefail
cd "$1"
stamp=node_modules/.installed
cmp -s package-lock.json "$stamp" && exit 0
npm ci --no-audit --no-fund --loglevel=error
cp package-lock.json "$stamp"
