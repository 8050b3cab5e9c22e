import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import type { Sql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { SLOT_LIMITS, type SlotLimits } from "#src/webhooks/domain/claim-plan.ts";
import { RETRY_POLICY, type RetryPolicy } from "#src/webhooks/domain/lane-state.ts";
import type { Backlogs } from "./backlogs.ts";
import type { ConnectionOptions } from "./receiver-connections.ts";

/** Durations in milliseconds and limits of sending webhooks. Only tests change those other than `retry`. */
export interface DispatcherSettings {
  /** Maximum duration of a webhook attempt: DNS, connecting, the request and the whole response. */
  readonly attemptMs: number;
  /**
   * How long after the crash of a process no other process sends the webhook deliveries that the crashed process was
   * sending.
   */
  readonly sendingMs: number;
  /** Duration of the lease of a webhook subscription. */
  readonly leaseMs: number;
  /** How long a process holds the lease of a webhook subscription after its last attempt. */
  readonly releaseAfterMs: number;
  readonly slots: SlotLimits;
  readonly retry: RetryPolicy;
}

export const DISPATCHER_SETTINGS: DispatcherSettings = {
  attemptMs: 15_000,
  sendingMs: 20_000,
  leaseMs: 15_000,
  releaseAfterMs: 1_500,
  slots: SLOT_LIMITS,
  retry: RETRY_POLICY,
};

/** Dependencies of sending webhooks. */
export interface DispatcherDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  /** Says whether the data belongs to another deployment, which sends its deliveries. */
  readonly guard: Pick<DeploymentGuard, "isHeld">;
  /** Id of this process, recorded with the leases of webhook subscriptions. */
  readonly owner: string;
  /** Keys with which the secrets of webhook subscriptions are sealed. */
  readonly sealingKeys: readonly SealingKey[];
  /** Rules for the addresses to which webhooks may be sent, and the function that resolves host names. */
  readonly outbound: ConnectionOptions;
  readonly random: () => number;
  /** The limits of waiting webhook deliveries. */
  readonly backlogs: Backlogs;
  /**
   * Called after the commit of each transaction that assigned the event about a disabled webhook subscription to the other
   * subscriptions of its workspace.
   */
  readonly onFanOut: () => void;
  readonly settings: DispatcherSettings;
}
