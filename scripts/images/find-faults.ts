import { lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { join, relative } from "node:path";

// This program runs inside a container in which Node is the only program: it may import nothing but
// Node's own modules.

/** Outside of /app: Node, the operator's tool, libraries, and what names the container's user. */
const OUTSIDE_APP =
  /^(usr\/local\/bin\/(node|postrider)|etc\/(passwd|group|nsswitch\.conf|hosts|hostname|resolv\.conf|mtab)|(usr\/)?lib(64)?\/.+\.so[.\d]*|run\/\.containerenv|\.dockerenv|find-faults\.ts)$/;
const SECRET_FILE = /(^|\/)(\.env|\.npmrc|\.netrc|\.git|id_[a-z0-9]+|[^/]+\.(pem|key|p12))$/;
const SECRET_NAME = /SECRET|PASSWORD|TOKEN|_KEYS?$|DATABASE_URL/;
const DEVELOPMENT = /\/\.pnpm\/(typescript|vitest|turbo|oxlint|knip|node-linux-[a-z0-9]+)@/;
const TEST = /^app\/(services|packages)\/(?!.*node_modules).*(\.test\.ts|\/test\/)/;
const SET_ID = 0o6000;
const FOR_OTHERS = 0o004;
/**
 * The kernel protects the memory and environment of processes only if their program cannot be read.
 */
const NODE = "usr/local/bin/node";
const READABLE = 0o444;

/** Folders whose content the kernel provides. */
const VIRTUAL = new Set(["proc", "sys", "dev"]);

/** `canary`: part of a secret of the build, which no file may contain. */
export function findFaults(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  canary: string,
): readonly string[] {
  const variables = Object.keys(env).filter((name) => SECRET_NAME.test(name));
  return [
    ...variables.map((name) => `the environment holds a secret: ${name}`),
    ...listFiles(folder).flatMap((path) => {
      const fault = faultOf(folder, path, canary);
      return fault === undefined ? [] : [`${fault}: ${path}`];
    }),
  ];
}

function faultOf(folder: string, path: string, canary: string): string | undefined {
  const file = join(folder, path);
  const status = lstatSync(file);
  if (!path.startsWith("app/") && !OUTSIDE_APP.test(path)) return "not needed by any service";
  if (SECRET_FILE.test(path)) return "a file for secrets";
  if (DEVELOPMENT.test(`/${path}/`)) return "only needed for development";
  if (TEST.test(path)) return "a test";
  return path === NODE ? nodeFault(status) : contentFault(file, status, canary);
}

function nodeFault({ mode }: Stats): string | undefined {
  return (mode & READABLE) === 0 ? undefined : "can be read";
}

function contentFault(file: string, status: Stats, canary: string): string | undefined {
  if ((status.mode & SET_ID) !== 0) return "runs as another user";
  // Such as compiled code, without which a start takes twice as long.
  if (status.isFile() && (status.mode & FOR_OTHERS) === 0) return "the service cannot read it";
  const hasCanary = status.isFile() && readFileSync(file).includes(canary);
  return hasCanary ? "holds a secret of the build" : undefined;
}

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !VIRTUAL.has(name))
    .flatMap((top) =>
      top.isDirectory()
        ? readdirSync(join(folder, top.name), { recursive: true, withFileTypes: true })
        : [top],
    )
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

if (import.meta.main) {
  const { CANARY = "", ...env } = process.env;
  process.stdout.write(findFaults("/", env, CANARY).join("\n"));
}
