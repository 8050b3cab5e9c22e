import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { listNodes } from "./install-client.ts";

/** The programs themselves, because a signal to a command in `.bin` does not reach the program that it starts. */
const OTHER_PROGRAMS = join(import.meta.dirname, "../../e2e/third-party/node_modules");

/** A program on this machine that runs JavaScript files, with which tests use the client. */
interface Runtime {
  readonly name: string;
  readonly path: string;
  /** What stands on the command line before the file. */
  readonly args: readonly string[];
}

function describeProgram(name: string, file: string, args: readonly string[]): Runtime {
  const path = join(OTHER_PROGRAMS, name, file);
  const version = execFileSync(path, ["--version"], { encoding: "utf8" }).match(/\d+(\.\d+)+/);
  return { name: `${name} ${version?.[0]}`, path, args };
}

/** Returns Deno and Bun, which `npm run test:third-party` installs, for its tests; every Node on this machine for others. */
export function listRuntimes(): readonly Runtime[] {
  if (process.env["POSTRIDER_CLIENT_RUNTIMES"] === "deno, bun")
    return [
      describeProgram("deno", "deno", ["run", "--allow-all"]),
      describeProgram("bun", "bin/bun.exe", []),
    ];
  return listNodes().map(({ version, path }) => ({ name: `Node ${version}`, path, args: [] }));
}
