import type { PollBudget } from "#src/private-replies/connector.ts";

/**
 * Meta allows at least 4,800 calls in 24 hours and account (times the number of people who engaged with the account, or of its
 * impressions: Graph API rate limits, business use cases, 2026). Polls use two fifths of the minimum; scheduled metrics use half of
 * it, and publishing and replies the rest.
 */
export const POLL_BUDGET: Omit<PollBudget, "unitsPerPage"> = {
  scope: "account",
  calls: 1_920,
  windowMs: 86_400_000,
};
