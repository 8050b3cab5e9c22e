import type { Sql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { SLOT_LIMITS, type SlotLimits } from "#src/webhooks/domain/claim-plan.ts";
import { RETRY_POLICY, type RetryPolicy } from "#src/webhooks/domain/lane-state.ts";
import type { ConnectionOptions } from "./receiver-connections.ts";

/** Durations in milliseconds and limits of sending webhooks. Only tests change those other than `retry`. */
export interface DispatcherSettings {
  /** Maximum duration of an attempt: DNS, connecting, the request and the whole response. */
  readonly attemptMs: number;
  /** How long after a crash of the process no other process sends the deliveries that it was sending. */
  readonly sendingMs: number;
  /** Duration of the lease of a lane. */
  readonly leaseMs: number;
  /** How long a lane is held after its last attempt. */
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
  /** Id of this process, recorded with the leases of its lanes. */
  readonly owner: string;
  /** Keys with which the secrets of subscriptions are sealed. */
  readonly sealingKeys: readonly SealingKey[];
  /** To which addresses webhooks may be sent, and how they are found. */
  readonly outbound: ConnectionOptions;
  readonly random: () => number;
  /** Called after each transaction that assigned an event about a disabled subscription to others was committed. */
  readonly onFanOut: () => void;
  readonly settings: DispatcherSettings;
}
