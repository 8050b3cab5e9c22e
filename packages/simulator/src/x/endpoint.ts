import type { Operation } from "#src/faults/rule.ts";
import { answering, bearerToken } from "#src/http/call.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { LimitRule, Spending } from "#src/world/limits.ts";
import { invalidRequest, SCOPE_MISSING, statusProblem } from "#src/x/errors.ts";
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
  /**
   * Maximum number of calls of the X endpoint per app and 24 hours; absent for endpoints without
   * such a limit.
   */
  readonly perAppDaily?: number;
  readonly handle: (call: XCall) => Reply;
}

function rulesOf(endpoint: Endpoint, account: Account): LimitRule[] {
  const { bucket, perUser, perAppDaily } = endpoint;
  const key = `x:${bucket}:${account.externalId}`;
  const user: LimitRule = { key, limit: perUser, windowMs: QUARTER_HOUR_MS };
  return perAppDaily === undefined
    ? [user]
    : [user, { key: `x:${bucket}:app`, limit: perAppDaily, windowMs: DAY_MS }];
}

function rateHeaders({ standings }: Spending): Record<string, string> {
  const [user, app] = standings;
  const headers: Record<string, string> = {};
  if (user !== undefined) {
    headers["x-rate-limit-limit"] = String(user.limit);
    headers["x-rate-limit-remaining"] = String(user.remaining);
    headers["x-rate-limit-reset"] = String(Math.ceil(user.resetAt / 1000));
  }
  if (app !== undefined) {
    headers["x-app-limit-24hour-limit"] = String(app.limit);
    headers["x-app-limit-24hour-remaining"] = String(app.remaining);
    headers["x-app-limit-24hour-reset"] = String(Math.ceil(app.resetAt / 1000));
  }
  return headers;
}

function withHeaders(reply: Reply, headers: Record<string, string>): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
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
      if (call.query.has("tweet.fields") && network.world.settings.values.xFieldNames === "new") {
        const message = "The query parameter [tweet.fields] is not one of [post.fields,expansions]";
        return invalidRequest({ "tweet.fields": [call.query.get("tweet.fields")] }, message);
      }
      const access = network.tokens.accessOf(bearerToken(call) ?? "", moment.now);
      const account = access && network.world.accounts.byId("x", access.account);
      if (access === undefined || account === undefined) {
        return statusProblem(401);
      }
      if (endpoint.scope !== undefined && !access.scopes.includes(endpoint.scope)) {
        return SCOPE_MISSING;
      }
      const spending = network.world.limits.spend(rulesOf(endpoint, account), moment.now);
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
