/** Without those that are revoked. */
export const MAX_WEBHOOKS_PER_WORKSPACE = 50;
export const MAX_URL_LENGTH = 2048;
export const MAX_DESCRIPTION_LENGTH = 500;
export const MAX_FILTERS = 50;
export const MAX_PER_SECOND = 100;

/** How the deliveries of a subscription are signed; fixed at creation. */
export type Signing = "hmac-sha256" | "ed25519";

export type SubscriptionStatus = "active" | "paused" | "disabled" | "revoked";

/** Why it is disabled: its receiver answered 410, or nothing but failures for 5 days. */
export type DisabledReason = "gone" | "failing";

export interface Subscription {
  readonly id: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
  readonly status: SubscriptionStatus;
  readonly disabledReason: DisabledReason | null;
  readonly signing: Signing;
  /** Public key `whpk_…` that verifies Ed25519 signatures; null with HMAC. */
  readonly publicKey: string | null;
  readonly maxPerSecond: number | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SubscriptionChange {
  readonly url?: string;
  readonly description?: string;
  readonly events?: readonly string[];
  readonly status?: "active" | "paused";
  readonly maxPerSecond?: number | null;
}

/** A disabled subscription that becomes active or paused loses the reason. */
export function changeSubscription(
  known: Subscription,
  change: SubscriptionChange,
  now: Date,
): Subscription {
  return {
    ...known,
    ...change,
    disabledReason: change.status === undefined ? known.disabledReason : null,
    version: known.version + 1,
    updatedAt: now,
  };
}
