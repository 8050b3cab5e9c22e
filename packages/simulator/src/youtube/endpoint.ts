import type { Operation } from "#src/faults/rule.ts";
import { answering, bearerToken, type Call, type Moment, type Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import { type Cost, spendQuota } from "#src/youtube/quota.ts";
import type { Access } from "#src/youtube/tokens.ts";

export interface YoutubeCall extends Moment {
  readonly call: Call;
  readonly channel: Account;
}

export interface Endpoint {
  readonly method: Route["method"];
  readonly path: string;
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  readonly reads?: boolean;
  /** The access token must have at least one of them. */
  readonly scopes: readonly string[];
  readonly cost: Cost;
  readonly parameters: readonly string[];
  readonly handle: (call: YoutubeCall) => Reply;
}

const COMMON_PARAMETERS = ["alt", "key", "prettyPrint", "quotaUser"];

export function checkParameters(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys())
    if (!known.includes(name) && !COMMON_PARAMETERS.includes(name)) {
      const message = `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter.`;
      refuse(400, "badRequest", { message });
    }
}

export function requireParameter(query: URLSearchParams, name: string): string {
  const value = query.get(name) ?? "";
  return value === ""
    ? refuse(400, "missingRequiredParameter", {
        message: `No filter selected. Expected one of: ${name}`,
        domain: "youtube.parameter",
        location: name,
      })
    : value;
}

/** Refuses a call without a part, or with an unknown part. */
export function partsOf(query: URLSearchParams, known: readonly string[]): ReadonlySet<string> {
  const names = query.getAll("part").flatMap((value) => value.split(","));
  for (const name of names)
    if (!known.includes(name))
      refuse(400, "unknownPart", { message: name, domain: "youtube.part", location: "part" });

  if (names.length === 0) requireParameter(query, "part");

  return new Set(names);
}

function accessOf(network: YoutubeNetwork, call: Call, now: number): Access {
  const access = network.tokens.accessOf(bearerToken(call) ?? "", now);
  return access ?? refuse(401, "authError", { location: "Authorization" });
}

function checkScopes({ scopes }: Access, accepted: readonly string[]): void {
  if (!accepted.some((scope) => scopes.includes(scope))) {
    const message = "Request had insufficient authentication scopes.";
    refuse(403, "insufficientPermissions", { message });
  }
}

export function requireChannel(
  network: YoutubeNetwork,
  call: Call,
  scopes: readonly string[],
  now: number,
): Account {
  const access = accessOf(network, call, now);
  checkScopes(access, scopes);
  const channel = network.world.accounts.byId("youtube", access.account);
  return channel ?? refuse(401, "youtubeSignupRequired", { domain: "youtube.header" });
}

export function toRoute(network: YoutubeNetwork, endpoint: Endpoint): Route {
  const { method, path, operations, reads, scopes, cost, parameters, handle } = endpoint;
  return {
    method,
    path,
    operations,
    ...(reads === undefined ? {} : { reads }),
    handle: (call, moment) =>
      answering(() => {
        const channel = requireChannel(network, call, scopes, moment.now);
        checkParameters(call.query, parameters);
        spendQuota(network.world, cost, moment.now);
        return handle({ call, channel, ...moment });
      }),
  };
}
