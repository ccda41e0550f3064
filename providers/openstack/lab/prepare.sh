#!/usr/bin/env bash
# Inside the chroot: makes the databases, keys and certificates in /var/lib/lab. Runs once, before any service has started.
set -euo pipefail

services=/opt/lab/services.sh
state=/var/lib/lab
logs=/var/log/lab

mkdir -p "$state/images" "$state/certificates"
mariadb-install-db --user=root --datadir="$state/mysql" --auth-root-authentication-method=normal --skip-test-db >"$logs/mariadb-install.log" 2>&1
$services start mariadb
for database in keystone placement glance nova_api nova nova_cell0 neutron octavia; do
  mariadb --no-defaults --socket /run/lab/mariadb.sock --execute "create database $database character set utf8mb3"
done

# The address of octavia's own network is known once it is seeded.
octavia=(--config-file /opt/lab/etc/octavia.conf --config-file /opt/lab/etc/every-service.conf)
url=http://127.0.0.1:15000/v3

prepare_keystone() {
  keystone-manage --config-file /opt/lab/etc/keystone.conf db_sync
  keystone-manage --config-file /opt/lab/etc/keystone.conf fernet_setup --keystone-user root --keystone-group root
  keystone-manage --config-file /opt/lab/etc/keystone.conf credential_setup --keystone-user root --keystone-group root
  keystone-manage --config-file /opt/lab/etc/keystone.conf bootstrap --bootstrap-password admin --bootstrap-region-id RegionOne \
    --bootstrap-admin-url $url --bootstrap-internal-url $url --bootstrap-public-url $url
}
prepare_nova() {
  local nova=(nova-manage --config-file /opt/lab/etc/nova.conf --config-file /opt/lab/etc/every-service.conf)
  "${nova[@]}" api_db sync
  "${nova[@]}" cell_v2 map_cell0 --database_connection 'mysql+pymysql://root@localhost/nova_cell0?unix_socket=/run/lab/mariadb.sock'
  "${nova[@]}" db sync
  "${nova[@]}" cell_v2 create_cell --name cell1
}
prepare_certificates() {
  cd "$state/certificates"
  openssl req -x509 -newkey rsa:2048 -passout pass:octavia -keyout ca.key -out ca.pem -days 3650 -subj /CN=octavia-authority
  openssl req -newkey rsa:2048 -nodes -keyout client.key -out client.csr -subj /CN=octavia-client
  openssl x509 -req -in client.csr -CA ca.pem -CAkey ca.key -passin pass:octavia -CAcreateserial -days 3650 -out client.crt
  cat client.crt client.key >client.pem
}

# They have nothing to do with each other.
declare -A running
begin() { # NAME COMMAND…
  local name=$1
  shift
  (set -e; "$@") >"$logs/prepare-$name.log" 2>&1 &
  running[$name]=$!
}
begin keystone prepare_keystone
begin nova prepare_nova
begin certificates prepare_certificates
begin placement placement-manage db sync
begin glance glance-manage --config-file /opt/lab/etc/glance-api.conf db_sync
begin neutron neutron-db-manage --config-file /opt/lab/etc/neutron.conf upgrade head
begin octavia octavia-db-manage "${octavia[@]}" upgrade head
for name in "${!running[@]}"; do
  wait "${running[$name]}" || { tail --lines 5 "$logs/prepare-$name.log" >&2; exit 1; }
done

# What the agents on the hypervisors would do. One row says that an Open vSwitch agent is alive on each of them, so that
# neutron binds ports there; the event puts bound ports ACTIVE, as an agent that has plugged them would tell.
mariadb --no-defaults --socket /run/lab/mariadb.sock neutron </opt/lab/agents.sql
