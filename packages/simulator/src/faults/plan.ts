import type { Fault, FaultMode } from "#src/faults/rule.ts";

/** What the simulator does with a request. */
export interface Plan {
  /** When the platform carries the request out. */
  readonly acts: "now" | "late" | "never";
  /** `own`: the platform's answer. `proxy`: a load balancer's HTML page with the rule's status. `close`: no answer. */
  readonly answer: "own" | "proxy" | "garbage" | "error" | "refusal" | "close";
  /** Delay before the answer or the close, or with `late` before the request is carried out. */
  readonly holdMs: number;
  readonly status: number;
}

const SHAPES: Record<FaultMode, Pick<Plan, "acts" | "answer">> = {
  drop_before: { acts: "never", answer: "close" },
  drop_after_commit: { acts: "now", answer: "close" },
  commit_late: { acts: "late", answer: "close" },
  status_after_commit: { acts: "now", answer: "proxy" },
  status: { acts: "never", answer: "error" },
  refuse: { acts: "never", answer: "refusal" },
  delay: { acts: "now", answer: "own" },
  garbage_body: { acts: "now", answer: "garbage" },
  stale_reads: { acts: "now", answer: "own" },
};

const PROXY_STATUS = 502;
const ERROR_STATUS = 500;

/** Turns the rule that matches a request, if any, into a plan. */
export function planFor(fault: Fault | undefined): Plan {
  if (fault === undefined) {
    return { acts: "now", answer: "own", holdMs: 0, status: 200 };
  }
  const shape = SHAPES[fault.mode];
  const status = fault.status ?? (shape.answer === "proxy" ? PROXY_STATUS : ERROR_STATUS);
  return { ...shape, holdMs: fault.delayMs ?? 0, status };
}
