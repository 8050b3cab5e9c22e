/**
 * The processes that prove their identity when they call a service. A process of the delivery service that only sends webhooks, or
 * only works on comments, automations and metrics, has an identity of its own, with which it cannot ask for what it does not need.
 */
export const IDENTITY_NAMES = [
  "gateway",
  "accounts",
  "posts",
  "media",
  "delivery",
  "delivery-webhooks",
  "delivery-engagement",
  "operator",
] as const;

export type IdentityName = (typeof IDENTITY_NAMES)[number];
