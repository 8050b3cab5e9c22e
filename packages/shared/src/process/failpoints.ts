import { readFileSync, renameSync, unlinkSync } from "node:fs";
import { join } from "node:path";

let folder: string | undefined;

/** While disabled, `failpoint` costs one comparison. */
export function configureFailpoints(directory: string | undefined): void {
  folder = directory;
}

function takeOrder(name: string): string | undefined {
  if (folder === undefined) return undefined;
  const taken = join(folder, `.${name}.${process.pid}`);
  try {
    renameSync(join(folder, name), taken);
  } catch {
    return undefined;
  }
  const order = readFileSync(taken, "utf8").trim();
  unlinkSync(taken);
  return order;
}

/**
 * A point at which tests stop or kill the process. Tests write a file `<FAILPOINTS_DIR>/<name>`
 * with the word `stop` (SIGSTOP) or `kill` (SIGKILL). The process that succeeds in renaming it
 * stops or is killed, so that a file takes effect exactly once across all processes.
 */
export function failpoint(name: string): void {
  const order = takeOrder(name);
  if (order === "stop") process.kill(process.pid, "SIGSTOP");
  if (order === "kill") process.kill(process.pid, "SIGKILL");
}
