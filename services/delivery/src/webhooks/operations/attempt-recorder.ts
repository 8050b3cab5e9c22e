import { setTimeout as sleep } from "node:timers/promises";
import { isInfrastructureError, type TransactionSql } from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import { causeOf } from "@postrider/shared/telemetry/cause";
import { recordAttempts, type AttemptResult } from "#src/webhooks/db/attempts.ts";
import type { QueuedDelivery } from "#src/webhooks/db/queue.ts";
import { disableSubscription } from "#src/webhooks/db/receivers.ts";
import type { Attempt } from "#src/webhooks/domain/attempt.ts";
import type { Decision, DisableReason } from "#src/webhooks/domain/lane-state.ts";
import type { DispatcherDeps } from "./dependencies.ts";
import { fanOut } from "./fan-out.ts";
import type { HeldLane } from "./held-lane.ts";
import { disabledTotal, refusedAttemptsTotal } from "./metrics.ts";
import { disabledEvent } from "./webhook-events.ts";

type RecorderDeps = Pick<DispatcherDeps, "sql" | "logger" | "owner" | "onFanOut">;

/** An attempt that has ended, with what follows from it. */
export interface EndedDelivery {
  readonly delivery: QueuedDelivery;
  readonly lane: HeldLane;
  readonly attempt: Attempt;
  readonly decision: Decision;
}

/** How long attempts are collected before they are recorded in one statement, in milliseconds. */
const WINDOW_MS = 8;
/** Maximum number of attempts per statement. */
const MAX_ATTEMPTS = 200;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5_000;
/** How many times an attempt is tried to record with its texts, and then without them. */
const TRIES_PER_FORM = 3;

/** Returns the attempt without what the receiver sent. */
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

function toResult({ delivery, attempt, decision }: EndedDelivery): AttemptResult {
  return { deliveryId: delivery.deliveryId, attempt, decision: decision.delivery };
}

/** The subscriptions that a batch disables, with the request whose event was sent last. */
function listDisabled(batch: readonly EndedDelivery[]) {
  const disabled = new Map<string, { reason: DisableReason; delivery: QueuedDelivery }>();
  for (const { decision, delivery } of batch)
    if (decision.disable !== undefined)
      disabled.set(delivery.subscriptionId, { reason: decision.disable, delivery });
  return disabled;
}

/**
 * Records attempts in batches. While the database is unavailable it tries again, because nothing else knows how the attempts
 * ended. An attempt that the database refuses is recorded without the texts of the receiver.
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

  /** Resolves when the attempt is recorded, however long the database is unavailable. */
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
      // Each attempt is recorded by itself, so that a refused one does not hold back the others.
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
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
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
  }

  async #write(batch: readonly EndedDelivery[]): Promise<void> {
    const { sql, owner, onFanOut } = this.#deps;
    const disabled = listDisabled(batch);
    const unstored = [...new Set(batch.map(({ lane }) => lane))]
      .map((lane) => lane.findUnstored())
      .filter((lane) => lane !== undefined);
    const results = batch.map(toResult);
    const lanes = unstored.map(({ result }) => result);
    if (disabled.size === 0) await recordAttempts(sql, owner, results, lanes);
    else
      await sql.begin(async (tx) => {
        // A change by a user locks the subscription before its lane as well, so the two never deadlock.
        const byId = [...disabled].toSorted(([a], [b]) => (a < b ? -1 : 1));
        for (const [id, { reason, delivery }] of byId) await disable(tx, id, reason, delivery);
        await recordAttempts(tx, owner, results, lanes);
      });
    for (const { onStored } of unstored) onStored();
    for (const { reason } of disabled.values()) disabledTotal.inc({ reason });
    if (disabled.size > 0) onFanOut();
  }

  #logRefusal(error: unknown, batch: readonly EndedDelivery[]): void {
    this.#deps.logger.error(
      { err: error, count: batch.length, deliveryId: batch[0]?.delivery.deliveryId },
      "the attempts of webhook deliveries could not be recorded, because of the database or a fault in our code; they are recorded in a simpler form",
    );
  }
}

/** Disables a subscription, and assigns the event about it to the other subscriptions of its workspace. */
async function disable(
  tx: TransactionSql,
  subscriptionId: string,
  reason: DisableReason,
  { cause }: QueuedDelivery,
): Promise<void> {
  const disabled = await disableSubscription(tx, subscriptionId, reason);
  if (disabled === undefined) return;
  const event = disabledEvent(
    { id: subscriptionId, disabledReason: reason, ...disabled },
    disabled.disabledAt,
  );
  await fanOut(tx, [{ ...event, cause: causeOf(cause) }]);
}
