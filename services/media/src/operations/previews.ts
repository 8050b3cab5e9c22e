import { unavailable } from "@postrider/shared/errors";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { Sql } from "@postrider/shared/postgres";
import { listRenditions } from "#src/db/renditions.ts";
import { previewOf } from "#src/domain/preview.ts";
import {
  describePlan,
  type RenditionPlan,
  toStoredRenditions,
} from "#src/domain/rendition-plan.ts";
import {
  type StoredFile,
  type StoredMedia,
  toRenditionFile,
  toStoredFile,
} from "#src/domain/stored-media.ts";
import type { Renditions } from "./renditions.ts";

/** The gateway waits 10 s for the beginning of an answer. */
const WAIT_MS = 8_000;
/** One after the other: publishing needs the same processes, and must find one of them free. */
const TURNS = { total: 1, maxWaiting: Infinity };
/** One request of a workspace waits for a turn at a time, so that the workspaces take turns. */
const OWNERS = {
  total: Infinity,
  perKey: 1,
  maxWaiting: 500,
  maxWaitingPerShare: 100,
  maxWaitMs: WAIT_MS,
};

export type FindPreview = (media: StoredMedia) => Promise<StoredFile | undefined>;

/**
 * Finds the small picture of ready media, and makes it when it is asked for the first time. It is a
 * rendition as platforms receive them, so a crash leaves nothing, and it is deleted with its media.
 * Undefined for videos, and for images of which no rendition can be made.
 */
export function createPreviews({
  sql,
  renditions,
}: {
  readonly sql: Sql;
  readonly renditions: Pick<Renditions, "prepare">;
}): FindPreview {
  const turns = new Semaphore(TURNS);
  const owners = new Semaphore(OWNERS);
  const make = async (media: StoredMedia, plan: RenditionPlan, endsAt: number) => {
    using _own = await owners.acquire({ key: media.workspaceId });
    using _turn = await turns.acquire();
    if (performance.now() >= endsAt) throw unavailable();
    return await renditions.prepare(media, [plan], endsAt);
  };
  return async (media) => {
    const plan = previewOf(media);
    if (plan === undefined || plan === "delivery") return plan && toStoredFile(media, plan);
    const { workspaceId, id: mediaId } = media;
    const endsAt = performance.now() + WAIT_MS;
    const text = describePlan(plan);
    const known = await listRenditions(sql, { workspaceId, mediaId, plans: [text] });
    const found = toStoredRenditions(known).get(text);
    const preview = found ?? (await make(media, plan, endsAt)).get(text);
    return preview?.kind === "made" ? toRenditionFile(preview) : undefined;
  };
}
