import type { Operation } from "#src/faults/rule.ts";
import { graphError, refuseGraph, tokenError } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import { type GraphParameters, parametersOf } from "#src/graph/parameters.ts";
import type { GraphToken } from "#src/graph/tokens.ts";
import { spendCall, withUsage } from "#src/graph/usage.ts";
import { answering, type Call, type Moment, type Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";

/** A Graph API call with a valid access token. */
export interface GraphCall extends Moment {
  readonly call: Call;
  readonly parameters: GraphParameters;
  /** The account on whose behalf the Graph API call acts, as its access token says. */
  readonly account: Account;
  readonly token: GraphToken;
  /** Graph API version in the path, for example `v25.0`. */
  readonly version: string;
  /**
   * Graph API id in the path, for example of a post or a comment; empty when the path has no id.
   */
  readonly id: string;
}

export interface GraphEndpoint {
  readonly method: Route["method"];
  /**
   * Path of the endpoint below the Graph API version, with `:id` for the id of a post, a comment
   * and so on.
   */
  readonly path: string;
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  readonly reads?: boolean;
  /** Permission that the access token must have for this Graph API endpoint. */
  readonly scope?: string;
  /**
   * Names of the parameters that contain media URLs. The simulator fetches these URLs before it
   * handles the call.
   */
  readonly fetches?: readonly string[];
  readonly handle: (call: GraphCall) => Reply;
}

/**
 * A host name of the Graph API. Facebook has one host. Instagram has two: one for Facebook Login and one for
 * Instagram Login.
 */
export interface GraphFlavour {
  /** Path prefix in the simulator that replaces a host name of the Graph API. */
  readonly prefix: string;
  /**
   * True: the Graph API host accepts tokens of Instagram Login and no other tokens. False: the host refuses tokens of
   * Instagram Login.
   */
  readonly isInstagramLogin: boolean;
}

const FACEBOOK_LOGIN: GraphFlavour = { prefix: "", isInstagramLogin: false };

const VERSION = /^v(?:2[2-6])\.0$/;

/**
 * The access token of a Graph API call, in the Authorization header (scheme Bearer or OAuth) or in
 * the parameter `access_token`.
 */
export function tokenOf(call: Call): string {
  const [scheme = "", token = ""] = (call.headers.authorization ?? "").split(" ", 2);
  return /^(?:bearer|oauth)$/i.test(scheme) ? token : parametersOf(call).text("access_token");
}

/** The account of a Graph API call's token, also when the token has expired or is revoked. */
export function accountOf({ platform, world, tokens }: GraphHost, call: Call): Account | undefined {
  const token = tokens.find(answeringText(() => tokenOf(call)));
  return token === undefined ? undefined : world.accounts.byId(platform, token.account);
}

/**
 * Returns the text that `read` finds in a Graph API call. Returns an empty text when `read` refuses
 * the call's body as invalid, because the endpoint reports the invalid body itself.
 */
function answeringText(read: () => string): string {
  let text = "";
  answering(() => {
    text = read();
    return { status: 200, body: null };
  });
  return text;
}

/**
 * Refuses the call when its token lacks a permission. The permissions of Instagram Login have names
 * of their own.
 */
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

/**
 * The route of a Graph API endpoint. The route checks version, token, permission and rate limit
 * before it calls the handler.
 */
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
