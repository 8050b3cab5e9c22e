import { setImmediate } from "node:timers/promises";
import { isTooSlow } from "@postrider/shared/bus/batch-size";
import { NIL_ID } from "@postrider/shared/ids";
import { isInfrastructureError, type ISql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { contextOf, sharedCause } from "@postrider/shared/telemetry/cause";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import {
  claimCompositions,
  type Composition,
  delayCompositions,
  listWaitingWorkspaces,
  releaseCompositions,
} from "#src/webhooks/db/compositions.ts";
import { listSubscriptionsByIds } from "#src/webhooks/db/subscriptions.ts";
import type { WrittenEvent } from "#src/webhooks/db/write-deliveries.ts";
import { EVENT_TYPES, type EventSource } from "#src/webhooks/domain/webhook-event.ts";
import { toWritten } from "#src/webhooks/operations/webhook-events.ts";
import {
  type Subscriptions,
  writeWithinLimits,
} from "#src/webhooks/operations/write-within-limits.ts";
import { type ComposeDeps, readObjects } from "./read-objects.ts";
import { renderData } from "./render-data.ts";

/** Approximate size of the payloads, and maximum number of deliveries, of one statement. */
const CHUNK_BYTES = 4 * 1024 * 1024;
const CHUNK_DELIVERIES = 1_000;

function chunksOf(written: readonly WrittenEvent[]): readonly (readonly WrittenEvent[])[] {
  const chunks: WrittenEvent[][] = [];
  let fill = 1;
  for (const each of written) {
    if (fill >= 1) {
      chunks.push([]);
      fill = 0;
    }
    chunks.at(-1)?.push(each);
    fill += Buffer.byteLength(each.payload) / CHUNK_BYTES;
    fill += each.event.subscriptionIds.length / CHUNK_DELIVERIES;
  }
  return chunks;
}

/**
 * Returns the ids of the events that the database refuses. A refusal is narrowed down to the event
 * that causes it, so that the others are sent. A statement that outlasts the time limits of the
 * database is repeated in two halves.
 */
async function writePage(
  deps: ComposeDeps,
  written: readonly WrittenEvent[],
): Promise<readonly string[]> {
  const refused: string[] = [];
  const chunks = [...chunksOf(written)];
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
    const startedAt = performance.now();
    try {
      const subscriptions = await readSubscriptions(deps, chunk);
      await writeWithinLimits(deps.sql, deps.backlogs, chunk, subscriptions);
      failpoint("delivery.webhook-payloads-written");
    } catch (error) {
      if (chunk.length > 1 && isTooSlow(error, performance.now() - startedAt)) {
        const middle = Math.ceil(chunk.length / 2);
        chunks.unshift(chunk.slice(0, middle), chunk.slice(middle));
      } else if (isInfrastructureError(error)) throw error;
      else if (chunk.length > 1) chunks.push(...chunk.map((each) => [each]));
      else {
        refused.push(...chunk.map(({ event }) => event.id));
        deps.logger.error(
          { err: error, job: "compose-payloads" },
          "the database refused the payload of a webhook event; the job compose-payloads tries again, then sends the event with ids only",
        );
      }
    }
  }
  return refused;
}

/** A subscription that was revoked after the events were stored receives nothing more. */
async function readSubscriptions(
  { sql }: ComposeDeps,
  written: readonly WrittenEvent[],
): Promise<Subscriptions> {
  const ids = new Set(written.flatMap(({ event }) => event.subscriptionIds));
  const found = await listSubscriptionsByIds(sql, [...ids]);
  return new Map(found.filter(({ status }) => status !== "revoked").map((row) => [row.id, row]));
}

const MAX_WORKSPACES = 200;

/**
 * What a process remembers between two pages: which workspaces have the next turn, and which claims
 * it could not end because the database failed.
 */
export class ComposeTurn {
  #after = NIL_ID;
  #unreleased: readonly string[] = [];

  /** Whether workspaces follow that had no turn since the first one. */
  get hasMore(): boolean {
    return this.#after !== NIL_ID;
  }

