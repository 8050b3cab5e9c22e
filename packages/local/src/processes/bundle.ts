import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { isBundleCurrent } from "@postrider/shared/process/bundle-inputs";

const WRITER = join(import.meta.dirname, "write-bundle.ts");
const run = promisify(execFile);
const unfinished = new Map<string, Promise<void>>();
let last = Promise.resolve();

/**
 * Made unless it exists and no module has changed. A bundle starts in half the processor time: Node
 * neither finds nor reads 600 modules, nor strips types.
 */
export async function bundle(folder: string): Promise<string> {
  const output = join(folder, "dist");
  if (!isBundleCurrent(join(output, "inputs.json"))) {
    // The replicas of a service, which start at the same time, share one bundle.
    const writing = unfinished.get(folder) ?? write(folder);
    unfinished.set(folder, writing);
    await writing.finally(() => unfinished.delete(folder));
  }
  return join(output, "main.js");
}

/**
 * In a process of its own, one at a time: rolldown takes 600 MB and gives none of it back, 1.7 GB
 * for all services, which a small server does not have.
 */
function write(folder: string): Promise<void> {
  const writing = last.then(async () => {
    await run(process.execPath, [WRITER, folder]);
  });
  last = writing.catch(() => undefined);
  return writing;
}
