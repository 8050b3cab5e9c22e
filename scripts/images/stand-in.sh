#!/bin/bash
# Writes the archive of a base image for a machine that no registry of images answers, from what is installed on it: packages
# of Debian, npm, and the Node of the checkout. The Dockerfile builds with it, and with mounted programs it stands in for the
# images of Postgres, Kafka, Caddy and the S3 store.
#
#   scripts/images/stand-in.sh >base.tar && podman import base.tar localhost/node:24
set -euo pipefail
cd "$(dirname "$0")/../.."
# Installs the packages of the checkout where they are missing.
npm run --silent postrider -- help >/dev/null
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT

without="$(printf -- '--no-%s ' recommends suggests conflicts breaks replaces enhances)"
# shellcheck disable=SC2086
packages="$(apt-cache depends --recurse --installed $without \
  bash coreutils dash findutils grep libc-bin libstdc++6 sed zlib1g | grep '^[a-z]')"
# Debian has links instead of these folders, and lists files by both names.
links=(bin sbin lib lib64)
# shellcheck disable=SC2086
{
  printf '%s\n' "${links[@]}"
  dpkg -L $packages 2>/dev/null | sed -E 's#^/##; s#^(bin|sbin|lib|lib64)/#usr/&#; /^usr\/share\/(doc|man|locale|info)\//d; /^(\.|bin|sbin|lib|lib64|)$/d' | sort -u
} | tar -C / --create --no-recursion --ignore-failed-read --files-from=- 2>/dev/null | tar -C "$root" --extract

mkdir -p "$root"/usr/local/{bin,lib/node_modules} "$root/etc/ssl/certs"
cp -L node_modules/.bin/node "$root/usr/local/bin/node"
cp -rL "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$root/usr/local/lib/node_modules/npm"
for program in npm npx; do ln -s "../lib/node_modules/npm/bin/$program-cli.js" "$root/usr/local/bin/$program"; done
# Node finds the certificates here that it would otherwise bring itself, with those of a company's proxy.
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
printf '%s\n' root:x:0:0::/root:/bin/bash postgres:x:999:999::/tmp:/bin/bash >"$root/etc/passwd"
printf '%s\n' root:x:0: postgres:x:999: >"$root/etc/group"
# A new volume takes its owner and mode from here.
install -d -m 1777 "$root/var/lib/postgresql"
tar -C "$root" --create .
