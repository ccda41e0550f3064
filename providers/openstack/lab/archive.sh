#!/usr/bin/env bash
# Prints an archive that the lab is built from: archive.sh debian|debian-security. It is the one of this machine's apt that is called
# so, or what OUTRIGGER_DEBIAN_ARCHIVE and OUTRIGGER_DEBIAN_SECURITY_ARCHIVE name.
set -euo pipefail

name=$1
variable=${name//-/_}
variable=OUTRIGGER_${variable^^}_ARCHIVE

fail() {
  echo "archive: $1; name one in $variable" >&2
  exit 1
}

if [[ -n ${!variable:-} ]]; then
  echo "${!variable%/}"
  exit
fi
command -v apt-get >/dev/null || fail "no apt here knows an archive of $name"
# All of it is read first: apt-get fails when nobody reads on.
archives=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed 's#/$##')
grep -m 1 "/$name\$" <<<"$archives" || fail "this machine's apt has no archive called $name"
