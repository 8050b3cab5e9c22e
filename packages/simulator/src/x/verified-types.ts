import type { Account } from "#src/world/accounts.ts";

export type VerifiedType = "blue" | "business" | "government" | "none";

const MAX_WEIGHTED_LENGTH = 280;
/**
 * Maximum number of characters in a post of an X Premium subscriber. Source: X help page "About X
 * Premium".
 */
const MAX_LONG_LENGTH = 25_000;

const PREFIXES: readonly (readonly [string, VerifiedType])[] = [
  ["premium", "blue"],
  ["company", "business"],
  ["ministry", "government"],
];

export function verifiedTypeOf({ username }: Account): VerifiedType {
  return PREFIXES.find(([prefix]) => username.startsWith(prefix))?.[1] ?? "none";
}

export function maxLengthOf(account: Account): number {
  return verifiedTypeOf(account) === "none" ? MAX_WEIGHTED_LENGTH : MAX_LONG_LENGTH;
}

export function isLongPost(weightedLength: number): boolean {
  return weightedLength > MAX_WEIGHTED_LENGTH;
}
