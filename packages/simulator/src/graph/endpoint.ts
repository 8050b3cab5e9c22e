import { graphError, refuseGraph, statusError, tokenError } from "#src/graph/errors.ts";
import type { GraphHost, GraphToken } from "#src/graph/host.ts";
import { type GraphParameters, parametersOf } from "#src/graph/parameters.ts";
import { answering, type Call, type Moment, type Reply } from "#src/http/call.ts";
import type { Endpoint, Route } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { DAY_MS, type Spending } from "#src/world/limits.ts";

function spendCall({ platform, world }: GraphHost, account: Account, now: number): Spending {
  const key = `${platform}:calls:${account.externalId}`;
  return world.limits.spend(
    [{ key, limit: world.settings.values.graphCallsPerDay, windowMs: DAY_MS }],
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

function withUsage(
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

export interface GraphCall extends Moment {
  readonly call: Call;
  readonly parameters: GraphParameters;
  readonly account: Account;
  readonly token: GraphToken;
  readonly version: string;
  readonly id: string;
}

/** An endpoint below the version of the Graph API. */
export interface GraphEndpoint<Network> extends Endpoint<Network, GraphCall> {
  readonly scope?: string;
  /** Parameters with URLs of files that the simulator fetches before it handles the call. */
  readonly fetches?: readonly string[];
}

/** Facebook has one host; Instagram has one for each of its logins. */
export interface GraphFlavour {
  readonly prefix: string;
  /** A host of Instagram Login accepts its tokens and no others; other hosts refuse them. */
  readonly isInstagramLogin: boolean;
}

const FACEBOOK_LOGIN: GraphFlavour = { prefix: "", isInstagramLogin: false };

const VERSION = /^v(?:2[2-6])\.0$/;

/** In the Authorization header (scheme Bearer or OAuth) or in the parameter `access_token`. */
export function tokenOf(call: Call): string {
  const [scheme = "", token = ""] = (call.headers.authorization ?? "").split(" ", 2);
  return /^(?:bearer|oauth)$/i.test(scheme) ? token : parametersOf(call).text("access_token");
}

export function accountOf({ platform, world, tokens }: GraphHost, call: Call): Account | undefined {
  const token = tokens.find(answeringText(() => tokenOf(call)));
  return token === undefined ? undefined : world.accounts.byId(platform, token.account);
}

/** Empty when the body is invalid, because the endpoint reports that itself. */
function answeringText(read: () => string): string {
  let text = "";
  answering(() => {
    text = read();
    return { status: 200, body: null };
  });
  return text;
}

/** The permissions of Instagram Login have names of their own. */
export function requireScope({ kind, scopes }: GraphToken, scope: string): void {
  const name = kind === "instagram" ? scope.replace(/^instagram_/, "instagram_business_") : scope;
  if (!scopes.includes(name))
    refuseGraph({ code: 200, message: `Requires the ${name} permission` }, 403);
}

function authenticated(
  host: GraphHost,
  endpoint: { readonly scope?: string } & GraphFlavour,
  call: Call,
  moment: Moment,
) {
  const check = host.tokens.check(tokenOf(call), moment.now);
  if (check.kind === "refused") return tokenError(check.subcode);
  const { token } = check;
  if ((token.kind === "instagram") !== endpoint.isInstagramLogin)
    return graphError({ code: 190, message: "Invalid OAuth access token - Cannot parse" }, 401);
  if (endpoint.scope !== undefined) requireScope(token, endpoint.scope);
  const account = host.world.accounts.byId(host.platform, token.account);
  return account === undefined ? tokenError(467) : { account, token };
}

function serve<Network extends GraphHost>(
  host: Network,
  endpoint: GraphEndpoint<Network> & GraphFlavour,
  call: Call,
  moment: Moment,
): Reply {
  const version = call.params["version"] ?? "";
  if (!VERSION.test(version))
    return graphError({ code: 2635, message: `Unknown path components: /${version}` });
  const caller = authenticated(host, endpoint, call, moment);
  if ("status" in caller) return caller;
  const spending = spendCall(host, caller.account, moment.now);
  if (!spending.allowed)
    return withUsage(host, caller.account, spending, moment.now, limitReached(host));
  const parameters = parametersOf(call);
  const id = call.params["id"] ?? "";
  const reply = endpoint.handle(host, { call, parameters, version, id, ...caller, ...moment });
  return withUsage(host, caller.account, spending, moment.now, reply);
}

function limitReached({ platform }: GraphHost): Reply {
  const code = platform === "facebook" ? 80_001 : 80_002;
  return graphError({ code, message: "There have been too many calls to this account." });
}

export function graphRoutes<Network extends GraphHost>(
  host: Network,
  endpoints: readonly GraphEndpoint<Network>[],
  flavour = FACEBOOK_LOGIN,
): readonly Route[] {
  return endpoints.map((endpoint) => ({
    method: endpoint.method,
    path: `${flavour.prefix}/:version${endpoint.path}`,
    operations: (call) => endpoint.operations(call, host),
    fetches: (call) => addressesOf(call, endpoint.fetches ?? []),
    handle: (call, moment) => serve(host, { ...endpoint, ...flavour }, call, moment),
  }));
}

function addressesOf(call: Call, names: readonly string[]): readonly string[] {
  const parameters = parametersOf(call);
  return names
    .filter((name) => parameters.has(name))
    .map((name) => answeringText(() => parameters.text(name)))
    .filter((address) => address !== "");
}
