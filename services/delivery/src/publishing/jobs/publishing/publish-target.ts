import type { SendGuard } from "@postrider/platforms/http/send-once";
import type { Handles } from "@postrider/platforms/publishing/handles";
import type { Failure, Outcome } from "@postrider/platforms/publishing/outcome";
import type { Publication } from "@postrider/platforms/publishing/publication";
import { visibleCallTime } from "@postrider/platforms/publishing/visible-call-time";
import { failpoint } from "@postrider/shared/process/failpoints";
import { hashContent } from "#src/publishing/domain/content-hash.ts";
import { createSendGuard } from "#src/publishing/domain/send-guard.ts";
import type { MarkResult } from "./call-marker.ts";
import { carry, isFailure, prepare, type Carried } from "./prepare.ts";
import { renewRefused } from "./renew-refused.ts";
import { giveUp, release, report, toPublication, type Work, type Workshop } from "./work.ts";

/** The end of a try: everything is written, or the platform refused the token and the same attempt goes on with another. */
type Try =
  | { readonly kind: "done" }
  | { readonly kind: "token_refused"; readonly message: string; readonly handles: Handles };

const DONE: Try = { kind: "done" };
/** Another call of the account has to end first; it takes about as long as this. */
const BUSY_MS = 250;

/** Works one claimed task up to and including its visible call. */
export async function publishTarget(shop: Workshop, work: Work): Promise<void> {
  const first = await tryOnce(shop, work);
  if (first.kind === "done") return;
  const credential = await renewRefused(shop, work, first.message);
  if (credential === undefined) return;
  const again = { ...work, credential, task: { ...work.task, handles: first.handles } };
  const second = await tryOnce(shop, again);
  if (second.kind === "token_refused")
    await renewRefused(shop, again, second.message, { isLast: true });
}

async function tryOnce(shop: Workshop, work: Work): Promise<Try> {
  const publication = toPublication(shop, work);
  const prepared = await prepare(shop, work, publication);
  if (prepared === undefined) return DONE;
  const { handles, failure } = prepared;
  if (failure !== undefined) return await onStepFailure(shop, work, failure, handles);
  const carried = await carry(shop, work, publication, handles);
  if (carried === undefined) return DONE;
  if (isFailure(carried)) return await onStepFailure(shop, work, carried, handles);
  await using here = carried;
  if (work.interrupted.aborted) {
    await release(shop, [work.task], 0);
    return DONE;
  }
  return await call(shop, work, here, handles);
}

async function onStepFailure(
  shop: Workshop,
  work: Work,
  failure: Failure,
  handles: Handles,
): Promise<Try> {
  if (failure.kind === "token_refused") return { ...failure, handles };
  const { task, attemptNumber } = work;
  await report(shop, task, { kind: "step_failed", fence: task.fence, failure }, attemptNumber);
  return DONE;
}

async function call(
  shop: Workshop,
  work: Work,
  { publication, bytes }: Carried,
  handles: Handles,
): Promise<Try> {
  const { task, attemptNumber, content } = work;
  const { settings, clocks } = shop.deps;
  failpoint("delivery.before-mark");
  // The clocks are read first: whatever delays the mark or what comes after it counts against the call.
  const callMs = visibleCallTime(settings.visibleCallMs, bytes);
  const guard = createSendGuard(clocks, callMs);
  const mark = await shop.marker.mark({
    targetId: task.targetId,
    generation: task.generation,
    fence: task.fence,
    contentHash: hashContent({
      text: content.text,
      title: content.title,
      mediaIds: content.media.map(({ id }) => id),
    }),
    callMs,
  });
  if (typeof mark === "string") {
    await onUnmarked(shop, work, mark);
    return DONE;
  }
  using _inAir = shop.calls.begin(callMs);
  failpoint("delivery.after-mark");
  // A process that stops, or that was held up, begins nothing visible; the task is free again at once.
  const isStale = shop.stopping.aborted || !guard.mayStillSend();
  const outcome = isStale
    ? ({ kind: "not_sent" } as const)
    : await send(shop, work, publication, handles, guard);
  failpoint("delivery.after-call");
  const { callNumber } = mark;
  const after = await report(shop, task, { kind: "called", callNumber, outcome }, attemptNumber);
  const goesOn = after?.status === "working" && after.fence === task.fence;
  return outcome.kind === "token_refused" && goesOn ? { ...outcome, handles } : DONE;
}

async function onUnmarked(
  shop: Workshop,
  work: Work,
  reason: Extract<MarkResult, string>,
): Promise<void> {
  const { task, attemptNumber } = work;
  switch (reason) {
    case "lost":
      return;
    case "busy":
    case "held":
      return await release(shop, [task], BUSY_MS * (1 + shop.deps.random()));
    case "missed":
      return await giveUp(shop, task, "missed", "", attemptNumber);
    case "superfluous":
      await report(shop, task, { kind: "not_wanted", fence: task.fence }, attemptNumber);
  }
}

/**
 * The connector's call, which never throws: what cannot be said about it is unknown. The connector keeps the deadline;
 * an answer that comes after it counts as well, so nothing here stops listening. When it does not come, the end of
 * `calling` is noticed by whoever looks for lost calls.
 */
async function send(
  shop: Workshop,
  work: Work,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  try {
    return await work.connector.publish(publication, handles, guard);
  } catch (error) {
    shop.deps.logger.error({ err: error, targetId: work.task.targetId }, "the call threw");
    return { kind: "unknown", message: "internal error" };
  }
}
