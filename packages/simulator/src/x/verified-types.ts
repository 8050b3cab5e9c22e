import type { Account } from "#src/world/accounts.ts";

/** Why X shows an account as verified; `none` for an account without a subscription. */
export type VerifiedType = "blue" | "business" | "government" | "none";

const MAX_WEIGHTED_LENGTH = 280;
/** Maximum length of a post of a subscriber. Source: X help page "About X Premium", 25,000 characters. */
const MAX_LONG_LENGTH = 25_000;

/** Beginnings of the usernames of accounts that X shows as verified. */
const PREFIXES: readonly (readonly [string, VerifiedType])[] = [
  ["premium", "blue"],
  ["company", "business"],
  ["ministry", "government"],
];

/** Why X shows the simulated account as verified, which depends on the beginning of its username. */
export function verifiedTypeOf({ username }: Account): VerifiedType {
  return PREFIXES.find(([prefix]) => username.startsWith(prefix))?.[1] ?? "none";
}

/** The maximum weighted length of a post of the account. */
export function maxLengthOf(account: Account): number {
  return verifiedTypeOf(account) === "none" ? MAX_WEIGHTED_LENGTH : MAX_LONG_LENGTH;
}

/** Whether X returns the text of a post shortened, and the whole text as `note_tweet`. */
export function isLongPost(weightedLength: number): boolean {
  return weightedLength > MAX_WEIGHTED_LENGTH;
}
