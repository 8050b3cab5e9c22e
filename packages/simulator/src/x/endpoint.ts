import type { Operation } from "#src/faults/rule.ts";
import { answering, bearerToken, type Call, type Moment, type Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { LimitRule, Spending } from "#src/world/limits.ts";
import type { SettingValues } from "#src/world/settings.ts";
import { invalidRequest, SCOPE_MISSING, statusProblem, USAGE_CAPPED } from "#src/x/errors.ts";
import type { XNetwork } from "#src/x/network.ts";

const QUARTER_HOUR_MS = 900_000;
const DAY_MS = 86_400_000;

/** A call to the X API with a valid access token. */
export interface XCall extends Moment {
  readonly call: Call;
  readonly account: Account;
}

export interface Endpoint {
  readonly method: Route["method"];
  readonly path: string;
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  readonly reads?: boolean;
  /** Scope that an access token must have to call this X endpoint. */
  readonly scope?: string;
  /** Name of the counter for the X endpoint's rate limit. */
  readonly bucket: string;
  /** Maximum number of calls of the X endpoint per user and 15 minutes. */
  readonly perUser: number;
  /** Whether the X endpoint also has limits of 24 hours, of the user and of the app. */
  readonly isLimitedDaily?: boolean;
  readonly handle: (call: XCall) => Reply;
}

/** The beginnings of the names of X's rate-limit headers, in the order of the rules of `rulesOf`. */
const HEADERS = ["x-rate-limit", "x-user-limit-24hour", "x-app-limit-24hour"];

function rulesOf(
  { bucket, perUser, isLimitedDaily = false }: Endpoint,
  account: Account,
  { xUserPostsPerDay, xAppPostsPerDay }: SettingValues,
): LimitRule[] {
  const key = `x:${bucket}:${account.externalId}`;
  const window: LimitRule = { key, limit: perUser, windowMs: QUARTER_HOUR_MS };
  if (!isLimitedDaily) return [window];
  return [
    window,
    { key: `${key}:day`, limit: xUserPostsPerDay, windowMs: DAY_MS },
    { key: `x:${bucket}:app`, limit: xAppPostsPerDay, windowMs: DAY_MS },
  ];
}

function rateHeaders({ standings }: Spending): Record<string, string> {
  return Object.fromEntries(
    standings.flatMap(({ limit, remaining, resetAt }, index) => {
      const prefix = HEADERS[index] ?? "";
      return [
        [`${prefix}-limit`, String(limit)],
        [`${prefix}-remaining`, String(remaining)],
        [`${prefix}-reset`, String(Math.ceil(resetAt / 1000))],
      ];
    }),
  );
}

function withHeaders(reply: Reply, headers: Record<string, string>): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/** The answer to a call that X refuses to all users, because of the settings; undefined for every other call. */
function refuseEveryone(
  { query }: Call,
  { xFieldNames, xUsageCap }: SettingValues,
): Reply | undefined {
  if (xUsageCap === "reached") return USAGE_CAPPED;
  const fields = xFieldNames === "new" ? query.get("tweet.fields") : null;
  if (fields === null) return undefined;
  const message = "The query parameter [tweet.fields] is not one of [post.fields,expansions]";
  return invalidRequest({ "tweet.fields": [fields] }, message);
}

/**
 * Turns an X endpoint into a route that first checks the access token and the rate limits. The
 * route adds the rate-limit headers to the response.
 */
export function toRoute(network: XNetwork, endpoint: Endpoint): Route {
  const { method, path, operations, reads } = endpoint;
  return {
    method,
    path,
    operations,
    ...(reads === undefined ? {} : { reads }),
    handle: (call, moment) => {
      const { values } = network.world.settings;
      const refusal = refuseEveryone(call, values);
      if (refusal !== undefined) return refusal;
      const access = network.tokens.accessOf(bearerToken(call) ?? "", moment.now);
      const account = access && network.world.accounts.byId("x", access.account);
      if (access === undefined || account === undefined) return statusProblem(401);

      if (endpoint.scope !== undefined && !access.scopes.includes(endpoint.scope))
        return SCOPE_MISSING;

      const rules = rulesOf(endpoint, account, values);
      const spending = network.world.limits.spend(rules, moment.now);
      const headers = rateHeaders(spending);
      return spending.allowed
        ? withHeaders(
            answering(() => endpoint.handle({ call, account, ...moment })),
            headers,
          )
        : withHeaders(statusProblem(429), headers);
    },
  };
}
