import { setTimeout as sleep } from "node:timers/promises";
import { isInfrastructureError, type TransactionSql } from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import { causeOf } from "@postrider/shared/telemetry/cause";
import { recordAttempts, type AttemptResult } from "#src/webhooks/db/attempts.ts";
import type { QueuedDelivery } from "#src/webhooks/db/queue.ts";
import { disableSubscription, type DisabledReceiver } from "#src/webhooks/db/receivers.ts";
import type { Attempt } from "#src/webhooks/domain/attempt.ts";
import type { Decision } from "#src/webhooks/domain/lane-state.ts";
import type { Backlogs } from "./backlogs.ts";
import type { DispatcherDeps } from "./dependencies.ts";
import { fanOut } from "./fan-out.ts";
import type { HeldLane } from "./held-lane.ts";
import { disabledTotal, refusedAttemptsTotal } from "./metrics.ts";
import { disabledEvent } from "./webhook-events.ts";

type RecorderDeps = Pick<DispatcherDeps, "sql" | "logger" | "owner" | "backlogs" | "onFanOut">;

/** A webhook attempt that has ended, with what follows from it. */
export interface EndedDelivery {
  readonly delivery: QueuedDelivery;
  readonly lane: HeldLane;
  /** Version of the webhook subscription with which the attempt was sent. */
  readonly version: number;
  readonly attempt: Attempt;
  readonly decision: Decision;
}

/** How long webhook attempts are collected before they are recorded in one statement, in milliseconds. */
const WINDOW_MS = 8;
/** Maximum number of webhook attempts per statement. */
const MAX_ATTEMPTS = 200;
const FIRST_PAUSE_MS = 50;
/**
 * Maximum pause between two tries to record an attempt, in milliseconds. After an outage, other processes wait longer than
 * this before they send deliveries again whose attempts are not recorded.
 */
const MAX_PAUSE_MS = 2_000;
/**
 * Number of attempts of the recorder to record a webhook attempt that the database refuses: first this number of times
 * with the receiver's texts, then the same number without them.
 */
const TRIES_PER_FORM = 3;

/** Returns the webhook attempt without the texts that the receiver sent. */
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

/** @param changed The webhook subscriptions that a person has changed since the attempts that would disable them began. */
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

/** The webhook subscriptions that a batch of attempts disables, each with the delivery whose attempt led to that. */
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

/**
 * Records webhook attempts in batches. While the database is unavailable, the recorder tries again, because no other
 * process knows how the attempts ended. An attempt that the database refuses is recorded without the texts of the
 * receiver.
 */
export class AttemptRecorder {
  readonly #deps: RecorderDeps;
  readonly #batcher: Batcher<EndedDelivery, undefined>;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#batcher = new Batcher({
      windowMs: WINDOW_MS,
      maxItems: MAX_ATTEMPTS,
      flush: async (batch) => {
        await this.#record(batch);
        return batch.map(() => undefined);
      },
    });
  }

  /** Resolves when the webhook attempt is recorded, however long the database is unavailable. */
  async record(ended: EndedDelivery): Promise<void> {
    await this.#batcher.submit(ended);
  }

  drain(): Promise<void> {
    return this.#batcher.drain();
  }

  async #record(batch: readonly EndedDelivery[]): Promise<void> {
    try {
      await this.#untilAvailable(batch);
    } catch (error) {
      this.#logRefusal(error, batch);
      // Each webhook attempt of the batch is recorded by itself, so that one that the database refuses does not delay the
      // others.
      if (batch.length > 1) await Promise.all(batch.map((ended) => this.#record([ended])));
      else await Promise.all(batch.map((ended) => this.#recordRefused(ended)));
    }
  }

  async #recordRefused(ended: EndedDelivery): Promise<void> {
    for (let tries = 1; tries < 2 * TRIES_PER_FORM; tries += 1) {
      const isSimple = tries >= TRIES_PER_FORM;
      await sleep(FIRST_PAUSE_MS);
      try {
        await this.#untilAvailable([isSimple ? withoutTexts(ended) : ended]);
        if (isSimple) refusedAttemptsTotal.inc({ recorded: "without_texts" });
        return;
      } catch (error) {
        this.#logRefusal(error, [ended]);
      }
    }
    refusedAttemptsTotal.inc({ recorded: "nothing" });
  }

  async #untilAvailable(batch: readonly EndedDelivery[]): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS))
      try {
        await this.#write(batch);
        return;
      } catch (error) {
        if (!isInfrastructureError(error)) throw error;
        this.#deps.logger.error(
          { err: error },
          "the attempts of webhook deliveries could not be recorded; recording is retried until it succeeds",
        );
        await sleep(pauseMs);
      }
  }

  async #write(batch: readonly EndedDelivery[]): Promise<void> {
    const { sql, owner, backlogs, onFanOut } = this.#deps;
    const disabled = listDisabled(batch);
    const unstored = [...new Set(batch.map(({ lane }) => lane))]
      .map((lane) => lane.findUnstored())
      .filter((lane) => lane !== undefined);
    const lanes = unstored.map(({ result }) => result);
    if (disabled.size === 0) await recordAttempts(sql, owner, toResults(batch), lanes);
    else
      await sql.begin(async (tx) => {
        const changed = await disableAll(tx, backlogs, disabled);
        for (const id of changed) disabled.delete(id);
        await recordAttempts(tx, owner, toResults(batch, changed), lanes);
      });
    for (const { onStored } of unstored) onStored();
    for (const { receiver } of disabled.values()) disabledTotal.inc({ reason: receiver.reason });
    if (disabled.size > 0) onFanOut();
  }

  #logRefusal(error: unknown, batch: readonly EndedDelivery[]): void {
    this.#deps.logger.error(
      { err: error, count: batch.length, deliveryId: batch[0]?.delivery.deliveryId },
      "the database or Postrider's own code refused to record the attempts of webhook deliveries; each is recorded alone, without the receiver's texts if it is refused again",
    );
  }
}

/**
 * Disables webhook subscriptions, and returns those that a person has changed since the attempts began. These are not
 * disabled.
 */
async function disableAll(
  tx: TransactionSql,
  backlogs: Backlogs,
  receivers: ReturnType<typeof listDisabled>,
): Promise<ReadonlySet<string>> {
  // A user's change of a webhook subscription also locks the subscription before its row in `webhook_lanes`, so the two
  // transactions never deadlock.
  const byId = [...receivers].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const changed = new Set<string>();
  for (const [id, { receiver, delivery }] of byId)
    if ((await disable(tx, backlogs, receiver, delivery)) === "changed") changed.add(id);
  return changed;
}

/**
 * Disables a webhook subscription, and assigns the event webhook.disabled to the other subscriptions of its workspace.
 */
async function disable(
  tx: TransactionSql,
  backlogs: Backlogs,
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
  await fanOut(tx, backlogs, [{ ...event, cause: causeOf(cause) }]);
  return "disabled";
}
