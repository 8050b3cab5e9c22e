import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packPackage } from "./pack-package.ts";

/**
 * Packs the client, installs the tarball into a new folder and returns the folder, which the caller deletes. Works without a
 * network, because the client has no dependencies.
 */
export function installClient(): string {
  const folder = mkdtempSync(join(tmpdir(), "postrider-client-user-"));
  const tarball = packPackage("client", folder);
  const args = ["install", tarball, "--offline", "--no-audit", "--no-fund"];
  execFileSync("npm", args, { cwd: folder, stdio: "pipe" });
  return folder;
}

/** A Node installation on this machine with which tests use the client. */
interface InstalledNode {
  readonly version: string;
  readonly path: string;
}

/** Returns the Node that runs this process, and all other Node installations on the machine from version 20 on. */
export function listNodes(): readonly InstalledNode[] {
  const paths = [process.execPath, "/usr/bin/node", "/usr/local/bin/node"].filter(existsSync);
  return [...new Set(paths.map((path) => realpathSync(path)))]
    .map((path) => ({
      path,
      version: execFileSync(path, ["--version"], { encoding: "utf8" }).trim(),
    }))
    .filter(({ version }) => Number(/^v(\d+)/.exec(version)?.[1]) >= 20);
}

/** Tests start the programs below this folder and not the scripts in `.bin`, which do not forward signals to the programs. */
const OTHER_PROGRAMS = join(import.meta.dirname, "../../e2e/third-party/node_modules");

/** A JavaScript runtime on this machine with which tests use the client. */
interface Runtime {
  readonly name: string;
  readonly path: string;
  /** Command-line arguments before the name of the file. */
  readonly args: readonly string[];
}

function describeProgram(name: string, file: string, args: readonly string[]): Runtime {
  const path = join(OTHER_PROGRAMS, name, file);
  const version = execFileSync(path, ["--version"], { encoding: "utf8" }).match(/\d+(\.\d+)+/);
  return { name: `${name} ${version?.[0]}`, path, args };
}

/** Returns Deno and Bun for `npm run test:third-party`, which installs them, and every Node on this machine for other tests. */
export function listRuntimes(): readonly Runtime[] {
  if (process.env["POSTRIDER_CLIENT_RUNTIMES"] === "deno, bun")
    return [
      describeProgram("deno", "deno", ["run", "--allow-all"]),
      describeProgram("bun", "bin/bun.exe", []),
    ];
  return listNodes().map(({ version, path }) => ({ name: `Node ${version}`, path, args: [] }));
}
