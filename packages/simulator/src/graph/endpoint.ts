import type { Operation } from "#src/faults/rule.ts";
import { graphError, refuseGraph, tokenError } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import { type GraphParameters, parametersOf } from "#src/graph/parameters.ts";
import type { GraphToken } from "#src/graph/tokens.ts";
import { spendCall, withUsage } from "#src/graph/usage.ts";
import { answering, type Call, type Moment, type Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";

export interface GraphCall extends Moment {
  readonly call: Call;
  readonly parameters: GraphParameters;
  readonly account: Account;
  readonly token: GraphToken;
  readonly version: string;
  readonly id: string;
}

export interface GraphEndpoint {
  readonly method: Route["method"];
  readonly path: string;
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  readonly reads?: boolean;
  readonly scope?: string;
  readonly fetches?: readonly string[];
  readonly handle: (call: GraphCall) => Reply;
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
  endpoint: GraphEndpoint & GraphFlavour,
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

function handle(
  host: GraphHost,
  endpoint: GraphEndpoint & GraphFlavour,
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
  const reply = endpoint.handle({ call, parameters, version, id, ...caller, ...moment });
  return withUsage(host, caller.account, spending, moment.now, reply);
}

function limitReached({ platform }: GraphHost): Reply {
  const code = platform === "facebook" ? 80_001 : 80_002;
  return graphError({ code, message: "There have been too many calls to this account." });
}

export function toGraphRoute(
  host: GraphHost,
  endpoint: GraphEndpoint,
  flavour = FACEBOOK_LOGIN,
): Route {
  const { method, path, operations, reads, fetches } = endpoint;
  return {
    method,
    path: `${flavour.prefix}/:version${path}`,
    operations,
    ...(reads === undefined ? {} : { reads }),
    ...(fetches === undefined ? {} : { fetches: (call) => addressesOf(call, fetches) }),
    handle: (call, moment) =>
      answering(() => handle(host, { ...endpoint, ...flavour }, call, moment)),
  };
}

function addressesOf(call: Call, names: readonly string[]): readonly string[] {
  const parameters = parametersOf(call);
  return names
    .filter((name) => parameters.has(name))
    .map((name) => answeringText(() => parameters.text(name)))
    .filter((address) => address !== "");
}
