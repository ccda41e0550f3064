#!/usr/bin/env bash
# Makes the chroot, LAB/root, from Debian's packages. Run by namespace.sh, so that whatever mmdebstrap mounts ends with it.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
lab=$1
new=$lab/root.new
logs=$lab/logs
suite=bookworm

packages=(
  python3-keystone python3-placement python3-nova python3-neutron python3-octavia python3-glance
  uwsgi-core uwsgi-plugin-python3 python3-pymysql
  mariadb-server-core mariadb-client-core rabbitmq-server
  python3-openstackclient python3-octaviaclient
  ca-certificates curl netbase hostname procps openssl
)
# They hold the services' entry points and paste files. They are only unpacked: what they do when they are installed, they do
# to a machine with systemd and a database of its own.
unpacked=(keystone nova-common placement-common neutron-common glance-common octavia-common)

command -v mmdebstrap >/dev/null ||
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends mmdebstrap >"$logs/mmdebstrap-install.log" 2>&1

debian=$(bash "$here/archive.sh" debian)
security=$(bash "$here/archive.sh" debian-security)

rm -rf --one-file-system "$new"
# policy-rc.d with 101: no package may start a service.
mmdebstrap --variant=minbase --components=main --skip=cleanup/apt/lists \
  --aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --essential-hook='printf "#!/bin/sh\nexit 101\n" >"$1/usr/sbin/policy-rc.d" && chmod +x "$1/usr/sbin/policy-rc.d"' \
  --include="$(IFS=,; echo "${packages[*]}")" "$suite" "$new" \
  "deb $debian $suite main" "deb $debian $suite-updates main" "deb $security $suite-security main" \
  >"$logs/mmdebstrap.log" 2>&1

printf '127.0.0.1 localhost\n' >"$new/etc/hosts"
cp /etc/resolv.conf "$new/etc/resolv.conf"
# Unpacked aside and copied: dpkg-deb --extract into / would put a directory in the place of the link /lib.
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot "$new" bash -euc '
  mkdir /unpacked && cd /unpacked
  apt-get download "$@"
  for package in *.deb; do dpkg-deb --extract "$package" files; done
  cp -r --no-clobber files/usr/. /usr/
  cp -r --no-clobber files/etc/. /etc/
  cd / && rm -r /unpacked
  apt-get clean' bash "${unpacked[@]}" >"$logs/unpack.log" 2>&1
# What runs under uwsgi takes no arguments, and looks here.
for service in placement octavia; do
  mkdir -p "$new/etc/$service/$service.conf.d"
  ln -sf "/opt/lab/etc/$service.conf" "$new/etc/$service/$service.conf"
  ln -sf /opt/lab/etc/every-service.conf "$new/etc/$service/$service.conf.d/every-service.conf"
done
mv "$new" "$lab/root"
