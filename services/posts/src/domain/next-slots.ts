import type { QueueSlotRule } from "./queue-slot-rule.ts";
import { slotInstants, type SlotRange } from "./slot-times.ts";

/** A queue slot of a workspace and the rule that creates the slot. */
export interface QueueSlot {
  readonly slotAt: Date;
  readonly ruleId: string;
}

/**
 * Returns the first `count` free queue slots of all active rules together, in order of time and at most one per
 * instant; fewer if the next year has fewer. If several rules create a slot, it belongs to the oldest of them, so that
 * a new rule never takes over a slot.
 *
 * @param options.after The current time; slots are strictly later.
 * @param options.taken The slots that posts of the workspace have taken, in milliseconds since 1970.
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

/** Yields the free queue slots of a time range one by one, in order of time and at most one per instant. */
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

/** Returns the latest time for which queue slots are computed: one year after `after`, in UTC. */
export function slotHorizon(after: Date): Date {
  const horizon = new Date(after);
  horizon.setUTCFullYear(after.getUTCFullYear() + 1);
  return horizon;
}

interface Queue {
  readonly ruleId: string;
  readonly instants: Generator<number, undefined>;
  /** The next slot of the queue-slot rule in milliseconds since 1970; Infinity after the last slot. */
  head: number;
}

function openQueue(rule: QueueSlotRule, range: SlotRange): Queue {
  const queue = { ruleId: rule.id, instants: slotInstants(rule, range), head: Infinity };
  advance(queue);
  return queue;
}

/**
 * Finds the queue-slot rule whose next slot is earliest. If several rules have the same next slot, the oldest rule is
 * returned.
 */
function findFirst(queues: readonly Queue[]): Queue | undefined {
  let first: Queue | undefined;
  for (const queue of queues) if (queue.head < (first?.head ?? Infinity)) first = queue;
  return first;
}

function advance(queue: Queue): void {
  queue.head = queue.instants.next().value ?? Infinity;
}

/**
 * Orders queue-slot rules by age. Ids decide between rules of the same age, so that every replica chooses the same
 * rule.
 */
function byAge(a: QueueSlotRule, b: QueueSlotRule): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
