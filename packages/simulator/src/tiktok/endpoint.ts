import type { Operation } from "#src/faults/rule.ts";
import {
  answering,
  bearerToken,
  type Call,
  contentType,
  jsonObject,
  type Moment,
  type Reply,
} from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import { apiError, refuse, refuseParameter } from "#src/tiktok/errors.ts";
import type { TiktokNetwork } from "#src/tiktok/network.ts";
import type { Account } from "#src/world/accounts.ts";

const MINUTE_MS = 60_000;

/** A TikTok call with a valid access token. */
export interface TiktokCall extends Moment {
  readonly call: Call;
  readonly account: Account;
  /** The JSON body of the TikTok call; empty for an endpoint without a body. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Endpoint {
  readonly method: "GET" | "POST";
  /** The path of the TikTok endpoint. It ends with a slash, as in TikTok's documentation. */
  readonly path: string;
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  readonly reads?: boolean;
  readonly fetches?: (call: Call) => readonly string[];
  readonly scope: string;
  /** Name of the counter for the rate limit of the TikTok endpoint. */
  readonly bucket: string;
  /** Maximum number of calls of the TikTok endpoint per minute and user. */
  readonly perMinute: number;
  readonly handle: (call: TiktokCall) => Reply;
}

/** The JSON object in the body of a TikTok call. A missing body counts as an empty object. */
function bodyOf(call: Call): Readonly<Record<string, unknown>> {
  if (call.method === "GET" || call.body.length === 0) return {};

  const body = contentType(call) === "application/json" ? jsonObject(call) : undefined;
  return body ?? refuseParameter("The body is not a JSON object or has another Content-Type.");
}

function serve(network: TiktokNetwork, endpoint: Endpoint, call: Call, moment: Moment): Reply {
  const token = network.tokens.access(bearerToken(call) ?? "", moment.now);
  const account =
    token === undefined ? undefined : network.world.accounts.byId("tiktok", token.account);
  if (token === undefined || account === undefined) return apiError("access_token_invalid");

  if (!token.scopes.includes(endpoint.scope)) return apiError("scope_not_authorized");

  const key = `tiktok:${endpoint.bucket}:${account.externalId}`;
  const rule = { key, limit: endpoint.perMinute, windowMs: MINUTE_MS };
  if (!network.world.limits.spend([rule], moment.now).allowed) refuse("rate_limit_exceeded");

  return endpoint.handle({ call, account, body: bodyOf(call), ...moment });
}

/**
 * Turns a TikTok endpoint into a route that first checks the access token, its scope and the rate
 * limit.
 */
export function toRoute(network: TiktokNetwork, endpoint: Endpoint): Route {
  const { method, path, operations, reads, fetches } = endpoint;
  return {
    method,
    path,
    operations,
    ...(reads === undefined ? {} : { reads }),
    ...(fetches === undefined ? {} : { fetches }),
    handle: (call, moment) => answering(() => serve(network, endpoint, call, moment)),
  };
}
