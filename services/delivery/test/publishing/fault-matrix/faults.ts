import type { PlatformId } from "@postrider/platforms/platform-id";
import type { Row, Step } from "./cases.ts";

/**
 * Factor by which the fault matrix multiplies all times. With a smaller factor, a slow machine
 * exceeds the deadline of a platform call.
 */
export const SCALE = 0.04;
const SECOND_MS = 1000 * SCALE;
export const CALL_MS = 60 * SECOND_MS;
/** Delay that is longer than the deadlines of a publishing call with media and of a step. */
const DELAY_MS = 6000;
/** Deadline of a step: the scaled 30 s of a platform call plus the time for a large video. */
export const STEP_DEADLINE_MS = 4000;
/** How long the simulator holds a platform call whose process is to be killed. */
const HOLD_MS = 300_000;

export interface Rule {
  readonly platform: PlatformId;
  readonly operation?: string;
  readonly mode: string;
  readonly times?: number;
  readonly status?: number;
  readonly delayMs?: number;
}

/** A fault that the calls of a step meet. It is one column of the fault matrix. */
export interface Fault {
  readonly name: string;
  /**
   * Where the fault happens. `simulator`: the platform or the network fails, for workers of this
   * process. `held`: a worker of this process is delayed before or after its publishing call until
   * another worker has taken over the task. `kill`, `stop`: a separate delivery process is killed
   * or suspended by a signal.
   */
  readonly by: "simulator" | "held" | "kill" | "stop";
  /**
   * Returns the rule of the simulator that causes the fault in the round of the fault matrix with
   * this number.
   */
  readonly rule?: (round: number) => Omit<Rule, "platform" | "operation">;
  /** How far the lists and status responses of the account lag behind, in milliseconds. */
  readonly staleMs?: number;
  readonly isOnlyVisible?: true;
  /** Set if the deadline of steps is shortened to `STEP_DEADLINE_MS` for this fault. */
  readonly isDelay?: true;
  /**
   * Set if the outcome can always be determined with this fault, so that every target must end as
   * published.
   */
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
    // In rounds with an even number, the platform processes the call before the delivery process is
    // killed. In rounds with an odd number, the platform never processes the call.
    rule: (round) => ({ mode: round % 2 === 0 ? "delay" : "drop_before", delayMs: HOLD_MS }),
  },
  { name: "SIGSTOP before the send", by: "stop", isOnlyVisible: true, isCertain: true },
];

export function isApplicable(fault: Fault, step: Step): boolean {
  return fault.isOnlyVisible !== true || step.isVisible === true;
}

/**
 * The rules of the simulator for one round of a cell of the fault matrix, in the order in which
 * they apply.
 */
export function toRules(fault: Fault, { kind, step }: Row, round: number): readonly Rule[] {
  const { platform } = kind;
  const { operation, after = 0 } = step;
  const { rule, staleMs } = fault;
  return [
    ...(staleMs === undefined ? [] : [{ platform, mode: "stale_reads", delayMs: staleMs }]),
    // This rule of the simulator lets the earlier calls with the same name pass.
    ...(after === 0 ? [] : [{ platform, operation, mode: "delay", delayMs: 0, times: after }]),
    ...(rule === undefined ? [] : [{ platform, operation, ...rule(round) }]),
  ];
}
