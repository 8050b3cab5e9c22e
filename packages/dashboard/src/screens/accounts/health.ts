import type { Account, DailyQuota, PlatformId } from "@postrider/client";

export type Health = "works" | "partly" | "ended";

/** Whether an account can publish, and whether a permission is missing that is turned on here. */
export function healthOf({ status, permissions }: Account): Health {
  if (status === "reconnect_required") return "ended";
  return (permissions?.missing.length ?? 0) > 0 ? "partly" : "works";
}

const RANKS: Readonly<Record<Health, number>> = { ended: 0, partly: 1, works: 2 };

/** Puts accounts that need a person before the others, which stay in their order. */
export function sortByHealth(accounts: readonly Account[]): readonly Account[] {
  return accounts.toSorted((one, other) => RANKS[healthOf(one)] - RANKS[healthOf(other)]);
}

/** Their tokens are short and are renewed while the account is connected. */
const RENEWING: ReadonlySet<PlatformId> = new Set([
  "instagram",
  "x",
  "tiktok",
  "youtube",
  "bluesky",
]);

export interface Access {
  readonly access: "over" | "forever" | "renews" | "ends" | "endsSoon";
  /** When it ended, or when it ends if no renewal is to be expected; null = never, or not known. */
  readonly at: string | null;
}

/** Enough days to connect the account again before a post fails. */
const SOON_MS = 7 * 86_400_000;

export function accessOf(
  { status, tokenExpiresAt, accessEndedAt, platform }: Account,
  now: number,
): Access {
  if (status === "reconnect_required") return { access: "over", at: accessEndedAt };
  if (tokenExpiresAt === null) return { access: "forever", at: null };
  if (RENEWING.has(platform)) return { access: "renews", at: null };
  const isSoon = Date.parse(tokenExpiresAt) - now < SOON_MS;
  return { access: isSoon ? "endsSoon" : "ends", at: tokenExpiresAt };
}

/** The limit of an account that is nearest to its end; undefined when it has none. */
export function limitOf(accountId: string, limits: readonly DailyQuota[]): DailyQuota | undefined {
  return limits
    .filter((limit) => limit.accountId === accountId)
    .toSorted((a, b) => a.remaining - b.remaining)[0];
}
