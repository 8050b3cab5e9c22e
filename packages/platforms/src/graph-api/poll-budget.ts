import type { PollBudget } from "#src/private-replies/connector.ts";

/**
 * Per account, Meta allows at least 4,800 calls in 24 hours: 4,800 times the number of people who
 * engaged with the account, or times the number of its impressions (Graph API rate limits, business
 * use cases, 2026). Of this minimum, polls use two fifths, scheduled refreshes of metrics half, and
 * publishing and replies the rest.
 */
export const POLL_BUDGET: Omit<PollBudget, "unitsPerPage"> = {
  scope: "account",
  calls: 1_920,
  windowMs: 86_400_000,
};
