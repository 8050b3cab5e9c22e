#!/bin/bash
# Does what the compose files expect of the start script of the image postgres.
set -e
export PATH=/opt/postgres/bin:$PATH PGDATA=/var/lib/postgresql/18/docker
if [[ ! -s $PGDATA/PG_VERSION ]]; then
  mkdir -p -m 700 $PGDATA
  initdb --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C
  echo "host all all all scram-sha-256" >>$PGDATA/pg_hba.conf
  printf 'create database "%s";\n' "$POSTGRES_DB" | postgres --single -D $PGDATA postgres
fi
exec postgres -c listen_addresses='*' -c unix_socket_directories=/tmp
