import type { SendGuard } from "@postrider/platforms/http/send-once";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { Failure, Outcome } from "@postrider/platforms/publishing/outcome";
import type { Publication } from "@postrider/platforms/publishing/publication";
import type { PrepareStep } from "@postrider/platforms/publishing/steps";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { SCALE, STEP_DEADLINE_MS } from "./faults.ts";
import type { Round } from "./rounds.ts";
import type { Stage } from "./stage.ts";

/** How long a rate limit holds if the platform does not say how long to wait. */
const NO_WAIT_NAMED_MS = 60_000;

/**
 * Multiplies the waits that a platform requests by the square of `SCALE`, the factor for all times
 * of the fault matrix.
 */
function shorten<T extends object>(outcome: T): T {
  const { retryAfterMs, limitedForMs, isLimit } = outcome as Partial<
    Extract<Failure, { kind: "retryable" }> & { limitedForMs: number }
  >;
  const waitMs = retryAfterMs ?? (isLimit === true ? NO_WAIT_NAMED_MS : undefined);
  return {
    ...outcome,
    ...(waitMs === undefined ? {} : { retryAfterMs: Math.round(waitMs * SCALE * SCALE) }),
    ...(limitedForMs === undefined
      ? {}
      : { limitedForMs: Math.round(limitedForMs * SCALE * SCALE) }),
  };
}

/** Waits until another worker has taken over the publish task. */
async function untilTakenOver(sql: Sql, { target }: Round): Promise<void> {
  await eventually(async () => {
    const rows = await sql<{ status: string }[]>`
      select status
      from publish_tasks
      where target_id = ${target.targetId}`;
    return rows[0]?.status !== "calling";
  });
}

/** Rounds of the fault matrix whose worker was delayed already. */
const held = new WeakSet<Round>();

/**
 * Delays a worker before or after its publishing call until another worker has taken over the task.
 */
async function holdUp(
  sql: Sql,
  round: Round | undefined,
  send: () => Promise<Outcome>,
): Promise<Outcome> {
  if (round?.fault.by !== "held" || held.has(round)) return await send();
  held.add(round);
  if (round.fault.name === "held before the send") {
    await untilTakenOver(sql, round);
    return await send();
  }
  const outcome = await send();
  await untilTakenOver(sql, round);
  return outcome;
}

function withDeadline(step: PrepareStep, find: (publication: Publication) => boolean): PrepareStep {
  return {
    name: step.name,
    isDone: (handles) => step.isDone(handles),
    run: async (publication, handles, signal) => {
      const isShort = find(publication);
      const own = isShort ? [AbortSignal.timeout(STEP_DEADLINE_MS)] : [];
      return shorten(await step.run(publication, handles, AbortSignal.any([signal, ...own])));
    },
  };
}

/**
 * Wraps the real connector of a platform so that its times are scaled. It delays workers where the
 * fault requires a delay.
 */
export function scaled(
  connector: PublishingConnector,
  stage: Stage,
  sql: Sql,
): PublishingConnector {
  const roundOf = ({ targetId }: Publication) => stage.rounds.get(targetId);
  const isDelayed = (publication: Publication) => roundOf(publication)?.fault.isDelay === true;
  return {
    ...connector,
    steps: (publication) =>
      connector.steps(publication).map((step) => withDeadline(step, isDelayed)),
    publish: async (publication, handles, guard: SendGuard) =>
      shorten(
        await holdUp(sql, roundOf(publication), () =>
          connector.publish(publication, handles, guard),
        ),
      ),
  };
}
