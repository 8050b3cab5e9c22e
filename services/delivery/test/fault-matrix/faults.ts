import type { PlatformId } from "@postrider/platforms/registry";
import type { Row, Step } from "./cases.ts";

/** All times of the matrix are this part of the real ones. */
export const SCALE = 0.04;
const SECOND_MS = 1000 * SCALE;
export const CALL_MS = 60 * SECOND_MS;
/** Beyond every deadline: that of a visible call with its media and that of a step. */
const DELAY_MS = 6000;
/** The 30 s of an invisible call, and some for the bytes of a long film. */
export const STEP_DEADLINE_MS = 4000;
/** So long the platform holds calls whose process is to be killed. */
const HOLD_MS = 300_000;

export interface Rule {
  readonly platform: PlatformId;
  readonly operation?: string;
  readonly mode: string;
  readonly times?: number;
  readonly status?: number;
  readonly delayMs?: number;
}

/** Something that goes wrong at a step: a column of the table. */
export interface Fault {
  readonly name: string;
  /**
   * `simulator`: the platform or the network does it, to workers of this process. `held`: the worker stands still around
   * its visible call, in this process, until others have taken over. `kill`, `stop`: a delivery process of its own is
   * killed or stopped by a signal.
   */
  readonly by: "simulator" | "held" | "kill" | "stop";
  /** Of one mode with its times, at a step. */
  readonly rule?: (round: number) => Omit<Rule, "platform" | "operation">;
  /** Beside it: what lists and status reads show is old. */
  readonly staleMs?: number;
  readonly isOnlyVisible?: true;
  /** Steps end at their own deadline, which is shortened. */
  readonly isDelay?: true;
  /** What happened is known: the platform refused nothing, so every target is published. */
  readonly isCertain?: true;
}

const lost = { mode: "drop_after_commit" };

export const FAULTS: readonly Fault[] = [
  { name: "drop before", by: "simulator", rule: () => ({ mode: "drop_before" }) },
  { name: "drop after commit", by: "simulator", rule: () => lost },
  {
    name: "commit 90 s late",
    by: "simulator",
    rule: () => ({ mode: "commit_late", delayMs: 90 * SECOND_MS }),
  },
  {
    name: "drop after commit, reads 2 min old",
    by: "simulator",
    rule: () => lost,
    staleMs: 120 * SECOND_MS,
  },
  {
    name: "500 after commit",
    by: "simulator",
    rule: () => ({ mode: "status_after_commit", status: 500 }),
  },
  {
    name: "429 after commit",
    by: "simulator",
    rule: () => ({ mode: "status_after_commit", status: 429 }),
  },
  { name: "garbage body", by: "simulator", rule: () => ({ mode: "garbage_body" }) },
  {
    name: "beyond the deadline",
    by: "simulator",
    rule: () => ({ mode: "delay", delayMs: DELAY_MS }),
    isDelay: true,
  },
  { name: "held before the send", by: "held", isOnlyVisible: true, isCertain: true },
  { name: "held after the answer", by: "held", isOnlyVisible: true, isCertain: true },
  {
    name: "kill -9 in the call",
    by: "kill",
    // Half of them after the platform did it, half of them before it ever does.
    rule: (round) => ({ mode: round % 2 === 0 ? "delay" : "drop_before", delayMs: HOLD_MS }),
  },
  { name: "SIGSTOP before the send", by: "stop", isOnlyVisible: true, isCertain: true },
];

export function isApplicable(fault: Fault, step: Step): boolean {
  return fault.isOnlyVisible !== true || step.isVisible === true;
}

/** What the simulator is told for one round of a cell, in order. */
export function toRules(fault: Fault, { kind, step }: Row, round: number): readonly Rule[] {
  const { platform } = kind;
  const { operation, after = 0 } = step;
  const { rule, staleMs } = fault;
  return [
    ...(staleMs === undefined ? [] : [{ platform, mode: "stale_reads", delayMs: staleMs }]),
    // Met by the calls before, which it does no harm.
    ...(after === 0 ? [] : [{ platform, operation, mode: "delay", delayMs: 0, times: after }]),
    ...(rule === undefined ? [] : [{ platform, operation, ...rule(round) }]),
  ];
}
