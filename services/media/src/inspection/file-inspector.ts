import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { InspectFile, InspectionResult } from "#src/domain/inspected-media.ts";
import type { RenderImages } from "#src/domain/rendition-plan.ts";
import { writeNewFile } from "#src/storage/write-new-file.ts";
import { InspectionPool } from "./inspection-pool.ts";
import type { InspectionEnd, InspectionLimits } from "./inspection-protocol.ts";
import { RemoteInspections } from "./remote-inspections.ts";
import { renderImages } from "./render-images.ts";

const MAX_WAITING = 100;
const DEFAULT_MEMORY_BYTES = 256_000_000;
const DEFAULT_TIME_MS = 4_000;
const CHUNK_BYTES = 256 * 1024;

export interface FileInspectorOptions {
  readonly limits: Pick<InspectionLimits, "maxImageBytes" | "maxVideoBytes"> &
    Partial<InspectionLimits>;
  readonly logger: Logger;
  /** Address of the inspector. Without it, child processes of this process inspect the files. */
  readonly inspectorUrl?: string | undefined;
  /**
   * Maximum number of files that wait for an inspection process. Further files get the result `unavailable`. Only tests lower it.
   */
  readonly maxWaiting?: number;
}

/**
 * Creates the functions that inspect media files and make renditions, each in a process of its own. A file that exceeds a limit is
 * rejected. The result is `unavailable` when too many files wait, when the inspector cannot be reached, and after
 * disposal.
 */
export function createFileInspector(
  options: FileInspectorOptions,
): { readonly inspect: InspectFile; readonly render: RenderImages } & AsyncDisposable {
  const { logger, inspectorUrl, maxWaiting = MAX_WAITING } = options;
  const limits: InspectionLimits = {
    memoryBytes: DEFAULT_MEMORY_BYTES,
    timeMs: DEFAULT_TIME_MS,
    ...options.limits,
  };
  const runner =
    inspectorUrl === undefined
      ? new InspectionPool({ maxWaiting })
      : new RemoteInspections({ url: inspectorUrl, maxWaiting });
  return {
    inspect: async (path, declared) => {
      const target = `${path}.delivery`;
      const end = await runner.run({
        request: { declared, limits },
        open: () => createReadStream(path, { highWaterMark: CHUNK_BYTES }),
        receive: async (_end, { content }) => await writeNewFile(target, content),
      });
      if (end.kind !== "done") await rm(target, { force: true });
      return toResult(end, { target, limits, logger });
    },
    render: async (job) => await renderImages(runner, job, { limits, logger }),
    [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
  };
}

function toResult(
  end: InspectionEnd,
  {
    target,
    limits,
    logger,
  }: { readonly target: string; readonly limits: InspectionLimits; readonly logger: Logger },
): InspectionResult {
  if (end.kind === "full") return { kind: "unavailable" };
  if (end.kind === "done") return withPath(end.result, target);
  if (end.kind !== "exhausted") {
    const reason = reasonOf(end);
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

function reasonOf(end: InspectionEnd): string {
  if (end.kind === "failed") return end.message;
  return end.kind === "rendered"
    ? "the inspector answered another question"
    : "the inspection process ended";
}

/** Returns the result of an inspection, with the path at which this process has written the file that platforms receive. */
function withPath(result: InspectionResult, path: string): InspectionResult {
  if (result.kind !== "accepted" || result.media.delivery.kind !== "rewritten") return result;
  return {
    kind: "accepted",
    media: { ...result.media, delivery: { ...result.media.delivery, path } },
  };
}
