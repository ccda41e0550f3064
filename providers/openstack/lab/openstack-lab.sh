#!/usr/bin/env bash
# A real OpenStack on 127.0.0.1: keystone, nova with fake hypervisors, neutron, octavia, glance and placement, from Debian's
# packages in a chroot. Needs root on a Debian-like Linux; the archives are those of this machine's apt. docs/lab.md says more.
#
#   openstack-lab.sh up             bring it up, all as seeded; build it first where it was never built
#   openstack-lab.sh run            the same in the foreground: the lab ends with this process, however that ends
#   openstack-lab.sh down           end it; what was made in it is gone, the build stays
#   openstack-lab.sh status         its services and their memory
#   openstack-lab.sh wipe           end it and remove the build too
#   openstack-lab.sh stop SERVICE…  end some services in the middle, and:
#   openstack-lab.sh start SERVICE… start them again
#   openstack-lab.sh sh COMMAND…    run a command inside, as the administrator: openstack server list --all-projects
#
# All of it lives in a PID and a mount namespace of its own. When the first process there ends, the kernel ends the others and
# the mounts with them: nothing can be left behind.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(realpath "$here/../../..")
# The repository's Node goes before the machine's.
PATH=$repository/node_modules/.bin:$PATH
lab=$(realpath -m "${OUTRIGGER_OPENSTACK_LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/outrigger/openstack}")
ready_seconds=${OUTRIGGER_OPENSTACK_LAB_TIMEOUT:-1800}

fail() {
  echo "openstack-lab: $*" >&2
  exit 1
}

say() { echo "openstack-lab: $*"; }

# The process IDs, on this side, of the first processes of this lab's namespaces; normally one or none.
namespaces() {
  local process arguments
  for process in /proc/[0-9]*; do
    mapfile -d '' -t arguments 2>/dev/null <"$process/cmdline" || continue
    [[ ${arguments[1]:-} == "$here/namespace.sh" && ${arguments[2]:-} == "$lab" ]] || continue
    # The first process of a namespace has the ID 1 in it.
    [[ $(awk '/^NSpid:/ {print $NF}' "$process/status" 2>/dev/null) == 1 ]] && echo "${process#/proc/}"
  done
}

# What started such a process and has not ended with it: `run` and its `unshare`, by the lock that they hold.
holders() {
  local process descriptor
  for process in /proc/[0-9]*; do
    for descriptor in "$process"/fd/9; do
      [[ $(readlink "$descriptor" 2>/dev/null) == "$lab/lock" ]] && echo "${process#/proc/}"
    done
  done
}

in_namespace() {
  local first
  first=$(namespaces | head -n 1)
  [[ -n $first ]] || fail "the lab in $lab is not up: $0 up"
  nsenter --target "$first" --mount --pid env -i "${environment[@]}" chroot "$lab/root" "$@" 8>&- 9>&-
}

environment=(
  PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 PYTHONWARNINGS=ignore
  OS_CLIENT_CONFIG_FILE=/opt/lab/etc/clouds.yaml OS_CLOUD=admin
)

# Becomes an `unshare` with namespace.sh as the first process of new namespaces, which end with it.
namespace() { exec unshare --mount --pid --fork --kill-child=KILL --propagation private bash "$here/namespace.sh" "$lab" "$@"; }

run() {
  [[ $(id -u) == 0 ]] || fail 'needs root: chroot and namespaces'
  mkdir -p "$lab/logs"
  # Held by the first process of the namespaces too: whoever has it knows that no lab runs here.
  exec 9<>"$lab/lock"
  flock --nonblock 9 || fail "the lab in $lab is up already, or being brought up"
  rm -f "$lab/ready" "$lab/serving"
  [[ -e $lab/root ]] || { say 'building, once: some minutes'; (namespace build); }
  rm -rf "$lab/state"
  if [[ -e $lab/seeded ]]; then cp -a --reflink=auto "$lab/seeded" "$lab/state"; else mkdir "$lab/state"; fi
  # The first process there reads this pipe, and ends when it closes: with this process, also after kill -9.
  exec 8> >(namespace serve)
  local served=$!
  wait_for "$lab/serving" "$served"
  if [[ -e $lab/seeded ]]; then in_namespace /opt/lab/services.sh start-all; else seed; fi
  touch "$lab/ready"
  say 'ready'
  wait "$served"
}

# Once. Services end at once where keystone does not know them, so that comes first.
seed() {
  say 'databases, once'
  in_namespace /opt/lab/prepare.sh
  say 'seeding, once'
  in_namespace /opt/lab/services.sh start mariadb rabbitmq keystone
  node "$repository/e2e/openstack/seed-lab.ts" identity
  in_namespace /opt/lab/services.sh start-all
  node "$repository/e2e/openstack/seed-lab.ts" cloud >"$lab/octavia-network.conf"
  mv "$lab/octavia-network.conf" "$lab/state/"
  # The database is copied while it is at rest; its clients connect again.
  in_namespace /opt/lab/services.sh stop octavia-worker mariadb
  rm -rf "$lab/seeded.new"
  cp -a --reflink=auto "$lab/state" "$lab/seeded.new"
  in_namespace /opt/lab/services.sh start mariadb octavia-worker
  mv "$lab/seeded.new" "$lab/seeded"
}

wait_for() { # FILE PROCESS
  local tenths
  for ((tenths = 0; tenths < ready_seconds * 10; tenths++)); do
    [[ -e $1 ]] && return
    kill -0 "$2" 2>/dev/null || fail "the lab has ended before it was ready; see $lab/logs"
    sleep 0.1
  done
  fail "the lab is not ready after $ready_seconds s; see $lab/logs"
}

up() {
  [[ -e $lab/ready && -n $(namespaces) ]] && return
  mkdir -p "$lab/logs"
  setsid bash "$here/openstack-lab.sh" run >"$lab/logs/run.log" 2>&1 </dev/null &
  (wait_for "$lab/ready" $!) || { tail -n 20 "$lab/logs/run.log" >&2; exit 1; }
}

down() {
  local process
  for process in $(namespaces) $(holders); do kill -KILL "$process" 2>/dev/null || true; done
  [[ -e $lab/lock ]] || return 0
  # The kernel lets go of the lock when the last of them is gone, and their mounts with them.
  flock --wait 60 "$lab/lock" true || fail "something still holds $lab/lock"
  rm -rf "$lab/ready" "$lab/state"
}

case ${1:-} in
  up) up ;;
  run) run ;;
  down) down ;;
  status) in_namespace /opt/lab/services.sh status ;;
  wipe) down; rm -rf --one-file-system "$lab" ;;
  stop | start) in_namespace /opt/lab/services.sh "$@" ;;
  sh) shift; in_namespace "$@" ;;
  *) sed -n '5,12s/^#//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
