import { Blobs, VideoJobs } from "#src/bluesky/blobs.ts";
import { refuse, refuseInput, statusError } from "#src/bluesky/errors.ts";
import { Tids } from "#src/bluesky/ids.ts";
import { Records } from "#src/bluesky/records.ts";
import { ServiceTokens, Sessions } from "#src/bluesky/sessions.ts";
import {
  answering,
  bearerToken,
  type Call,
  contentType,
  jsonObject,
  type Moment,
  Refused,
  type Reply,
} from "#src/http/call.ts";
import type { Endpoint } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { DAY_MS, type LimitRule, type LimitStanding } from "#src/world/limits.ts";
import type { World } from "#src/world/world.ts";

export type BlueskyNetwork = ReturnType<typeof createNetwork>;

export function createNetwork(world: World) {
  const { store, secrets } = world;
  return {
    world,
    sessions: new Sessions(store, secrets),
    serviceTokens: new ServiceTokens(store, secrets),
    records: new Records(store),
    blobs: new Blobs(store),
    videoJobs: new VideoJobs(store),
    tids: new Tids(),
  };
}

export function findActor({ world }: BlueskyNetwork, identifier: string): Account | undefined {
  return world.accounts.find("bluesky", identifier.replace(/^@/, ""));
}

const FIVE_MINUTES_MS = 300_000;
const HOUR_MS = 3_600_000;
const CALLS_PER_ADDRESS = 3000;
const POINTS_PER_HOUR = 5000;
const POINTS_PER_DAY = 35_000;

export interface XrpcCall extends Moment {
  readonly call: Call;
  /** Answers the call with 429 when one of these limits is exhausted. */
  readonly spend: (rules: readonly LimitRule[]) => void;
}

export type XrpcMethod = Endpoint<BlueskyNetwork, XrpcCall>;

function rateHeaders(standing: LimitStanding): Record<string, string> {
  return {
    "ratelimit-limit": String(standing.limit),
    "ratelimit-remaining": String(standing.remaining),
    "ratelimit-reset": String(Math.ceil(standing.resetAt / 1000)),
    "ratelimit-policy": `${standing.limit};w=${standing.windowMs / 1000}`,
  };
}

/** The limit with the fewest units left, which the rate-limit headers describe. */
function lowestRemaining(standings: readonly LimitStanding[]): LimitStanding | undefined {
  return standings.reduce<LimitStanding | undefined>(
    (lowest, next) => (lowest === undefined || next.remaining < lowest.remaining ? next : lowest),
    undefined,
  );
}

class RateMeter {
  headers: Record<string, string> = {};
  readonly #network: BlueskyNetwork;
  readonly #now: number;

  constructor(network: BlueskyNetwork, now: number) {
    this.#network = network;
    this.#now = now;
  }

  spend(rules: readonly LimitRule[]): void {
    const { allowed, standings } = this.#network.world.limits.spend(rules, this.#now);
    const standing = lowestRemaining(standings);
    this.headers = standing === undefined ? {} : rateHeaders(standing);
    if (!allowed) {
      const waitMs = (standing?.resetAt ?? this.#now) - this.#now;
      this.headers["retry-after"] = String(Math.max(1, Math.ceil(waitMs / 1000)));
      throw new Refused(statusError(429));
    }
  }
}

const CALL_RULES: readonly LimitRule[] = [
  { key: "bluesky:calls:address", limit: CALLS_PER_ADDRESS, windowMs: FIVE_MINUTES_MS },
];

export function serve(
  network: BlueskyNetwork,
  method: XrpcMethod,
  call: Call,
  moment: Moment,
): Reply {
  const meter = new RateMeter(network, moment.now);
  const reply = answering(() => {
    meter.spend(CALL_RULES);
    return method.handle(network, { call, ...moment, spend: (rules) => meter.spend(rules) });
  });
  return { ...reply, headers: { ...meter.headers, ...reply.headers } };
}

export function pointRules(did: string, cost: number): LimitRule[] {
  return [
    { key: `bluesky:points:hour:${did}`, limit: POINTS_PER_HOUR, windowMs: HOUR_MS, cost },
    { key: `bluesky:points:day:${did}`, limit: POINTS_PER_DAY, windowMs: DAY_MS, cost },
  ];
}

export function loginRules(did: string): LimitRule[] {
  return [
    { key: `bluesky:logins:short:${did}`, limit: 30, windowMs: FIVE_MINUTES_MS },
    { key: `bluesky:logins:day:${did}`, limit: 300, windowMs: DAY_MS },
  ];
}

function requireType(call: Call): string {
  return (
    contentType(call) || refuseInput("Request encoding (Content-Type) required but not provided")
  );
}

export function inputBytes(call: Call): { readonly bytes: Buffer; readonly mimeType: string } {
  const mimeType = requireType(call);
  return call.body.length > 0
    ? { bytes: call.body, mimeType }
    : refuseInput("A request body was expected but none was provided");
}

export function inputOf(call: Call): Record<string, unknown> {
  requireType(call);
  if (contentType(call) !== "application/json")
    return refuseInput(`Wrong request encoding (Content-Type): ${contentType(call)}`);
  return jsonObject(call) ?? refuseInput("Invalid request body");
}

export function inputText(input: Record<string, unknown>, name: string): string {
  const value = input[name];
  if (value === undefined) return refuseInput(`Input must have the property "${name}"`);
  return typeof value === "string" ? value : refuseInput(`Input/${name} must be a string`);
}

export function queryText(call: Call, name: string): string {
  const value = call.query.get(name);
  return value === null || value === ""
    ? refuseInput(`Params must have the property "${name}"`)
    : value;
}

/** Refuses the call unless the token is valid and of the given kind. */
export function requireAuth(
  network: BlueskyNetwork,
  { call, now }: XrpcCall,
  kind: "access" | "refresh",
): { readonly account: Account; readonly session: string } {
  const token = bearerToken(call) ?? refuse(401, "AuthMissing", "Authentication Required");
  const check = network.sessions.check(token, kind, now);
  if (check === "expired") return refuse(400, "ExpiredToken", "Token has expired");
  if (check === "revoked") return refuse(400, "ExpiredToken", "Token has been revoked");
  if (typeof check === "string") {
    const message = check === "unknown" ? "Token could not be verified" : "Bad token scope";
    return refuse(400, "InvalidToken", message);
  }
  const account =
    findActor(network, check.did) ?? refuse(400, "InvalidToken", "Token could not be verified");
  return { account, session: check.session };
}
