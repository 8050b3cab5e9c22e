export const FAULT_MODES = [
  "drop_before",
  "drop_after_commit",
  "commit_late",
  "status_after_commit",
  "status",
  "refuse",
  "delay",
  "garbage_body",
  "stale_reads",
] as const;

type FaultMode = (typeof FAULT_MODES)[number];

/** Calls with the same purpose have the same operation name on every platform. */
const OPERATIONS = [
  "create",
  "publish",
  "upload",
  "status",
  "delete",
  "metrics",
  "comments",
  "reply",
  "refresh",
  "revoke",
  "login",
  "account",
  "hide",
  "other",
] as const;

export type Operation = (typeof OPERATIONS)[number];

export interface FaultRule {
  readonly platform: string;
  /**
   * The calls to which the fault rule applies: an operation's name, or `METHOD /path` with `*`.
   * Absent only in rules of the kind `stale_reads`.
   */
  readonly operation?: string;
  readonly mode: FaultMode;
  readonly times?: number;
  readonly status?: number;
  readonly delayMs?: number;
  readonly account?: string;
}

export interface Fault extends FaultRule {
  readonly id: string;
  readonly times: number;
  readonly remaining: number;
  readonly hits: number;
}

const PATH_PATTERN = /^(?:[A-Z]+|\*) \/\S*$/;

export function faultOf(rule: FaultRule): string | undefined {
  if (rule.mode === "stale_reads")
    return rule.operation === undefined ? undefined : "stale_reads takes no operation";
  if (rule.operation === undefined) return `${rule.mode} needs an operation`;
  const known: readonly string[] = OPERATIONS;
  if (!known.includes(rule.operation) && !PATH_PATTERN.test(rule.operation))
    return `operation is one of ${OPERATIONS.join(", ")}, or "METHOD /path" with *`;
  return undefined;
}

export interface Plan {
  readonly acts: "now" | "late" | "never";
  /**
   * The response to the request. `own`: the platform's response · `proxy`: a load balancer's HTML
   * page with the status of the fault rule · `close`: no response.
   */
  readonly answer: "own" | "proxy" | "garbage" | "error" | "refusal" | "close";
  /** Delay before the answer or, for a call that is carried out late, before its execution. */
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
