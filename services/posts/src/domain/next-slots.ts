import type { QueueSlotRule } from "./queue-slot-rule.ts";
import { slotInstants, type SlotRange } from "./slot-times.ts";

/** One slot of a workspace and the rule that gives it. */
export interface QueueSlot {
  readonly slotAt: Date;
  readonly ruleId: string;
}

/**
 * The first `count` free slots of all active rules together, in order, one for each instant; fewer if there are no more
 * within a year. Where rules overlap, the one that was created first gives the slot, so that a new rule never takes
 * one over. The slots of a single rule are those of a list with only that rule.
 *
 * @param options.after The present: slots are strictly later.
 * @param options.taken The instants that posts of the workspace have, in milliseconds since 1970.
 */
export function nextFreeSlots(
  rules: readonly QueueSlotRule[],
  options: { readonly after: Date; readonly taken: ReadonlySet<number>; readonly count: number },
): QueueSlot[] {
  const { after, taken, count } = options;
  return freeSlots(rules, { after, until: slotHorizon(after) }, taken)
    .take(count)
    .toArray();
}

/** The slots of `nextFreeSlots`, one by one, of any range. */
export function* freeSlots(
  rules: readonly QueueSlotRule[],
  range: SlotRange,
  taken: ReadonlySet<number>,
): Generator<QueueSlot, undefined> {
  const queues = rules
    .filter(({ status }) => status === "active")
    .toSorted(byAge)
    .map((rule) => openQueue(rule, range));
  for (;;) {
    const first = findFirst(queues);
    if (first === undefined) return;
    const { head, ruleId } = first;
    for (const queue of queues) if (queue.head === head) advance(queue);
    if (!taken.has(head)) yield { slotAt: new Date(head), ruleId };
  }
}

/** The last instant that a slot may have: the same date and time of the next year, in UTC. */
export function slotHorizon(after: Date): Date {
  const horizon = new Date(after);
  horizon.setUTCFullYear(after.getUTCFullYear() + 1);
  return horizon;
}

interface Queue {
  readonly ruleId: string;
  readonly instants: Generator<number, undefined>;
  /** The instant that comes next; Infinity when there is none. */
  head: number;
}

function openQueue(rule: QueueSlotRule, range: SlotRange): Queue {
  const queue = { ruleId: rule.id, instants: slotInstants(rule, range), head: Infinity };
  advance(queue);
  return queue;
}

/** The oldest of the queues with the earliest instant. */
function findFirst(queues: readonly Queue[]): Queue | undefined {
  let first: Queue | undefined;
  for (const queue of queues) if (queue.head < (first?.head ?? Infinity)) first = queue;
  return first;
}

function advance(queue: Queue): void {
  queue.head = queue.instants.next().value ?? Infinity;
}

/** Ids break the tie, so that every process names the same rule. */
function byAge(a: QueueSlotRule, b: QueueSlotRule): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
