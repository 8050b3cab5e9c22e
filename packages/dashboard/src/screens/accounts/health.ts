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

export type Access = "over" | "forever" | "renews" | "ends";

export function accessOf({ status, tokenExpiresAt, platform }: Account): Access {
  if (status === "reconnect_required") return "over";
  if (tokenExpiresAt === null) return "forever";
  return RENEWING.has(platform) ? "renews" : "ends";
}

/** The limit of an account that is nearest to its end; undefined when it has none. */
export function limitOf(accountId: string, limits: readonly DailyQuota[]): DailyQuota | undefined {
  return limits
    .filter((limit) => limit.accountId === accountId)
    .toSorted((a, b) => a.remaining - b.remaining)[0];
}
