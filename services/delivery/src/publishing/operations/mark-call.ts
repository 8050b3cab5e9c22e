import type { MarkRequest, Unmarked } from "#src/publishing/db/marks.ts";
import { hashContent } from "#src/publishing/domain/visible-call.ts";
import {
  DONE,
  giveUp,
  learned,
  type PublishContext,
  type TaskInputs,
  type WorkEnd,
} from "./publish-context.ts";
import type { MarkResult } from "./visible-calls.ts";

/** Average time in milliseconds that a publish task waits for another open publishing call of its account. */
const BUSY_MS = 250;

function toCallKey({ task, content, connector }: TaskInputs) {
  const { targetId, generation, fence } = task;
  const { title, media } = content;
  const text = connector.comparableText?.(content.text) ?? content.text;
  const contentHash = hashContent({ text, title, mediaIds: media.map(({ id }) => id) });
  return { targetId, generation, fence, contentHash };
}

/**
 * Records that the publishing call begins. If the database does not answer, the call may be recorded as begun, but it is not
 * sent. This is reported as an event, because otherwise the outcome of the call would later count as unknown.
 */
export async function markCall(
  { deps, marker }: PublishContext,
  inputs: TaskInputs,
  call: Pick<MarkRequest, "callMs" | "isForeignHost">,
): Promise<MarkResult | Extract<WorkEnd, { kind: "learned" }>> {
  const { task, attemptNumber } = inputs;
  try {
    return await marker.mark({ ...toCallKey(inputs), ...call });
  } catch (error) {
    deps.logger.warn(
      { err: error, targetId: task.targetId },
      "the database did not answer whether a publishing call may begin; the call is not sent, and the target is tried again",
    );
    const { fence, callNumber } = task;
    return learned(task, attemptNumber, {
      kind: "mark_lost",
      fence,
      callNumber: callNumber + 1,
      isForeignHost: call.isForeignHost ?? false,
    });
  }
}

/** Decides how the work on a publish task ends whose publishing call may not begin. */
export function onUnmarked(
  { deps }: PublishContext,
  { task, attemptNumber }: TaskInputs,
  reason: Unmarked,
): WorkEnd {
  switch (reason) {
    case "lost":
      return DONE;
    case "busy":
    case "held":
      return { kind: "release", delayMs: BUSY_MS * (1 + deps.random()) };
    case "platform_held":
      return learned(task, attemptNumber, { kind: "platform_held", fence: task.fence });
    case "missed":
      return giveUp(task, attemptNumber, "missed");
    case "superfluous":
      return learned(task, attemptNumber, { kind: "not_wanted", fence: task.fence });
  }
}