  async next(sql: ISql): Promise<readonly string[]> {
    const found = await listWaitingWorkspaces(sql, this.#after, MAX_WORKSPACES);
    const isLast = found.length < MAX_WORKSPACES;
    const last = isLast ? undefined : found.at(-1);
    const wasFirst = !this.hasMore;
    this.#after = last ?? NIL_ID;
    return found.length === 0 && !wasFirst ? await this.next(sql) : found;
  }

  keep(eventIds: readonly string[]): void {
    this.#unreleased = eventIds;
  }

  /** Ends the kept claims, so that their events do not wait until the lease ends. */
  async releaseKept(sql: ISql): Promise<void> {
    await releaseCompositions(sql, this.#unreleased);
    this.#unreleased = [];
  }
}

const PAGE_EVENTS = 200;
/** Longer than the deadline of the calls that read the objects of a page. */
const LEASE_MS = 15_000;
/** Failures after which an event is sent with ids only. */
const MAX_TRIES = 5;

const incompleteTotal = createCounter(
  "webhook_incomplete_payloads_total",
  "Events that were sent with ids only, because their object could not be read or written as JSON.",
  ["type"],
  EVENT_TYPES.map((type) => ({ type })),
);

interface PageResult {
  readonly claimed: number;
  readonly composed: number;
  readonly hasMore: boolean;
  /** Kinds of objects whose owner did not answer. */
  readonly unavailable: readonly EventSource["kind"][];
}

/**
 * Writes the payloads and deliveries of up to `PAGE_EVENTS` webhook events. After a
 * crash, the page is claimed again when its lease ends, and an event that has a payload already
 * keeps it. After an error of the database, it is claimed again in the next pass.
 *
 * @param except What events are about (`post`, `account`, …) whose owning service is unavailable;
 *   these events wait.
 */
export async function composePage(
  deps: ComposeDeps,
  except: readonly EventSource["kind"][] = [],
  turn = new ComposeTurn(),
): Promise<PageResult> {
  const { sql } = deps;
  await turn.releaseKept(sql);
  const workspaceIds = await turn.next(sql);
  const options = { workspaceIds, limit: PAGE_EVENTS, leaseMs: LEASE_MS, except };
  const page = workspaceIds.length === 0 ? [] : await claimCompositions(sql, options);
  if (page.length === 0) return { claimed: 0, composed: 0, unavailable: [], hasMore: turn.hasMore };
  const context = contextOf(sharedCause(page.map(({ cause }) => cause)));
  try {
    return await runInContext(context, () => composeClaimed(deps, page));
  } catch (error) {
    turn.keep(page.map(({ id }) => id));
    throw error;
  }
}

async function composeClaimed(
  deps: ComposeDeps,
  page: readonly Composition[],
): Promise<PageResult> {
  const { sql } = deps;
  const { written, unavailable, left, failed } = await renderPage(deps, page);
  failpoint("delivery.webhook-payloads-rendered");
  const refused = await writePage(deps, written);
  await releaseCompositions(
    sql,
    [...unavailable, ...left].map(({ id }) => id),
  );
  await delayCompositions(sql, [...failed.map(({ id }) => id), ...refused]);
  const kinds = new Set(unavailable.map(({ source }) => source.kind));
  return {
    claimed: page.length,
    composed: written.length - refused.length,
    hasMore: true,
    unavailable: [...kinds],
  };
}

interface Rendered {
  readonly written: readonly WrittenEvent[];
  readonly unavailable: readonly Composition[];
  readonly left: readonly Composition[];
  readonly failed: readonly Composition[];
}

/** Reads objects and renders payloads, outside of any transaction. */
async function renderPage(deps: ComposeDeps, page: readonly Composition[]): Promise<Rendered> {
  const { logger } = deps;
  const written: WrittenEvent[] = [];
  const unavailable: Composition[] = [];
  const left: Composition[] = [];
  const failed: Composition[] = [];
  const readings = await readObjects(
    deps,
    page.filter(({ tries }) => tries < MAX_TRIES),
  );
  for (const event of page) {
    const reading = readings.get(event.id);
    try {
      if (reading === undefined) {
        incompleteTotal.inc({ type: event.type });
        written.push(toWritten(event, renderData(event, undefined, deps)));
      } else if (reading.kind === "unavailable") unavailable.push(event);
      else if (reading.kind === "left") left.push(event);
      else {
        if (reading.kind === "failed") throw reading.error;
        written.push(toWritten(event, renderData(event, reading.object, deps)));
      }
      await setImmediate();
    } catch (error) {
      failed.push(event);
      logger.warn(
        { err: error, job: "compose-payloads", eventId: event.id, eventType: event.type },
        "the payload of a webhook event could not be written; the job compose-payloads tries again, then sends the event with ids only",
      );
    }
  }
  return { written, unavailable, left, failed };
}
