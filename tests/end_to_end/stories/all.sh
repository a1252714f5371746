#!/bin/sh
# usage: all.sh     runs every story with the ws and ws-mock of the PATH, each with a server and a home of its own. Packages
# that are installed, and programs under an emulator, are tried with it (packaging/check.sh, packaging/emulated.sh).
set -eu
stories=$(cd "$(dirname "$0")" && pwd)
RECIPES=$(cd "$stories/../../../recipes" && pwd)
export RECIPES NO_COLOR=1
work=$(mktemp -d)
server=
stop() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  server=
  rm -rf "$work"
}
trap stop EXIT
for story in "$stories"/*.sh; do
  name=$(basename "$story" .sh)
  [ "$name" != all ] || continue
  home=$work/$name
  mkdir "$home"
  ws-mock --ready-file "$home/ready.json" --device auto --device-interval 1 --log off >"$home/url" &
  server=$!
  while [ ! -s "$home/ready.json" ]; do sleep 0.05; done
  URL=$(head -n 1 "$home/url")
  case $name in
    login_* | two_people_*) key= ;; # they log in by themselves
    *) key=$(sed -n 's/.*"token": *"\([^"]*\)".*/\1/p' "$home/ready.json") ;;
  esac
  if ! (
    unset WS_PROFILE WS_CONFIG_DIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
    HOME=$home
    export HOME URL
    [ -z "$key" ] || export WS_BASE_URL="$URL" WS_TOKEN="$key"
    cd "$home"
    exec sh "$story"
  ) >"$work/log" 2>&1; then
    tail -n 30 "$work/log" >&2
    echo "all.sh: the story $name fails" >&2
    exit 1
  fi
  kill "$server" && wait "$server" || true
  server=
  echo "$name"
done
