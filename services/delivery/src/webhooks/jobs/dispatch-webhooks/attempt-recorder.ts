import type { TransactionSql } from "@postrider/shared/postgres";
import { causeOf } from "@postrider/shared/telemetry/cause";
import { Recorder } from "#src/calls/recorder.ts";
import { recordAttempts, type AttemptResult } from "#src/webhooks/db/attempts.ts";
import type { QueuedDelivery } from "#src/webhooks/db/queue.ts";
import { disableSubscription, type DisabledReceiver } from "#src/webhooks/db/subscriptions.ts";
import type { Attempt } from "#src/webhooks/domain/attempt.ts";
import type { Decision } from "#src/webhooks/domain/receiver-state.ts";
import { disabledEvent, storeEvents } from "#src/webhooks/operations/webhook-events.ts";
import type { DispatcherDeps } from "./dependencies.ts";
import type { LeasedSubscription } from "./leased-subscription.ts";
import { disabledTotal, refusedAttemptsTotal } from "./metrics.ts";

type RecorderDeps = Pick<DispatcherDeps, "sql" | "logger" | "owner" | "nudgeComposer">;

export interface EndedDelivery {
  readonly delivery: QueuedDelivery;
  readonly lease: LeasedSubscription;
  readonly version: number;
  readonly attempt: Attempt;
  readonly decision: Decision;
}

function withoutTexts(ended: EndedDelivery): EndedDelivery {
  const { attempt } = ended;
  const hasResponse = attempt.statusCode !== null;
  return {
    ...ended,
    attempt: {
      ...attempt,
      responseHeaders: hasResponse ? {} : null,
      responseBody: hasResponse ? "the response could not be stored" : null,
    },
  };
}

/**
 * @param changed The webhook subscriptions that a person has changed since the attempts that would
 *   disable them began.
 */
function toResults(
  batch: readonly EndedDelivery[],
  changed: ReadonlySet<string> = new Set(),
): readonly AttemptResult[] {
  return batch.map(({ delivery, attempt, decision }) => {
    const { deliveryId, subscriptionId } = delivery;
    const ifChanged = changed.has(subscriptionId) ? decision.ifChanged : undefined;
    return { deliveryId, attempt, decision: ifChanged ?? decision.delivery };
  });
}

function listDisabled(batch: readonly EndedDelivery[]) {
  const disabled = new Map<string, { receiver: DisabledReceiver; delivery: QueuedDelivery }>();
  for (const { decision, delivery, version } of batch) {
    const { subscriptionId } = delivery;
    if (decision.disable !== undefined)
      disabled.set(subscriptionId, {
        receiver: { subscriptionId, version, reason: decision.disable },
        delivery,
      });
  }
  return disabled;
}

export type AttemptRecorder = Recorder<EndedDelivery>;

export function createAttemptRecorder(deps: RecorderDeps): AttemptRecorder {
  return new Recorder<EndedDelivery>({
    logger: deps.logger,
    what: "the attempts of webhook deliveries",
    otherwise: "its delivery is sent again as after a crash",
    identify: ({ delivery }) => ({ deliveryId: delivery.deliveryId }),
    windowMs: 8,
    maxEntries: 200,
    write: (batch) => write(deps, batch),
    withoutText: withoutTexts,
    unrecorded: undefined,
    onRefused: (recorded) => refusedAttemptsTotal.inc({ recorded }),
  });
}

async function write(
  { sql, owner, nudgeComposer }: RecorderDeps,
  batch: readonly EndedDelivery[],
): Promise<readonly undefined[]> {
  const disabled = listDisabled(batch);
  const unstored = [...new Set(batch.map(({ lease }) => lease))]
    .map((lease) => lease.findUnstored())
    .filter((lease) => lease !== undefined);
  const leases = unstored.map(({ result }) => result);
  if (disabled.size === 0) await recordAttempts(sql, owner, toResults(batch), leases);
  else
    await sql.begin(async (tx) => {
      const changed = await disableAll(tx, disabled);
      for (const id of changed) disabled.delete(id);
      await recordAttempts(tx, owner, toResults(batch, changed), leases);
    });
  for (const { onStored } of unstored) onStored();
  for (const { receiver } of disabled.values()) disabledTotal.inc({ reason: receiver.reason });
  if (disabled.size > 0) nudgeComposer();
  return batch.map(() => undefined);
}

/** Returns the subscriptions that a person has changed since, which are not disabled. */
async function disableAll(
  tx: TransactionSql,
  receivers: ReturnType<typeof listDisabled>,
): Promise<ReadonlySet<string>> {
  // A user's change of a webhook subscription also locks the subscription before its row in
  // `webhook_leases`, so the two transactions never deadlock.
  const byId = [...receivers].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const changed = new Set<string>();
  for (const [id, { receiver, delivery }] of byId)
    if ((await disable(tx, receiver, delivery)) === "changed") changed.add(id);
  return changed;
}

/** Stores the event webhook.disabled for the other subscriptions of the workspace. */
async function disable(
  tx: TransactionSql,
  receiver: DisabledReceiver,
  { cause }: QueuedDelivery,
): Promise<"changed" | "disabled"> {
  const disabled = await disableSubscription(tx, receiver);
  if (disabled === "changed") return "changed";
  if (disabled === undefined) return "disabled";
  const event = disabledEvent(
    { id: receiver.subscriptionId, disabledReason: receiver.reason, ...disabled },
    disabled.disabledAt,
  );
  await storeEvents(tx, [{ ...event, cause: causeOf(cause) }]);
  return "disabled";
}
