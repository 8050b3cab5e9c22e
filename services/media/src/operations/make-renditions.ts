import { createHash } from "node:crypto";
import { newId } from "@postrider/shared/ids";
import { TRANSFER_RATE } from "@postrider/shared/limits/minimum-rate";
import type { Sql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createCounter, createDurationHistogram } from "@postrider/shared/telemetry/metrics";
import {
  markMade,
  markRefused,
  type RenditionFile,
  type RenditionLease,
} from "#src/db/renditions.ts";
import { objectKey } from "#src/domain/object-keys.ts";
import { patchBytes } from "#src/domain/patched-bytes.ts";
import {
  describePlan,
  type RenderedImage,
  type RenderEnd,
  type RenderImages,
  type RenditionPlan,
  sortForRendering,
} from "#src/domain/rendition-plan.ts";
import { type StoredFile, type StoredMedia, toRenderSource } from "#src/domain/stored-media.ts";
import { atMinimumRate } from "#src/storage/at-minimum-rate.ts";
import { discardObjects, type ObjectStore } from "#src/storage/object-store.ts";

const renditionsTotal = createCounter(
  "media_renditions_total",
  "Renditions of images for platforms, by result.",
  ["result"],
  [{ result: "made" }, { result: "refused" }],
);

const renderSeconds = createDurationHistogram(
  "media_render_seconds",
  "Duration of making the renditions of one image, with the wait for a process.",
  [],
);

async function measureRender<T>(work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await work();
  } finally {
    renderSeconds.observe({}, (performance.now() - startedMs) / 1000);
  }
}

export interface MakingDependencies {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly render: RenderImages;
  readonly logger: Logger;
}

export interface Making {
  readonly media: StoredMedia;
  readonly lease: RenditionLease;
  readonly plans: readonly RenditionPlan[];
  /** Aborts when the process stops or has lost the lease. */
  readonly signal: AbortSignal;
}

type Files = Map<number, RenditionFile>;

/**
 * Stores renditions or why they cannot be made. All are made in one process, so that the image is
 * read once; if it exceeds a limit, each is made in a process of its own.
 *
 * @returns `unavailable` when a later attempt may succeed.
 * @throws When the database or the object store fails.
 */
export async function makeRenditions(
  deps: MakingDependencies,
  making: Making,
): Promise<"settled" | "unavailable"> {
  const source = toRenderSource(making.media);
  if (source === undefined) return "unavailable";
  const end = await makeAtOnce(deps, making, source);
  if (end.kind === "rendered") return "settled";
  if (end.kind === "unavailable") return "unavailable";
  const { lease, plans } = making;
  const [only] = plans;
  if (plans.length === 1 && only !== undefined) {
    await markRefused(deps.sql, lease, describePlan(only), "too_demanding");
    renditionsTotal.inc({ result: "refused" });
    return "settled";
  }
  for (const plan of plans) {
    const one = await makeRenditions(deps, { ...making, plans: [plan] });
    if (one === "unavailable") return one;
  }
  return "settled";
}

async function makeAtOnce(
  deps: MakingDependencies,
  making: Making,
  source: StoredFile,
): Promise<RenderEnd> {
  const { store } = deps;
  const { signal } = making;
  const plans = sortForRendering(making.plans);
  const files: Files = new Map();
  try {
    const end = await measureRender(() =>
      deps.render({
        workspaceId: making.media.workspaceId,
        contentType: source.contentType,
        plans,
        open: () => readObject(store, source, signal),
        receive: async (index, rendered, content) => {
          files.set(index, await storeFile(store, rendered, content));
        },
      }),
    );
    signal.throwIfAborted();
    failpoint("media.renditions-stored");
    if (end.kind === "rendered") await record(deps, { ...making, plans }, end, files);
    return end;
  } finally {
    // What is left in `files` is named by no row.
    await discardObjects(
      store,
      [...files.values()].map(({ objectKey }) => objectKey),
    );
  }
}

/** Removes from `files` each file that a row may name afterwards. */
async function record(
  { sql, logger }: MakingDependencies,
  { media, lease, plans }: Making,
  { outcomes }: Extract<RenderEnd, { kind: "rendered" }>,
  files: Files,
): Promise<void> {
  for (const [index, plan] of plans.entries()) {
    const [outcome, file] = [outcomes[index], files.get(index)];
    if (outcome?.kind === "made" && file !== undefined) {
      // When the answer of the database is lost, the row may name the file, so it is kept;
      // remove-orphans deletes it otherwise.
      files.delete(index);
      if (!(await markMade(sql, lease, describePlan(plan), file))) files.set(index, file);
      renditionsTotal.inc({ result: "made" });
    } else if (outcome?.kind === "refused") {
      await markRefused(sql, lease, describePlan(plan), outcome.refusal);
      renditionsTotal.inc({ result: "refused" });
      const { workspaceId, id: mediaId } = media;
      logger.info(
        { workspaceId, mediaId, reason: outcome.refusal, step: "render" },
        "a requested rendition cannot be made from an image, so it is refused; the field `reason` says why",
      );
    }
  }
}

async function* readObject(
  store: ObjectStore,
  { key, patches }: StoredFile,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const object = await store.open(key, undefined, signal);
  if (object === undefined) throw new Error("the object of the media is not in the object store");
  yield* patchBytes(atMinimumRate(object.content, TRANSFER_RATE), 0, patches);
}

async function storeFile(
  store: ObjectStore,
  rendered: RenderedImage,
  content: AsyncIterable<Uint8Array>,
): Promise<RenditionFile> {
  const hash = createHash("sha256");
  const hashed = async function* () {
    for await (const chunk of content) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const key = objectKey(newId());
  await store.put(key, hashed());
  return { ...rendered, objectKey: key, sha256: hash.digest("hex") };
}
