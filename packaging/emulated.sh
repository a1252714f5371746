#!/usr/bin/env bash
# usage: emulated.sh DIST SYSROOT MACHINE     (MACHINE is the kernel's name of the processor: aarch64)
#
# The tarball and the image of another processor, run by qemu on this one: start, hardening, the demo, the first hours of
# people as tests/end_to_end/stories tell them, the health check of the image.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dist=$(cd "$1" && pwd) sysroot=$(cd "$2" && pwd) machine=$3
work=$(mktemp -d)
server=
stop() {
  [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
step() { printf '\033[1m--> %s\033[0m\n' "$*"; }
fail() { printf 'emulated: %s\n' "$*" >&2; exit 1; }

mkdir -p "$work/tar" "$work/bin" "$work/oci" "$work/image" "$work/home"
tar -xzf "$dist"/ws-*-linux-"$machine".tar.gz -C "$work/tar" --strip-components=1
# A program that another one starts is started by the kernel, which knows this processor alone: a script in its place.
for program in ws ws-mock; do
  printf '#!/bin/sh\nexec qemu-%s -L %s %s "$@"\n' "$machine" "$sysroot" "$work/tar/bin/$program" >"$work/bin/$program"
  chmod +x "$work/bin/$program"
done
export PATH=$work/bin:$PATH HOME=$work/home NO_COLOR=1

step 'the programs start, need glibc 2.34 alone, and are hardened'
ws --version | head -n 1
ws-mock --version | head -n 1
ws-mock exec -- ws whoami >/dev/null
python3 "$source/packaging/portable.py" "$work"/tar/bin/*
python3 "$source/tests/packaging/hardening_test.py" --run-by "qemu-$machine -L $sysroot" "$work"/tar/bin/*

step 'the demo'
WS_BIN_DIR=$work/bin "$source/tests/demo/demo.sh" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail 'the demo fails'; }

step 'the first hours of people'
"$source/tests/end_to_end/stories/all.sh" || fail 'a story fails'

step 'the image'
tar -xf "$dist"/ws-mock-*-"$machine".oci.tar -C "$work/oci"
layer=$(python3 -c 'import json, sys; print("blobs/" + json.load(open(sys.argv[1]))[0]["Layers"][0].removeprefix("blobs/"))' "$work/oci/manifest.json")
tar -xzf "$work/oci/$layer" -C "$work/image"
"qemu-$machine" "$work/image/ws-mock" --listen 127.0.0.1:0 --ready-file "$work/ready.json" --no-control --log off >"$work/url" &
server=$!
for _ in $(seq 200); do [ -s "$work/ready.json" ] && break; sleep 0.05; done
"qemu-$machine" "$work/image/ws-mock" health "$(head -n 1 "$work/url")" || fail 'the image is not healthy'

step 'all of it works'
