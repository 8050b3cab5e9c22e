import type { Account } from "#src/world/accounts.ts";

/** Why X shows an account as verified; `none` for an account that X does not show as verified. */
export type VerifiedType = "blue" | "business" | "government" | "none";

const MAX_WEIGHTED_LENGTH = 280;
/** Maximum number of characters in a post of an X Premium subscriber. Source: X help page "About X Premium". */
const MAX_LONG_LENGTH = 25_000;

/** Username prefixes of the simulated accounts that X shows as verified. */
const PREFIXES: readonly (readonly [string, VerifiedType])[] = [
  ["premium", "blue"],
  ["company", "business"],
  ["ministry", "government"],
];

/** Returns why X shows the simulated account as verified, which depends on the prefix of its username. */
export function verifiedTypeOf({ username }: Account): VerifiedType {
  return PREFIXES.find(([prefix]) => username.startsWith(prefix))?.[1] ?? "none";
}

/** The maximum weighted length of a post of the X account. */
export function maxLengthOf(account: Account): number {
  return verifiedTypeOf(account) === "none" ? MAX_WEIGHTED_LENGTH : MAX_LONG_LENGTH;
}

/** Whether X returns the text of a post shortened, with the whole text in `note_tweet`. */
export function isLongPost(weightedLength: number): boolean {
  return weightedLength > MAX_WEIGHTED_LENGTH;
}
