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

export interface XCall extends Moment {
  readonly call: Call;
  readonly account: Account;
}

export interface Endpoint {
  readonly method: Route["method"];
  readonly path: string;
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  readonly reads?: boolean;
  readonly scope?: string;
  readonly bucket: string;
  readonly perUser: number;
  readonly isLimitedDaily?: boolean;
  readonly handle: (call: XCall) => Reply;
}

/** In the order of the rules of `rulesOf`. */
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

/** Because of the settings. */
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
