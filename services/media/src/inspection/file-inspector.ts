import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { InspectFile, InspectionResult } from "#src/domain/inspected-media.ts";
import type {
  RenderedImage,
  RenderEnd,
  RenderImages,
  RenderJob,
} from "#src/domain/rendition-plan.ts";
import { writeNewFile } from "#src/storage/write-new-file.ts";
import { InspectionPool } from "./inspection-pool.ts";
import type { InspectionEnd, InspectionLimits, InspectionRunner } from "./inspection-protocol.ts";
import { RemoteInspections } from "./remote-inspections.ts";

/**
 * Splits a stream into files of `lengths` bytes. The caller reads each file to its end before it
 * asks for the next.
 */
function splitFiles(
  content: AsyncIterable<Uint8Array>,
  lengths: readonly number[],
): { readonly next: () => AsyncGenerator<Uint8Array, void> } {
  const chunks = content[Symbol.asyncIterator]();
  const left = lengths.values();
  let rest: Uint8Array = new Uint8Array(0);
  async function* read(length: number): AsyncGenerator<Uint8Array, void> {
    for (let missing = length; missing > 0;) {
      if (rest.length === 0) {
        const next = await chunks.next();
        if (next.done === true) throw new Error("the files are shorter than announced");
        rest = next.value;
      }
      const part = rest.subarray(0, missing);
      rest = rest.subarray(part.length);
      missing -= part.length;
      yield part;
    }
  }
  return { next: () => read(left.next().value ?? 0) };
}

/** The promise never rejects. */
async function renderImages(
  runner: InspectionRunner,
  { contentType, plans, open, receive, workspaceId: owner }: RenderJob,
  { limits, logger }: { readonly limits: InspectionLimits; readonly logger: Logger },
): Promise<RenderEnd> {
  const end = await runner.run({
    request: { kind: "render", owner, contentType, plans, limits },
    open,
    receive: async (found, { content }) => {
      if (!answers(found, plans.length))
        throw new Error("the answer is not one for each rendition");
      const made = listMade(found);
      const files = splitFiles(
        content,
        made.map(({ rendered }) => rendered.bytes),
      );
      for (const { index, rendered } of made) await receive(index, rendered, files.next());
    },
  });
  if (end.kind === "full") return { kind: "unavailable" };
  if (end.kind === "exhausted") {
    logger.warn(
      { reason: end.what, step: "render" },
      "the renditions of an image are not made, because the process that makes them exceeded its limit of time or memory, or crashed",
    );
    return { kind: "exhausted" };
  }
  if (answers(end, plans.length)) return end;
  const reason = end.kind === "failed" ? end.message : "the process ended without an answer";
  logger.warn(
    { reason, step: "render" },
    "renditions of an image could not be made; the caller tries again",
  );
  return { kind: "unavailable" };
}

type Rendered = Extract<InspectionEnd, { kind: "rendered" }>;

function answers(end: InspectionEnd, count: number): end is Rendered {
  return end.kind === "rendered" && end.outcomes.length === count;
}

function listMade({ outcomes }: Rendered): { index: number; rendered: RenderedImage }[] {
  return outcomes.flatMap((outcome, index) => {
    if (outcome.kind === "refused") return [];
    const { kind: _kind, ...rendered } = outcome;
    return [{ index, rendered }];
  });
}

const MAX_WAITING = 100;
const DEFAULT_MEMORY_BYTES = 256_000_000;
const DEFAULT_TIME_MS = 4_000;
const CHUNK_BYTES = 256 * 1024;

export interface FileInspectorOptions {
  readonly limits: Pick<InspectionLimits, "maxImageBytes" | "maxVideoBytes"> &
    Partial<InspectionLimits>;
  readonly logger: Logger;
  readonly inspectorUrl?: string | undefined;
  /** Further files get the result `unavailable`. Only tests lower it. */
  readonly maxWaiting?: number;
}

/**
 * Inspects files and makes renditions, each in a process of its own. A file that exceeds a limit is
 * rejected. `unavailable`: too many files wait, the inspector cannot be reached, or this is
 * disposed.
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
    inspect: async (path, declared, owner) => {
      const target = `${path}.delivery`;
      const end = await runner.run({
        request: { owner, declared, limits },
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

/** Adds the path at which this process has written the file that platforms receive. */
function withPath(result: InspectionResult, path: string): InspectionResult {
  if (result.kind !== "accepted" || result.media.delivery.kind !== "rewritten") return result;
  return {
    kind: "accepted",
    media: { ...result.media, delivery: { ...result.media.delivery, path } },
  };
}
