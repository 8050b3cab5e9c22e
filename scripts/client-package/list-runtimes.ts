import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { listNodes } from "./install-client.ts";

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
