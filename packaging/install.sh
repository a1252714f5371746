#!/bin/sh
# usage: install.sh [--prefix DIR] [--uninstall]
#
# Installs ws and ws-mock for you alone, to ~/.local: programs, man pages, completions, units of your systemd session. It
# needs no root and changes no other file. --uninstall removes exactly what it installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=${HOME:?}/.local
action=install
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=${2:?--prefix needs a folder}; shift ;;
    --prefix=*) prefix=${1#*=} ;;
    --uninstall) action=uninstall ;;
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "install.sh: unknown argument $1; see --help" >&2; exit 2 ;;
  esac
  shift
done
list=$prefix/share/ws/installed

if [ "$action" = uninstall ]; then
  [ -f "$list" ] || { echo "install.sh: nothing is installed in $prefix" >&2; exit 1; }
  while IFS= read -r file; do
    rm -f "$prefix/$file"
    # Folders that are empty now.
    folder=$(dirname "$file")
    while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
  done <"$list"
  rm -f "$list"
  rmdir "$prefix/share/ws" "$prefix/share" "$prefix" 2>/dev/null || true
  echo "removed from $prefix; keys, settings and synced folders are as they were"
  exit 0
fi

"$here/bin/ws" --version >/dev/null 2>&1 || {
  echo "install.sh: bin/ws does not start on this machine; it needs Linux on $(cat "$here/ARCH") with glibc 2.34 or later" >&2
  exit 1
}
mkdir -p "$prefix/share/ws"
: >"$list.new"
cd "$here"
find bin share -type f | LC_ALL=C sort | while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  case $file in
    *.service) sed "s|/usr/bin/|$prefix/bin/|" "$file" >"$prefix/$file.new" ;;
    *) cp "$file" "$prefix/$file.new" ;;
  esac
  case $file in bin/*) chmod 755 "$prefix/$file.new" ;; *) chmod 644 "$prefix/$file.new" ;; esac
  mv -f "$prefix/$file.new" "$prefix/$file"
  printf '%s\n' "$file" >>"$list.new"
done
mv -f "$list.new" "$list"
echo "installed $("$prefix/bin/ws" --version) to $prefix"
case :$PATH: in *":$prefix/bin:"*) ;; *) echo "add it to your PATH:  export PATH=\"$prefix/bin:\$PATH\"" ;; esac
