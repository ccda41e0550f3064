#!/usr/bin/env bash
# Prints the path of a Chromium for the tests of the page. It is Debian's, with those of its libraries that this machine lacks, unpacked
# into a cache and never installed. Exit code 3, with one line: there is none, and none can be had here.
set -euo pipefail

cache=${OUTRIGGER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/outrigger}

fail() {
  echo "chromium: $1" >&2
  exit 3
}

launcher() {
  echo "$1/run-chromium"
  exit
}

if [[ -n ${OUTRIGGER_CHROMIUM:-} ]]; then
  [[ -x $OUTRIGGER_CHROMIUM ]] || fail "OUTRIGGER_CHROMIUM=$OUTRIGGER_CHROMIUM is no program"
  echo "$OUTRIGGER_CHROMIUM"
  exit
fi
for built in "$cache"/chromium-*/run-chromium; do
  [[ -x $built ]] && launcher "$(dirname "$built")"
done
# The tests take one that the system has as it is.
for name in chromium chromium-browser; do
  command -v "$name" && exit
done
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || fail "none is installed, and there is no apt to get one with: set OUTRIGGER_CHROMIUM"

mkdir -p "$cache"
new=$(mktemp -d "$cache/chromium.XXXXXX")
trap 'rm -rf --one-file-system "$new"' EXIT
mkdir -p "$new/apt/lists/partial" "$new/apt/archives/partial" "$new/root"
# All that apt writes goes there; what is installed on this machine is read.
apt=(apt-get --quiet=2 --yes -o "Dir::State::lists=$new/apt/lists" -o "Dir::Cache=$new/apt" -o "Dir::Cache::archives=$new/apt/archives"
  -o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false -o Acquire::Languages=none)
{
  "${apt[@]}" update &&
    "${apt[@]}" install --download-only chromium fonts-dejavu-core
} >"$new/log" 2>&1 || fail "Debian's archive does not give it: $(tail -n 1 "$new/log")"
for package in "$new"/apt/archives/*.deb; do
  case ${package##*/} in
    chromium_*) version=$(dpkg-deb --field "$package" Version) ;;
  esac
  dpkg-deb --extract "$package" "$new/root"
done
[[ -n ${version:-} ]] || fail "apt has not downloaded the package chromium: see \`apt-cache policy chromium\`"
rm -r "$new/apt" "$new/log"
cat >"$new/run-chromium" <<'RUN'
#!/bin/sh
# Debian's own start script is left out: it knows the paths of an installed one.
root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)/root
libraries=$(echo "$root"/usr/lib/*-linux-gnu* "$root"/usr/lib/*-linux-gnu*/pulseaudio "$root"/lib/*-linux-gnu* | tr ' ' ':')
export LD_LIBRARY_PATH="$libraries"
export XDG_DATA_DIRS="$root/usr/share:/usr/local/share:/usr/share"
exec "$root/usr/lib/chromium/chromium" "$@"
RUN
chmod +x "$new/run-chromium"
final=$cache/chromium-$version
trap - EXIT
mv -T "$new" "$final" 2>/dev/null || rm -rf --one-file-system "$new"
launcher "$final"
