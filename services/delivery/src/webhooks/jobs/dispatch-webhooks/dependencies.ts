import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import type { Sql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { SLOT_LIMITS, type SlotLimits } from "#src/webhooks/domain/claim-plan.ts";
import { RETRY_POLICY, type RetryPolicy } from "#src/webhooks/domain/receiver-state.ts";
import type { ConnectionOptions } from "./receiver-connections.ts";

/** Only tests change those other than `retry`. */
export interface DispatcherSettings {
  /** Deadline of DNS, connecting, the request and the whole response. */
  readonly attemptMs: number;
  /** How long after a crash no other process sends what the crashed process was sending. */
  readonly sendingMs: number;
  readonly leaseMs: number;
  /** How long a process keeps the lease of a subscription after its last attempt. */
  readonly releaseAfterMs: number;
  /**
   * Maximum number of leases that a process holds. While it holds as many and other subscriptions
   * are due, those that it has held for over `leaseMs` end their turn.
   */
  readonly maxSubscriptions: number;
  readonly slots: SlotLimits;
  readonly retry: RetryPolicy;
}

export const DISPATCHER_SETTINGS: DispatcherSettings = {
  attemptMs: 15_000,
  sendingMs: 20_000,
  leaseMs: 15_000,
  releaseAfterMs: 1_500,
  maxSubscriptions: 2_048,
  slots: SLOT_LIMITS,
  retry: RETRY_POLICY,
};

export interface DispatcherDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  /** Says whether the data belongs to another deployment, which sends its deliveries. */
  readonly guard: Pick<DeploymentGuard, "isHeld">;
  readonly owner: string;
  readonly sealingKeys: readonly SealingKey[];
  /** Which addresses webhooks may be sent to, and how host names are resolved. */
  readonly outbound: ConnectionOptions;
  readonly random: () => number;
  /** Called after the commit of each transaction that stored an event webhook.disabled. */
  readonly nudgeComposer: () => void;
  readonly settings: DispatcherSettings;
}
