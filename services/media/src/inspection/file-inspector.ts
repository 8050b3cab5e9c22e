import { rm } from "node:fs/promises";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { InspectFile, InspectionResult } from "#src/domain/inspected-media.ts";
import { InspectionPool, type PooledEnd } from "./inspection-pool.ts";
import {
  deliveryPathOf,
  type InspectionLimits,
  type InspectionRequest,
} from "./inspection-protocol.ts";

const MAX_WAITING = 100;
const DEFAULT_MEMORY_BYTES = 256_000_000;
const DEFAULT_TIME_MS = 4_000;

export interface FileInspectorOptions {
  readonly limits: Pick<InspectionLimits, "maxImageBytes" | "maxVideoBytes"> &
    Partial<InspectionLimits>;
  readonly logger: Logger;
  /** Maximum number of files that wait for an inspection process; only tests lower it. */
  readonly maxWaiting?: number;
}

/**
 * Creates the function that inspects media files in child processes. A file that exceeds a limit is rejected, and its
 * process is replaced. The result is `unavailable` when too many files wait, and after disposal.
 */
export function createFileInspector(
  options: FileInspectorOptions,
): { readonly inspect: InspectFile } & AsyncDisposable {
  const { logger, maxWaiting = MAX_WAITING } = options;
  const limits: InspectionLimits = {
    memoryBytes: DEFAULT_MEMORY_BYTES,
    timeMs: DEFAULT_TIME_MS,
    ...options.limits,
  };
  const pool = new InspectionPool({ maxWaiting });
  return {
    inspect: async (path, declared) => {
      const request = { path, declared, limits };
      return await toResult(request, await pool.run(request), logger);
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

async function toResult(
  { path, limits }: InspectionRequest,
  end: PooledEnd,
  logger: Logger,
): Promise<InspectionResult> {
  if (end.kind === "full") return { kind: "unavailable" };
  if (!hasDeliveryFile(end)) await rm(deliveryPathOf(path), { force: true });
  if (end.kind === "done") return end.result;
  if (end.kind !== "exhausted") {
    const reason = end.kind === "failed" ? end.message : "the inspection process ended";
    logger.warn(
      { reason, step: "inspect" },
      "a file could not be inspected; its upload stays pending, or its import fails",
    );
    return { kind: "unavailable" };
  }
  logger.warn(
    { reason: end.what, step: "inspect" },
    "a file was rejected because its inspection exceeded a limit of time or memory, or crashed",
  );
  const message = `The file cannot be read within the limits of ${end.what === "time" ? "time" : "memory"}.`;
  const limit = end.what === "memory" ? { limit: limits.memoryBytes } : {};
  return { kind: "rejected", violation: { code: "media_unreadable", message, ...limit } };
}

function hasDeliveryFile(end: PooledEnd): boolean {
  if (end.kind !== "done" || end.result.kind !== "accepted") return false;
  return end.result.media.delivery.kind === "rewritten";
}
