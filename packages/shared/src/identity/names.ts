/**
 * A process of delivery that only sends webhooks, or only works on engagement, has an identity of
 * its own, with which it cannot ask for what it does not need.
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
