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

export interface TiktokCall extends Moment {
  readonly call: Call;
  readonly account: Account;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Endpoint {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  readonly reads?: boolean;
  readonly fetches?: (call: Call) => readonly string[];
  readonly scope: string;
  readonly bucket: string;
  readonly perMinute: number;
  readonly handle: (call: TiktokCall) => Reply;
}

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
