import { isTooSlow } from "@postrider/shared/bus/batch-size";
import { isInfrastructureError } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { listSubscriptionsByIds } from "#src/webhooks/db/subscriptions.ts";
import type { WrittenEvent } from "#src/webhooks/db/write-deliveries.ts";
import {
  type Subscriptions,
  writeWithinLimits,
} from "#src/webhooks/operations/write-within-limits.ts";
import type { ComposeDeps } from "./read-objects.ts";

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
export async function writePage(
  deps: ComposeDeps,
  written: readonly WrittenEvent[],
): Promise<readonly string[]> {
  const refused: string[] = [];
  const subscriptions = await readSubscriptions(deps, written);
  const chunks = [...chunksOf(written)];
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
    const startedAt = performance.now();
    try {
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
