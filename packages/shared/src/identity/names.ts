/** The processes that prove their identity when they call a service. */
export const IDENTITY_NAMES = [
  "gateway",
  "accounts",
  "posts",
  "media",
  "delivery",
  "operator",
] as const;

export type IdentityName = (typeof IDENTITY_NAMES)[number];
