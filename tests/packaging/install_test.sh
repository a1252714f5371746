#!/usr/bin/env bash
# usage: install_test.sh BIN: install.sh installs from a folder like the tarball's, and takes back exactly that.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tar/bin" "$work/tar/share/systemd/user" "$work/home/.local/bin"
ln "$1/ws" "$1/ws-mock" "$work/tar/bin/" 2>/dev/null || cp "$1/ws" "$1/ws-mock" "$work/tar/bin/"
cp "$source"/packaging/systemd/* "$work/tar/share/systemd/user/"
cp "$source/packaging/install.sh" "$work/tar/"
uname -m >"$work/tar/ARCH"
echo mine >"$work/home/.local/bin/other"
export HOME=$work/home
install="sh $work/tar/install.sh"
$install >"$work/told" # not into `grep -q`: it ends before the writer has
grep -q '^installed ws ' "$work/told"
"$HOME/.local/bin/ws-mock" exec -- "$HOME/.local/bin/ws" whoami >/dev/null
grep -q "ExecStart=$HOME/.local/bin/ws sync watch %f" "$HOME/.local/share/systemd/user/ws-sync@.service"
$install >/dev/null # again: an update
$install --uninstall >/dev/null
[ "$(cd "$HOME" && find . -type f | sort)" = ./.local/bin/other ] || { find "$HOME" >&2; exit 1; }
if $install --uninstall 2>/dev/null; then exit 1; fi
if $install --nonsense 2>/dev/null; then exit 1; fi
! command -v systemd-analyze >/dev/null || # what it says of units that it cannot find programs for is not ours
  ! systemd-analyze verify --user --man=no "$work"/tar/share/systemd/user/*.service 2>&1 | grep -E 'Unknown|Failed to parse|Invalid|ignoring' >&2
