import { statusError } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import type { Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Spending } from "#src/world/limits.ts";

const WINDOW_MS = 86_400_000;

export function spendCall({ platform, world }: GraphHost, account: Account, now: number): Spending {
  const key = `${platform}:calls:${account.externalId}`;
  return world.limits.spend(
    [{ key, limit: world.settings.values.graphCallsPerDay, windowMs: WINDOW_MS }],
    now,
  );
}

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
  const headers = usageHeaders(
    host,
    account,
    Math.floor((used / (standing?.limit ?? 1)) * 100),
    minutes,
  );
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

/** Small so that tests are fast. With 0, the response would not say how long to wait. */
const SIMULATED_WAIT_MINUTES = 0.03;

export function statusReply(host: GraphHost, account: Account | undefined, status: number): Reply {
  const reply = statusError(status);
  return status === 429 && account !== undefined
    ? { ...reply, headers: usageHeaders(host, account, 101, SIMULATED_WAIT_MINUTES) }
    : reply;
}
