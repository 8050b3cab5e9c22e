import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { interruption } from "../../packages/local/src/processes/interruption.ts";
import { root } from "../check/run-command.ts";
import { runProgram } from "../images/run-program.ts";

const COMPOSE_VERSION = "1.5.0";
const cache = join(root, "node_modules/.cache/postrider/compose");
const venv = join(cache, `podman-compose-${COMPOSE_VERSION}`);

/** Aborted when the check is stopped; what it started is still removed. */
export const interrupted: AbortSignal = interruption();

/** The program or file that shows that a Debian package is installed. */
type Wanted = Readonly<Record<string, string>>;

const TO_RUN: Wanted = {
  podman: "podman",
  netavark: "/usr/lib/podman/netavark",
  "aardvark-dns": "/usr/lib/podman/aardvark-dns",
  iptables: "/usr/sbin/iptables",
  runc: "runc",
  openssl: "openssl",
  "python3-venv": "python3",
};

/** Installs podman where it is missing, and podman-compose. Throws what to install first. */
export async function preparePodman(): Promise<void> {
  await install(TO_RUN);
  mkdirSync(cache, { recursive: true });
  if (!existsSync("/run/systemd/system")) useWithoutSystemd();
  if (existsSync(composeProgram)) return;
  await run("python3", "-m", "venv", venv);
  await run(join(venv, "bin/pip"), "install", "--quiet", `podman-compose==${COMPOSE_VERSION}`);
}

export const composeProgram: string = join(venv, "bin/podman-compose");

export async function install(wanted: Wanted): Promise<void> {
  const missing = Object.keys(wanted).filter(
    (name) => findProgram(wanted[name] ?? name) === undefined,
  );
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || findProgram("apt-get") === undefined)
    throw new Error(
      `The compose files are tested with podman on Debian, and these packages are missing: ${missing.join(", ")}. Install them, or run this as root, which installs them.`,
    );
  // Another installation may be running.
  const options = ["-qq", "-o", "DPkg::Lock::Timeout=300"];
  await run("apt-get", "update", ...options);
  const silent = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"] as const;
  await run(...silent, "install", "--yes", ...options, "--no-install-recommends", ...missing);
}

/** The path of a program on PATH, or of a file that exists. */
export function findProgram(name: string): string | undefined {
  const folders = name.startsWith("/") ? [""] : (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/**
 * A machine that is a container itself has neither systemd nor the right to raise limits, and its
 * cgroups may be those of version 1, on which of Debian's two runtimes only runc works.
 */
function useWithoutSystemd(): void {
  const file = join(cache, "containers.conf");
  writeFileSync(
    file,
    `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`,
  );
  Object.assign(process.env, { CONTAINERS_CONF: file, BUILDAH_ISOLATION: "chroot" });
}

export async function podman(...args: readonly string[]): Promise<string> {
  return await run("podman", ...args);
}

/** Throws with the last lines of the output. */
export async function run(program: string, ...args: readonly string[]): Promise<string> {
  return await runProgram(program, args, { signal: interrupted });
}
