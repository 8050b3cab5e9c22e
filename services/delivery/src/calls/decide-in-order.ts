import type { CallEvent } from "./call-event.ts";
import type { Attempt, Call, CallPolicy, Decision } from "./call.ts";
import { decide } from "./decide.ts";
import type { CallKind } from "./kinds.ts";

/** For statements of operators, after which nothing waits. */
export const NO_WAITS = {
  policy: { retryMs: [], leaseMs: 0, heldPlatformMs: 0 },
  random: () => 0,
};

export interface Trade<Key, C extends Key & Call, E extends Key & CallEvent> {
  readonly name: (key: Key) => string;
  readonly kindOf: (call: C) => CallKind;
  readonly isSibling?: (a: C, b: C) => boolean;
  readonly isAttemptOf?: (attempt: Attempt, event: E) => boolean;
}

export interface Locked<C extends Call> {
  readonly calls: readonly C[];
  readonly attempts?: readonly Attempt[];
  readonly now: Date;
}

/** Each decision sees what earlier ones changed. An event whose call a restore removed has none. */
export function decideInOrder<Key, C extends Key & Call, E extends Key & CallEvent>(
  trade: Trade<Key, C, E>,
  { calls: stored, attempts: storedAttempts = [], now }: Locked<C>,
  events: readonly E[],
  { policy, random }: { readonly policy: CallPolicy; readonly random: () => number } = NO_WAITS,
): ReadonlyMap<E, Decision<C>> {
  const { name, kindOf, isSibling, isAttemptOf } = trade;
  const calls = new Map(stored.map((call) => [name(call), call]));
  const attempts = [...storedAttempts];
  const decisions = new Map<E, Decision<C>>();
  for (const event of events) {
    const call = calls.get(name(event));
    if (call === undefined) continue;
    const siblings = [...calls.values()].filter(
      (other) => other !== call && isSibling?.(call, other) === true,
    );
    const index = attempts.findIndex((attempt) => isAttemptOf?.(attempt, event) === true);
    const snapshot = { call, siblings, attempt: attempts[index], kind: kindOf(call), now, policy };
    const decision = decide({ ...snapshot, random: random() }, event);
    decisions.set(event, decision);
    for (const changed of decision.changes) calls.set(name(changed.call), changed.call);
    if (decision.attempt !== undefined) attempts[index] = decision.attempt;
  }
  return decisions;
}
