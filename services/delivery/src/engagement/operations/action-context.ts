import type { Clocks } from "#src/domain/send-guard.ts";
import type { ActionRecorder } from "./action-recorder.ts";
import type { EngagementDeps } from "./dependencies.ts";

/** What the work on actions needs besides the dependencies of engagement. */
export interface ActionDeps extends Pick<
  EngagementDeps,
  "sql" | "logger" | "accounts" | "settings"
> {
  readonly connectors: Pick<EngagementDeps["connectors"], "comments" | "privateReplies">;
  readonly clocks: Clocks;
  readonly random: () => number;
}

/** Dependencies that all workers of actions of the process share. */
export interface ActionContext {
  readonly deps: ActionDeps;
  readonly recorder: ActionRecorder;
  /** Aborted when the process stops: no call begins after that. */
  readonly stopping: AbortSignal;
}

/**
 * Duration of the lease of an action, in leases of publish tasks. It is not renewed: two platform calls of at most one such lease
 * each, with a token renewal between them, fit into it.
 */
const LEASES_PER_ACTION = 3;

/** Returns the duration of the lease of an action in milliseconds. */
export function actionLeaseMs({ leaseMs }: { readonly leaseMs: number }): number {
  return leaseMs * LEASES_PER_ACTION;
}
