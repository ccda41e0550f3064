#!/usr/bin/env bash
# The first process of the lab's namespaces: namespace.sh LAB build|serve. Started by openstack-lab.sh alone.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
lab=$1
task=$2
root=$lab/root

if [[ $task == build ]]; then
  bash "$here/build.sh" "$lab"
  exit
fi

mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir -p "$root/opt/lab" "$root/var/lib/lab" "$root/var/log/lab"
mount --bind "$here" "$root/opt/lab"
mount --bind "$lab/state" "$root/var/lib/lab"
mount --bind "$lab/logs" "$root/var/log/lab"

touch "$lab/serving"
# Until whoever runs the lab has ended. Being the first process, bash buries meanwhile whatever has lost its parent.
cat >/dev/null
