#!/usr/bin/env bash
# Inside the chroot and its namespaces: services.sh start-all | status | start SERVICE… | stop SERVICE…
set -euo pipefail

etc=/opt/lab/etc
run=/run/lab
logs=/var/log/lab
hypervisors=(compute-1 compute-2 compute-3)
# In the order in which they are started: whoever is asked for comes before who asks.
services=(mariadb rabbitmq keystone placement glance neutron nova-api nova-conductor nova-scheduler
  "${hypervisors[@]}" octavia-api octavia-worker)

mkdir -p $run/locks $run/nova $run/neutron

spawn() { # SERVICE COMMAND…
  local service=$1
  shift
  setsid "$@" >>"$logs/$service.log" 2>&1 </dev/null &
  echo $! >"$run/$service.pid"
}

alive() { [[ -s $run/$1.pid ]] && kill -0 "$(<"$run/$1.pid")" 2>/dev/null; }

# A service that is a WSGI application. uwsgi resets connections that it was to keep: it says that it closes them.
web() { # SERVICE PORT APPLICATION [ENVIRONMENT…]
  local service=$1 port=$2 application=$3
  shift 3
  spawn "$service" env LAB_APPLICATION="$application" "$@" uwsgi_python3 --http-socket "127.0.0.1:$port" \
    --wsgi-file /opt/lab/threaded.py --master --die-on-term \
    --processes 1 --threads 4 --enable-threads --lazy-apps --need-app --thunder-lock --buffer-size 65535 --disable-logging \
    --procname-prefix "$service-" --add-header 'Connection: close'
}

# An entry point that Debian's python3-* package has no script for.
python() { # SERVICE MODULE ARGUMENTS…
  local service=$1 module=$2
  shift 2
  spawn "$service" python3 -c "import sys; sys.argv[0] = '$service'; from $module import main; main()" "$@"
}

configured() { printf '%s\n' --config-file "$etc/$1" --config-file $etc/every-service.conf; }

start() {
  alive "$1" && return
  case $1 in
    mariadb)
      # What is in it is worth nothing after a power cut: it never waits for the disk.
      spawn mariadb mariadbd --no-defaults --user=root --datadir=/var/lib/lab/mysql --socket=$run/mariadb.sock --skip-networking \
        --innodb-flush-log-at-trx-commit=0 --innodb-flush-method=nosync --innodb-doublewrite=0 --skip-log-bin \
        --performance-schema=off --innodb-buffer-pool-size=128M --max-connections=500 --character-set-server=utf8mb3 --event-scheduler=on
      until_true 60 mariadb --no-defaults --socket $run/mariadb.sock --execute 'select 1'
      ;;
    rabbitmq)
      # epmd and the distribution port would listen on all interfaces.
      mkdir -p $run/rabbitmq
      spawn rabbitmq env HOME=$run/rabbitmq PATH=/usr/lib/rabbitmq/bin:"$PATH" RABBITMQ_NODENAME=lab@localhost \
        RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT=15673 RABBITMQ_DIST_PORT=15674 ERL_EPMD_PORT=15675 \
        ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_MNESIA_BASE=$run/rabbitmq RABBITMQ_LOGS=- RABBITMQ_PID_FILE=$run/rabbitmq/pid \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none' \
        sh /usr/lib/rabbitmq/bin/rabbitmq-server
      ;;
    keystone) web keystone 15000 /usr/bin/keystone-wsgi-public OS_KEYSTONE_CONFIG_FILES=$etc/keystone.conf ;;
    placement) web placement 18778 /usr/bin/placement-api ;;
    glance) python glance glance.cmd.api $(configured glance-api.conf) ;;
    neutron) spawn neutron neutron-server $(configured neutron.conf) ;;
    nova-api) python nova-api nova.cmd.api_os_compute $(configured nova.conf) ;;
    nova-conductor) python nova-conductor nova.cmd.conductor $(configured nova.conf) ;;
    nova-scheduler) python nova-scheduler nova.cmd.scheduler $(configured nova.conf) ;;
    compute-*)
      mkdir -p "$run/$1"
      printf '[DEFAULT]\nhost = %s\nstate_path = %s\n' "$1" "$run/$1" >"$run/$1.conf"
      python "$1" nova.cmd.compute $(configured nova.conf) --config-file "$run/$1.conf"
      ;;
    octavia-api) web octavia-api 19876 /usr/bin/octavia-wsgi ;;
    octavia-worker)
      local network=()
      # Written by the seeding; before it there is nothing for the worker to do.
      [[ -e /var/lib/lab/octavia-network.conf ]] && network=(--config-file /var/lib/lab/octavia-network.conf)
      spawn octavia-worker env LAB_APPLICATION=/usr/bin/octavia-worker python3 /opt/lab/threaded.py $(configured octavia.conf) \
        "${network[@]}"
      ;;
    *) echo "no service $1; there are ${services[*]}" >&2; exit 2 ;;
  esac
}

