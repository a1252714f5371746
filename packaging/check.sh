#!/usr/bin/env bash
# usage: check.sh DIST     (root: it makes and enters Debian 12 roots; network: for debootstrap and apt alone)
#
# What `./dev package` made, used as people use it: packages installed, tried (the demo, and the first hours that
# tests/end_to_end/stories tell) and removed in a bare Debian 12; the tarball by an ordinary user where none of the build's
# packages is; wheel, npm package and image offline. build/check keeps the bare root from one run to the next. With WS_CHECK_CLONE=1 also the README's two commands from a clean clone (half an hour).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/.." && pwd)
dist=$(cd "$1" && pwd)
version=$(sed -n 's/^project(ws VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
arch=$(dpkg --print-architecture) machine=$(uname -m)
npm_registry=$(npm config get registry 2>/dev/null || true)
keep=$source/build/check
mkdir -p "$keep"
work=$(mktemp -d "$keep/run.XXXXXX")
done_with() {
  find "$work" -maxdepth 3 \( -path "$work/*/proc" -o -path "$work/*/dev/pts" \) -type d -exec umount -q {} \; 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap done_with EXIT

step() { printf '\033[1m--> %s\033[0m\n' "$*"; }
fail() { printf 'check: %s\n' "$*" >&2; exit 1; }

# bare NAME: a Debian 12 root with nothing but the base system.
bare() {
  if [ ! -f "$keep/bare.tar" ]; then
    debootstrap --variant=minbase bookworm "$work/bare" >"$work/debootstrap.log" 2>&1 ||
      { tail -n 20 "$work/debootstrap.log" >&2; fail "debootstrap failed"; }
    tar -C "$work/bare" -cf "$keep/bare.tar.new" . && mv "$keep/bare.tar.new" "$keep/bare.tar"
    rm -rf "$work/bare"
  fi
  mkdir "$work/$1" && tar -C "$work/$1" -xpf "$keep/bare.tar"
  cp /etc/resolv.conf "$work/$1/etc/resolv.conf"
  cp -L /etc/apt/sources.list "$work/$1/etc/apt/sources.list" 2>/dev/null || true
  # What an installed system has and debootstrap does not make.
  printf '127.0.0.1 localhost\n::1 localhost\n' >"$work/$1/etc/hosts"
  [ -z "${NODE_EXTRA_CA_CERTS:-}" ] || cp -L "$NODE_EXTRA_CA_CERTS" "$work/$1/etc/npm-ca.pem"
  mount -t proc proc "$work/$1/proc" 2>/dev/null || true
  mount -t devpts devpts "$work/$1/dev/pts" -o newinstance,ptmxmode=0666,mode=620,gid=5 2>/dev/null || true
}
# inside NAME COMMAND...: with nothing of this environment but where packages come from.
inside() {
  local root=$work/$1
  shift
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    ${npm_registry:+npm_config_registry="$npm_registry"} \
    ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS=/etc/npm-ca.pem} chroot "$root" "$@"
}
files() { (cd "$work/$1" && find . -xdev \( -path ./proc -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \
  -o -path ./tmp \) -prune -o -print | LC_ALL=C sort); }

step 'the checksums are right, lintian finds no error, the programs start with glibc 2.34 alone'
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
lintian --fail-on error,warning --tag-display-limit 0 "$dist"/*_"$arch".deb
mkdir "$work/tar" && tar -xzf "$dist/ws-$version-linux-$machine.tar.gz" -C "$work/tar" --strip-components=1
python3 "$here/portable.py" "$work/tar/bin/ws" "$work/tar/bin/ws-mock"
python3 "$source/tests/packaging/hardening_test.py" "$work/tar/bin/ws" "$work/tar/bin/ws-mock"
for page in "$work"/tar/share/man/man?/*; do
  said=$(man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null) || true
  [ -z "$said" ] || fail "$page: $said"
done

step 'packages in a bare Debian 12: install, use, remove, purge; nothing is left'
bare deb
inside deb apt-get update -qq
# What the packages depend on, what they recommend, and what the stories need comes first: so what is left is theirs.
inside deb apt-get install -y -qq --no-install-recommends libcurl4 libjq1 ca-certificates curl python3 >/dev/null 2>&1
files deb >"$work/before"
cp "$dist"/ws_*_"$arch".deb "$dist"/ws-mock_*_"$arch".deb "$work/deb/tmp/"
inside deb sh -c 'apt-get install -y -qq --no-install-recommends /tmp/ws_*.deb /tmp/ws-mock_*.deb' >/dev/null 2>&1 || fail 'apt cannot install the packages'
mkdir -p "$work/deb/tmp/source/tests/end_to_end" && cp -r "$source/recipes" "$source/docs" "$work/deb/tmp/source/"
cp -r "$source/tests/demo" "$work/deb/tmp/source/tests/" && cp -r "$source/tests/end_to_end/stories" "$work/deb/tmp/source/tests/end_to_end/"
inside deb env WS_BIN_DIR=/usr/bin bash /tmp/source/tests/demo/demo.sh >"$work/demo.log" 2>&1 || { tail -n 20 "$work/demo.log" >&2; fail 'the demo fails with the installed packages'; }
inside deb ws-mock exec -- ws whoami >/dev/null || fail 'ws cannot call the mock'
inside deb sh /tmp/source/tests/end_to_end/stories/all.sh || fail 'a story fails with the installed packages'
for file in /usr/share/man/man1/ws-sync.1.gz /usr/share/bash-completion/completions/ws /usr/lib/systemd/user/ws-sync@.service; do
  [ -f "$work/deb$file" ] || fail "$file is not installed"
done
inside deb apt-get remove -y -qq ws ws-mock >/dev/null 2>&1
inside deb dpkg --purge ws ws-mock >/dev/null 2>&1 || fail 'dpkg cannot purge the packages'
files deb >"$work/after"
diff "$work/before" "$work/after" >"$work/left" || { cat "$work/left" >&2; fail 'the packages leave these files'; }

step 'the tarball, by an ordinary user, without a package of the build'
bare tar-root
inside tar-root useradd -m mira
cp "$dist/ws-$version-linux-$machine.tar.gz" "$work/tar-root/tmp/"
as_mira() { inside tar-root su mira -c "cd; PATH=\$HOME/.local/bin:\$PATH; $1"; }
as_mira 'find . | sort >/tmp/home-before; mkdir /tmp/x && tar -xzf /tmp/ws-*.tar.gz -C /tmp/x --strip-components=1 && /tmp/x/install.sh'
as_mira 'ws --version && ws-mock --version >/dev/null && ws-mock exec -- true' || fail 'the tarball does not work'
as_mira 'ws-mock exec -- ws whoami' >"$work/told" 2>&1 && fail 'ws calls a server without libcurl?'
grep -q 'install libcurl' "$work/told" || { cat "$work/told" >&2; fail 'that libcurl is missing is not told'; }
inside tar-root sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends libcurl4' >/dev/null 2>&1
as_mira 'ws-mock exec -- ws whoami >/dev/null' || fail 'the tarball does not work with libcurl'
mkdir "$work/tar-root/tmp/demo" && cp -r "$source/tests/demo/." "$work/tar-root/tmp/demo/" && chmod -R a+rX "$work/tar-root/tmp/demo"
as_mira 'WS_BIN_DIR=$HOME/.local/bin bash /tmp/demo/demo.sh' >"$work/demo.log" 2>&1 || { tail -n 20 "$work/demo.log" >&2; fail 'the demo fails with the tarball'; }
as_mira '/tmp/x/install.sh --uninstall >/dev/null; find . | sort >/tmp/home-after; diff /tmp/home-before /tmp/home-after' ||
  fail 'install.sh --uninstall leaves files'

step 'the wheel, offline: python -m ws_mock exec -- pytest'
bare python
inside python sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv python3-pytest' >/dev/null 2>&1
offline=(env)
unshare -rn true 2>/dev/null && offline=(unshare -rn sh -c 'ip link set lo up 2>/dev/null; exec "$@"' sh)
cp "$dist"/ws_mock-*manylinux*_"$machine".whl "$work/python/tmp/"
cat >"$work/python/tmp/test_it.py" <<'PY'
import json, os, urllib.request
def test_me():
    request = urllib.request.Request(os.environ["WS_BASE_URL"] + "/v1/me", headers={"Authorization": "Bearer " + os.environ["WS_TOKEN"]})
    assert "credential" in json.load(urllib.request.urlopen(request))
PY
inside python python3 -m venv --system-site-packages /venv
in_python() { "${offline[@]}" chroot "$work/python" env -i PATH=/venv/bin:/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
in_python pip install -q --no-index --disable-pip-version-check --find-links /tmp ws_mock
in_python python -m ws_mock exec -- python -m pytest -q /tmp/test_it.py | grep -q '^1 passed' || fail 'pytest fails with the wheel'

step 'the npm package, offline: npx ws-mock exec -- npm test'
mkdir "$work/npm" && cd "$work/npm"
cat >package.json <<'JSON'
{"name": "x", "version": "1.0.0", "private": true, "scripts": {"test": "node --test"}}
JSON
cat >me.test.mjs <<'JS'
import test from 'node:test';
import assert from 'node:assert';
test('me', async () => {
  const answer = await fetch(process.env.WS_BASE_URL + '/v1/me', { headers: { Authorization: 'Bearer ' + process.env.WS_TOKEN } });
  assert.equal(answer.status, 200);
});
JS
npm install --offline --no-audit --no-fund --silent "$dist/ws-mock-$version-linux-$(node -p process.arch).tgz"
"${offline[@]}" npx --offline ws-mock exec -- npm test >"$work/npm.log" 2>&1 || { cat "$work/npm.log" >&2; fail 'npx ws-mock exec -- npm test fails'; }
cd "$source"

step 'the image: unpacked, run as nobody in a root of its own, healthy'
mkdir "$work/oci" "$work/image" && tar -xf "$dist/ws-mock-$version-$machine.oci.tar" -C "$work/oci"
size=$(stat -c %s "$dist/ws-mock-$version-$machine.oci.tar")
[ "$size" -le $((20 << 20)) ] || fail "the image has $size bytes"
layer=$(python3 -c 'import json, sys; print("blobs/" + json.load(open(sys.argv[1]))[0]["Layers"][0].removeprefix("blobs/"))' "$work/oci/manifest.json")
tar -xzf "$work/oci/$layer" -C "$work/image"
readelf -hW "$work/image/ws-mock" | grep -q 'DYN (' || fail 'the program of the image is not position-independent'
port=$((20000 + RANDOM % 20000))
chroot --userspec=65534:65534 "$work/image" /ws-mock --listen "0.0.0.0:$port" --no-control --log off >/dev/null &
mock=$!
for _ in $(seq 100); do chroot "$work/image" /ws-mock health --listen "127.0.0.1:$port" >/dev/null 2>&1 && break; sleep 0.05; done
chroot --userspec=65534:65534 "$work/image" /ws-mock health --listen "127.0.0.1:$port" || fail 'the image is not healthy'
kill "$mock" && wait "$mock" 2>/dev/null || true
chroot "$work/image" /ws-mock health --listen "127.0.0.1:$port" >/dev/null 2>&1 && fail 'health does not see that nothing answers'

step 'the files for CI services'
"$source/tests/support/npm_ci.sh" "$source/tests/packaging/ci-files"
node --no-warnings "$source/tests/packaging/ci-files/check.mjs" "$dist/ws-$version-linux-$machine.tar.gz"

if [ -n "${WS_CHECK_CLONE:-}" ]; then
  step 'a clean clone in a bare Debian 12: the two commands of the README'
  bare clone
  inside clone sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends git ca-certificates' >/dev/null 2>&1
  git clone -q "$source" "$work/clone/srv/ws"
  begun=$SECONDS
  inside clone sh -c 'cd /srv/ws && ./dev demo' >"$work/demo.log" 2>&1 || { tail -n 30 "$work/demo.log" >&2; fail './dev demo fails'; }
  printf './dev demo: %s s\n' "$((SECONDS - begun))"
  begun=$SECONDS
  inside clone sh -c 'cd /srv/ws && ./dev test' >"$work/test.log" 2>&1 || { tail -n 50 "$work/test.log" >&2; fail './dev test fails'; }
  printf './dev test: %s s\n' "$((SECONDS - begun))"
fi

step 'all of it works, and nothing is left'
