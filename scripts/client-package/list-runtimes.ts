import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packPackage } from "./pack-package.ts";

/**
 * Into a new folder, which the caller deletes. Needs no network: the client has no dependencies.
 */
export function installClient(): string {
  const folder = mkdtempSync(join(tmpdir(), "postrider-client-user-"));
  const tarball = packPackage("client", folder);
  const args = ["install", tarball, "--offline", "--no-audit", "--no-fund"];
  execFileSync("npm", args, { cwd: folder, stdio: "pipe" });
  return folder;
}

interface InstalledNode {
  readonly version: string;
  readonly path: string;
}

/** Also the Node that runs this process; from version 20 on. */
export function listNodes(): readonly InstalledNode[] {
  const paths = [process.execPath, "/usr/bin/node", "/usr/local/bin/node"].filter(existsSync);
  return [...new Set(paths.map((path) => realpathSync(path)))]
    .map((path) => ({
      path,
      version: execFileSync(path, ["--version"], { encoding: "utf8" }).trim(),
    }))
    .filter(({ version }) => Number(/^v(\d+)/.exec(version)?.[1]) >= 20);
}

/** Programs below this folder, because scripts in `.bin` do not forward signals to them. */
const OTHER_PROGRAMS = join(import.meta.dirname, "../../e2e/third-party/node_modules");

interface Runtime {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
}

function describeProgram(name: string, file: string, args: readonly string[]): Runtime {
  const path = join(OTHER_PROGRAMS, name, file);
  const version = execFileSync(path, ["--version"], { encoding: "utf8" }).match(/\d+(\.\d+)+/);
  return { name: `${name} ${version?.[0]}`, path, args };
}

/** Deno and Bun for `npm run test:third-party`, which installs them; otherwise every Node. */
export function listRuntimes(): readonly Runtime[] {
  if (process.env["POSTRIDER_CLIENT_RUNTIMES"] === "deno, bun")
    return [
      describeProgram("deno", "deno", ["run", "--allow-all"]),
      describeProgram("bun", "bin/bun.exe", []),
    ];
  return listNodes().map(({ version, path }) => ({ name: `Node ${version}`, path, args: [] }));
}
