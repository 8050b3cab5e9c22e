/** A process of delivery with one trade cannot ask for what it does not need. */
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
