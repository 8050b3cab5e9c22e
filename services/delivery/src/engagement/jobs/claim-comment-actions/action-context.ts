import type { Clocks } from "@postrider/platforms/http/send-once";
import type { CallMarker } from "#src/calls/call-marker.ts";
import type { ActionReason } from "#src/engagement/db/action-table.ts";
import type { EngagementDeps } from "../../operations/dependencies.ts";
import type { ActionRecorder } from "./action-recorder.ts";

/** What a worker that carries out actions on comments depends on. */
export interface ActionDeps extends Pick<
  EngagementDeps,
  "sql" | "logger" | "accounts" | "settings"
> {
  readonly connectors: Pick<EngagementDeps["connectors"], "comments" | "privateReplies">;
  readonly clocks: Clocks;
  readonly random: () => number;
}

/** Dependencies that all workers of comment actions in the process share. */
export interface ActionContext {
  readonly deps: ActionDeps;
  readonly marker: CallMarker<{ readonly id: string }, ActionReason>;
  readonly recorder: ActionRecorder;
  /** Signal that is aborted when the process stops: no platform call begins after that. */
  readonly stopping: AbortSignal;
}
