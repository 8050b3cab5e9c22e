import { copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ImageStore } from "./image-store.ts";
import { execute } from "./tools.ts";

/** What a build runs beside Node and npm. */
const PACKAGES = "bash,coreutils,dash,findutils,grep,libc-bin,libstdc++6,sed";
const NPM = "npm@11";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

const CONTAINERFILE = `FROM scratch
ADD rootfs.tar /
COPY files /
ENV PATH=/usr/local/bin:/usr/bin:/bin NODE_EXTRA_CA_CERTS=${CERTIFICATES}
`;

/**
 * Makes an image that has of node:24-slim what our build uses, from the packages of Debian and npm: a machine without
 * access to a registry of images can build ours with it.
 *
 * @returns Its name, for the argument NODE_IMAGE.
 */
export async function buildBaseImage(store: ImageStore, signal: AbortSignal): Promise<string> {
  const name = "localhost/node:24-check";
  const context = join(store.folder, "base");
  const local = join(context, "files/usr/local");
  const certificates = join(context, "files/etc/ssl/certs");
  for (const folder of [join(local, "bin"), certificates]) mkdirSync(folder, { recursive: true });
  // Unpacked and not configured: half a minute instead of three.
  const debian = ["--quiet", "--variant=extract", `--include=${PACKAGES}`, "bookworm"];
  const npm = ["install", "--global", "--silent", "--no-audit", "--no-fund", `--prefix=${local}`];
  await Promise.all([
    execute("mmdebstrap", [...debian, join(context, "rootfs.tar")], { signal }),
    execute("npm", [...npm, NPM], { signal }),
  ]);
  copyFileSync(process.execPath, join(local, "bin/node"));
  // Behind a proxy that opens TLS packages come only with the machine's own certificates.
  cpSync(CERTIFICATES, join(context, "files", CERTIFICATES), { dereference: true });
  writeFileSync(join(context, "Containerfile"), CONTAINERFILE);
  await store.build(["--tag", name, "--file", join(context, "Containerfile"), context]);
  return name;
}
