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

export type FaultMode = (typeof FAULT_MODES)[number];

/** Calls with the same purpose have the same operation name on every platform. */
export const OPERATIONS = [
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
