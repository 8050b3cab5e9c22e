import { statusError } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import type { Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Spending } from "#src/world/limits.ts";

/** 4,800 calls in 24 hours for each person engaged with the account; simulated accounts have one such person. */
const CALLS = 4800;
const WINDOW_MS = 86_400_000;

/** Counts a call on the account's business use case limit. */
export function spendCall({ platform, world }: GraphHost, account: Account, now: number): Spending {
  const key = `${platform}:calls:${account.externalId}`;
  return world.limits.spend([{ key, limit: CALLS, windowMs: WINDOW_MS }], now);
}

/** Percentages, and the minutes until a caller who is over the limit may come back. */
function usageHeaders(
  { platform }: GraphHost,
  account: Account,
  percent: number,
  minutes: number,
): Record<string, string> {
  const usage = { call_count: percent, total_cputime: 1, total_time: 1 };
  const type = platform === "facebook" ? "pages" : "instagram";
  const business = { type, ...usage, estimated_time_to_regain_access: minutes };
  return {
    "x-app-usage": JSON.stringify({ ...usage, call_count: 1 }),
    "x-business-use-case-usage": JSON.stringify({ [account.externalId]: [business] }),
  };
}

export function withUsage(
  host: GraphHost,
  account: Account,
  { allowed, standings }: Spending,
  now: number,
  reply: Reply,
): Reply {
  const [standing] = standings;
  const used = standing === undefined ? 0 : standing.limit - standing.remaining;
  const minutes = allowed ? 0 : Math.ceil(((standing?.resetAt ?? now) - now) / 60_000);
  const headers = usageHeaders(host, account, Math.floor((used / CALLS) * 100), minutes);
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

/** How long a simulated 429 asks to wait, in minutes: tests cannot wait for a real window, and 0 is no wait named. */
const SIMULATED_WAIT_MINUTES = 0.03;

/** An error for the `status` fault; a limit names its wait, as ever, in the usage header. */
export function statusReply(host: GraphHost, account: Account | undefined, status: number): Reply {
  const reply = statusError(status);
  return status === 429 && account !== undefined
    ? { ...reply, headers: usageHeaders(host, account, 101, SIMULATED_WAIT_MINUTES) }
    : reply;
}
