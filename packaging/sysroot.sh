#!/usr/bin/env bash
# usage: sysroot.sh ARCH OUT PACKAGE...
#
# Unpacks Debian 12's packages of another processor, and what they depend on, into the folder OUT: what a cross compiler
# links with and an emulator loads. Apt works on lists of its own, so this system's packages and processors stay as they
# are, and no root is needed. OUT is left alone where it holds these packages already.
set -euo pipefail
arch=$1 out=$2
shift 2
[ "$(cat "$out/PACKAGES" 2>/dev/null)" != "$*" ] || exit 0
rm -rf "$out"
mkdir -p "$out/apt/lists/partial" "$out/apt/archives/partial"
out=$(cd "$out" && pwd)
: >"$out/apt/status"
# From where this machine has its own packages.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >"$out/apt/sources.list"
apt=(apt-get -qq -o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" -o "Dir::State=$out/apt" -o "Dir::State::lists=$out/apt/lists"
  -o "Dir::State::status=$out/apt/status" -o "Dir::Cache=$out/apt" -o "Dir::Etc::sourcelist=$out/apt/sources.list"
  -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o APT::Sandbox::User= -o Debug::NoLocking=1)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends --download-only "$@" >/dev/null
for package in "$out"/apt/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$out" --keep-directory-symlink
done
rm -rf "$out/apt"
printf '%s' "$*" >"$out/PACKAGES"
