import type { EndedPrivateReply } from "./comment-action.ts";
import type { RunReason } from "./plan-runs.ts";

/** The status and the reason that a run gets when its private reply ends. */
export interface RunEnd {
  readonly status: "prepared" | "sent" | "skipped" | "failed";
  readonly reason: RunReason | null;
}

/** Returns how a run ends whose private reply has ended. */
export function endOfRun({ result }: Pick<EndedPrivateReply, "result">): RunEnd {
  if (result.kind === "sent") return { status: "sent", reason: null };
  switch (result.code) {
    case "rule_inactive":
      return { status: "skipped", reason: "rule_inactive" };
    case "sending_blocked":
      return { status: "prepared", reason: "sending_blocked" };
    case "duplicate_on_platform":
      return { status: "skipped", reason: "already_replied" };
    case "missed":
      return { status: "skipped", reason: "too_old" };
    case "outcome_unknown":
      return { status: "failed", reason: "outcome_unknown" };
    default:
      return { status: "failed", reason: "platform_refused" };
  }
}
