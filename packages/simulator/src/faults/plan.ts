import type { Fault, FaultMode } from "#src/faults/rule.ts";

export interface Plan {
  readonly acts: "now" | "late" | "never";
  /**
   * The response to the request. `own`: the platform's response · `proxy`: a load balancer's HTML
   * page with the status of the fault rule · `close`: no response.
   */
  readonly answer: "own" | "proxy" | "garbage" | "error" | "refusal" | "close";
  /** Before the answer; for a call that is carried out late, before it is carried out. */
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

export function planFor(fault: Fault | undefined): Plan {
  if (fault === undefined) return { acts: "now", answer: "own", holdMs: 0, status: 200 };

  const shape = SHAPES[fault.mode];
  const status = fault.status ?? (shape.answer === "proxy" ? PROXY_STATUS : ERROR_STATUS);
  return { ...shape, holdMs: fault.delayMs ?? 0, status };
}
