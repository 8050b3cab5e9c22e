import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { endChild } from "#src/processes/child-exit.ts";
import { guardChild } from "#src/processes/guardian.ts";
import type { RunningPart } from "#src/processes/running-part.ts";

/** Options for the start of a Postrider process. */
export interface NodeProcessOptions {
  readonly script: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** File to which the output of the process is appended. */
  readonly logFile: string;
  /** How long the process may take to stop after SIGTERM before it is killed. */
  readonly graceMs: number;
}

/**
 * Flags of Node for each service; the image and the `start` scripts of the services have the same ones. `bench/README.md`
 * has the measurements.
 *
 * - The young generation of V8 has 4 MB. With V8's default of 16 MB an idle stack uses 100 MB more; with 2 MB V8 collects
 *   it almost twice as often, and each time copies the objects of all requests that are being answered.
 * - V8 collects the old generation when it has doubled since the last collection. With V8's default, which lets it grow
 *   fourfold, the delivery service used 30 MB and kept 110 MB of garbage, and the buffers that this garbage held.
 */
export const NODE_FLAGS: readonly string[] = [
  "--max-semi-space-size=4",
  "--heap-growing-percent=100",
];

/**
 * Starts a service with the Node of this process, without a shell or wrapper, so that the pid belongs to the process
 * that listens on the port.
 */
export function startNodeProcess(options: NodeProcessOptions): Promise<RunningPart> {
  const log = openSync(options.logFile, "a", 0o600);
  const args = [...NODE_FLAGS, "--enable-source-maps", options.script];
  const child = spawn(process.execPath, args, {
    cwd: options.cwd,
    env: options.env,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => {
      const exited = guardChild(child, "TERM");
      resolve({
        pid: child.pid ?? 0,
        exited,
        async [Symbol.asyncDispose]() {
          await endChild(child, [
            ["SIGTERM", options.graceMs],
            ["SIGKILL", 1_000],
          ]);
          await exited;
        },
      });
    });
  });
}
