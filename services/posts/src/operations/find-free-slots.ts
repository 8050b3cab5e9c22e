import type { ISql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import { listActiveRules, type QueueSlotRuleRow } from "#src/db/queue-slot-rules.ts";
import { listTakenSlots } from "#src/db/slot-assignments.ts";
import {
  firstFreeSlots,
  nextFreeSlots,
  type NextSlots,
  type QueueSlot,
} from "#src/domain/next-slots.ts";
import type { QueueSlotRule } from "#src/domain/queue-slot-rule.ts";
import { createTakenSlots } from "#src/domain/slot-times.ts";
import { runInSlices } from "#src/operations/run-in-slices.ts";

interface Scope {
  readonly workspaceId: string;
  readonly now: Date;
}

/** Number of next queue slots that are returned with a queue-slot rule. */
const SHOWN_SLOTS = 3;
/** More than the posts that all replicas place while one of them waits for its turn. */
const FOUND_SLOTS = 32;
/** Maximum number of steps of a search that does not wait for the searches of other requests. */
const SHORT_STEPS = 128;

/** Searches the slots of each rule as if the workspace had no other rule. */
export async function findShownSlots(
  sql: ISql,
  rules: readonly QueueSlotRule[],
  { workspaceId, now }: Scope,
): Promise<readonly NextSlots[]> {
  const taken = createTakenSlots(await listTakenSlots(sql, workspaceId, now));
  return await search(nextFreeSlots(rules, { after: now, taken, count: SHOWN_SLOTS }));
}

export interface FoundSlots {
  /** In order of time. */
  readonly slots: readonly QueueSlot[];
  /** The active rules that they were found with. */
  readonly rules: readonly QueueSlotRuleRow[];
}

/** By the database's clock; none if the next year has none. */
export async function findNextSlots(sql: ISql, workspaceId: string): Promise<FoundSlots> {
  const [rules, now] = await Promise.all([listActiveRules(sql, workspaceId), readClock(sql)]);
  const taken = createTakenSlots(await listTakenSlots(sql, workspaceId, now));
  const slots = await search(firstFreeSlots(rules, { after: now, taken, count: FOUND_SLOTS }));
  return { slots, rules };
}

/** A long search runs in slices, so that it keeps no other request waiting. */
async function search<T>(steps: Iterator<void, T>): Promise<T> {
  for (let count = 0; count < SHORT_STEPS; count += 1) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
  return await runInSlices(steps);
}
