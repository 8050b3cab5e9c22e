import type { UnknownCall, Verdict } from "@postrider/platforms/publishing/verdict";
import { findOwnedIds } from "#src/publishing/db/attempts.ts";
import { storeHandles } from "#src/publishing/db/handles.ts";
import { release, report, toPublication, type Work, type Workshop } from "./work.ts";

/** One look at a platform takes no longer. */
const LOOK_TIMEOUT_MS = 60_000;
/** Before a look is tried again that failed on our side. */
const AGAIN_MS = 60_000;

/** What was sent by calls that the data does not know of cannot be looked for on this platform. */
const NOBODY_KNOWS: Verdict = {
  kind: "cannot_tell",
  message: "the data was restored, and the platform cannot say whether it was published before",
};

function toUnknownCall(shop: Workshop, { task }: Work): UnknownCall {
  const { sql, settings } = shop.deps;
  const calledAt = task.firstUnknownAt ?? task.calledAt;
  if (calledAt === null || task.callUntil === null)
    throw new Error("a call with an unknown outcome that never began");
  return {
    calledAt,
    callUntil: task.callUntil,
    looks: task.looks,
    now: task.claimedAt,
    timeScale: settings.reconcileTimeScale,
    // A call in doubt carries its reason.
    isPending: task.errorCode === null,
    isOwned: (externalIds) => findOwnedIds(sql, task.accountId, externalIds),
  };
}

/** Looks for a call with an unknown outcome on the platform, and lets the task go on from what is seen. */
export async function reconcileTarget(shop: Workshop, work: Work): Promise<void> {
  const { task, connector, interrupted } = work;
  const verdict = await look(shop, work);
  if (interrupted.aborted) return await release(shop, [task], 0);
  // Before the verdict, so that no later try can meet what cannot be used again.
  if (verdict.kind === "absent" && verdict.handles !== undefined) {
    const sealed = shop.deps.seals.seal(task, verdict.handles);
    if (!(await storeHandles(shop.deps.sql, task, sealed))) return;
  }
  const { maxResends } = connector;
  await report(shop, task, { kind: "looked", fence: task.fence, verdict, maxResends });
}

async function look(shop: Workshop, work: Work): Promise<Verdict> {
  const { task, connector, interrupted } = work;
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(LOOK_TIMEOUT_MS)]);
  try {
    const call = toUnknownCall(shop, work);
    const publication = toPublication(shop, work);
    const { handles } = task;
    if (!task.isRestored) return await connector.reconcile(publication, handles, call, signal);
    return (await connector.findMatchingPost?.(publication, handles, call, signal)) ?? NOBODY_KNOWS;
  } catch (error) {
    const { logger, settings } = shop.deps;
    logger.warn({ err: error, targetId: task.targetId }, "a look failed");
    const afterMs = AGAIN_MS * settings.reconcileTimeScale;
    return { kind: "look_again", afterMs, isIncomplete: true };
  }
}
