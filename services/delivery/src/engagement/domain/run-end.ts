import type { CallErrorCode } from "#src/calls/call.ts";
import type { EndedPrivateReply } from "./comment-action.ts";
import type { RunReason } from "./plan-runs.ts";

export interface RunEnd {
  readonly status: "prepared" | "sent" | "skipped" | "failed";
  readonly reason: RunReason | null;
}

/** Private replies that were not sent although the platform did not refuse them. */
const ENDS: Readonly<Partial<Record<CallErrorCode, RunEnd>>> = {
  rule_inactive: { status: "skipped", reason: "rule_inactive" },
  sending_blocked: { status: "prepared", reason: "sending_blocked" },
  duplicate_on_platform: { status: "skipped", reason: "already_replied" },
  missed: { status: "skipped", reason: "too_old" },
  outcome_unknown: { status: "failed", reason: "outcome_unknown" },
};

export function endOfRun({ result }: Pick<EndedPrivateReply, "result">): RunEnd {
  if (result.kind === "sent") return { status: "sent", reason: null };
  return ENDS[result.code] ?? { status: "failed", reason: "platform_refused" };
}
