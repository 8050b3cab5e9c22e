import { once } from "node:events";
import { startChild, toPart } from "#src/processes/start-child.ts";
import type { RunningPart } from "#src/processes/supervised-part.ts";

export interface NodeProcessOptions {
  readonly script: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
  readonly graceMs: number;
}

/**
 * Flags of Node for each service; the image and the `start` scripts of the services have the same
 * ones. `bench/README.md` has the measurements.
 *
 * - The young generation of V8 has 4 MB. With V8's default of 16 MB an idle stack uses 100 MB more;
 *   with 2 MB V8 collects it almost twice as often, and each time copies the objects of all
 *   requests that are being answered.
 * - V8 collects the old generation when it has doubled since the last collection. With V8's
 *   default, which lets it grow fourfold, the delivery service used 30 MB and kept 110 MB of
 *   garbage, and the buffers that this garbage held.
 */
export const NODE_FLAGS: readonly string[] = [
  "--max-semi-space-size=4",
  "--heap-growing-percent=100",
];

/** Without a shell or wrapper, so that the pid is that of the process on the port. */
export async function startNodeProcess(options: NodeProcessOptions): Promise<RunningPart> {
  const { script, graceMs, ...others } = options;
  const started = startChild(process.execPath, [...NODE_FLAGS, script], others);
  await once(started.child, "spawn");
  return toPart(started, ["SIGTERM", graceMs], ["SIGKILL", 1_000]);
}