until_true() { # SECONDS COMMAND…
  local tenths
  for ((tenths = 0; tenths < $1 * 10; tenths++)); do
    "${@:2}" >/dev/null 2>&1 && return
    sleep 0.1
  done
  echo "in vain for $1 s: ${*:2}" >&2
  return 1
}

# Answers anything but that it cannot be reached or is not there yet.
answers() {
  local status
  status=$(curl --silent --output /dev/null --max-time 10 --write-out '%{http_code}' "http://127.0.0.1:$1/" || true)
  [[ $status != 000 && $status != 502 && $status != 503 ]]
}

# Has told the database that it lives since it was started, as the scheduler wants to know before it gives it a server: what the
# database says of a lab that has just come up is from the day on which it was seeded.
reports() { # SERVICE
  local who="host = '$1'"
  [[ $1 == compute-* ]] || who="\`binary\` = '$1'"
  [[ -n $(mariadb --no-defaults --socket $run/mariadb.sock --skip-column-names nova --execute \
    "set time_zone = '+00:00'; select 1 from services where $who and last_seen_up >= from_unixtime($(stat --format %Y "$run/$1.pid")) limit 1") ]]
}

# What is sent to a queue that nobody has made yet is lost, and the load balancer PENDING for ever.
consumes() { # QUEUE
  env HOME=$run/rabbitmq PATH=/usr/lib/rabbitmq/bin:"$PATH" RABBITMQ_NODENAME=lab@localhost ERL_EPMD_PORT=15675 \
    sh /usr/lib/rabbitmq/bin/rabbitmqctl --quiet list_queues name consumers | grep --quiet "^$1[[:space:]]*[1-9]"
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

serves() { # SERVICE: waits until others can use it
  case $1 in
    rabbitmq) until_true 300 listens 15673 ;;
    keystone) until_true 300 answers 15000 ;;
    placement) until_true 300 answers 18778 ;;
    glance) until_true 300 answers 19292 ;;
    neutron) until_true 300 answers 19696 ;;
    nova-api) until_true 300 answers 18774 ;;
    nova-conductor | nova-scheduler | compute-*) until_true 300 reports "$1" ;;
    octavia-worker) until_true 300 consumes octavia_provisioning_v2 ;;
    octavia-api) until_true 300 answers 19876 ;;
  esac
}

stop() {
  alive "$1" || return 0
  local process
  process=$(<"$run/$1.pid")
  # Each leads a process group. rabbitmq's script and uwsgi's workers go with it.
  kill -TERM -- "-$process"
  until_true 20 gone "$process" || kill -KILL -- "-$process"
  until_true 20 gone "$process"
  rm "$run/$1.pid"
}

gone() { ! kill -0 -- "-$1" 2>/dev/null; }

status() {
  local service process
  for service in "${services[@]}"; do
    if alive "$service"; then
      process=$(<"$run/$service.pid")
      echo "$service: $(ps --no-headers -o rss --sid "$process" | awk '{kib += $1} END {print int(kib / 1024)}') MiB"
    else
      echo "$service: stopped"
    fi
  done
}

command=$1
shift
case $command in
  start-all)
    # Together, but for the two that the others do not wait for patiently.
    for service in "${services[@]}"; do
      start "$service"
      [[ $service == rabbitmq || $service == keystone ]] && serves "$service"
    done
    for service in "${services[@]}"; do serves "$service"; done
    ;;
  start) for service in "$@"; do start "$service"; done; for service in "$@"; do serves "$service"; done ;;
  stop) for service in "$@"; do stop "$service"; done ;;
  status) status ;;
  *) echo "services.sh start-all | status | start SERVICE… | stop SERVICE…" >&2; exit 2 ;;
esac
