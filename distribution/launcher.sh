#!/bin/sh
# Runs a bundled program with the Node that was built for it, from any working directory. `make build` copies this to
# bin/cloud-controller-manager, which is the manager, and to bin/outrigger and bin/kubectl-outrigger, which have the commands.
set -eu

# Through symbolic links to the place where this file really is.
self=$0
while [ -h "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=$(dirname "$self")/$target ;;
  esac
done
bin=$(CDPATH='' cd -- "$(dirname -- "$self")" && pwd -P)

# In an image Node lies beside this file; in the repository it is the pinned package of the platform.
node=$bin/node
[ -x "$node" ] || node=$bin/../node_modules/.bin/node

# The name of the file, not that of a link to it, says what is run. The commands are run by people, for seconds: nothing is tuned for them, and
# a Node on the path will do, as a plugin of kubectl has no other.
name=${self##*/}
if [ "$name" != cloud-controller-manager ]; then
  if [ ! -x "$node" ]; then
    node=$(command -v node || echo "$node")
    major=$("$node" --version 2>/dev/null || true)
    major=${major#v}
    if [ "${major%%.*}" -lt 24 ] 2>/dev/null || [ -z "$major" ]; then
      echo "$name: Node 24 or later is needed on the path, and there is ${major:-none}: https://nodejs.org" >&2
      exit 1
    fi
  fi
  # What kubectl asks when the tabulator key is pressed.
  [ "$name" != kubectl_complete-outrigger ] || set -- completion kubectl -- "$@"
  exec "$node" --disable-sigusr1 "$bin/../dist/outrigger.js" "$@"
fi

# Of macOS there is none: the one on the path, of which `make setup` has said whether it will do.
[ -x "$node" ] || [ "$(uname -s)" = Linux ] || node=$(command -v node || echo "$node")
if [ ! -x "$node" ]; then
  echo "$name: no Node at $bin/node or $node; run 'make setup'" >&2
  exit 1
fi

# glibc gives each thread an arena of its own, and keeps what was freed in it: two are enough. What the compilers take for a
# few milliseconds comes in pieces of 32 KB: mapped one by one, it goes back to the system.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-16384}"

# A small young generation keeps garbage from ruling the resident size. What requests hold outlives it, so the old generation is
# collected when it has grown by 60 %, not by the 30 of V8: that took a fifth of the time where Services and nodes come and go. The
# old generation holds 5,000 nodes in 256 MB; set OUTRIGGER_OLD_SPACE_MB for larger clusters. Less is inlined, and the HTTP parser's
# WebAssembly is left to the fast compiler: both cost no time here, and keep the compilers from taking much at once. A young generation
# so small is swept sooner by one thread than by several that have to be woken. What runs for seconds is left to the quick compilers:
# the slow one took more time from the other processor than its code gave back. `make bench` measures what all of this comes to.
#
# --disable-sigusr1: else any process of this user, and root's kill, opens Node's inspector on the loopback address, where every
# local user can run code in the program and read its credentials.
exec "$node" --disable-sigusr1 --max-semi-space-size=4 --heap-growing-percent=60 --no-parallel-scavenge --max-old-space-size="${OUTRIGGER_OLD_SPACE_MB:-256}" \
  --liftoff-only --invocation-count-for-turbofan=30000 --max-inlined-bytecode-size-cumulative=200 --max-maglev-inlined-bytecode-size-cumulative=50 \
  "$bin/../dist/cloud-controller-manager.js" "$@"
