import type { GraphFlavour } from "#src/graph/endpoint.ts";
import { graphError, tokenError } from "#src/graph/errors.ts";
import type { GraphToken } from "#src/graph/host.ts";
import { parametersOf } from "#src/graph/parameters.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import { authorizeRoutes } from "#src/oauth/authorize.ts";
import { AuthorizationCodes } from "#src/oauth/codes.ts";
import type { AccountIssuer, IssuedAccount, Route } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { DAY_MS } from "#src/world/limits.ts";

/** Stands for the hosts www.instagram.com, api.instagram.com and graph.instagram.com. */
export const INSTAGRAM_LOGIN: GraphFlavour = { prefix: "/login", isInstagramLogin: true };

/** Instagram Login has no permission to delete posts. */
const INSTAGRAM_SCOPES: readonly string[] = [
  "instagram_business_basic",
  "instagram_business_content_publish",
  "instagram_business_manage_comments",
  "instagram_business_manage_insights",
  "instagram_business_manage_messages",
];

const CODE_LIFETIME_MS = 3_600_000;
const SHORT_LIFETIME_MS = 3_600_000;
const LONG_LIFETIME_MS = 60 * DAY_MS;
const MIN_REFRESH_AGE_MS = DAY_MS;

type Grant = Pick<GraphToken, "account" | "user" | "scopes">;

function issue(
  { tokens }: InstagramNetwork,
  grant: Grant,
  now: number,
  lifetimeMs: number,
): string {
  return tokens.issue({ kind: "instagram", ...grant, issuedAt: now, expiresAt: now + lifetimeMs });
}

function issueLongToken(
  network: InstagramNetwork,
  account: Account,
  permissions?: readonly string[],
): { readonly accessToken: string; readonly expiresInSeconds: number } {
  const user = network.ownerships.get(account.externalId)?.userId ?? "";
  const scopes = INSTAGRAM_SCOPES.filter((scope) => permissions?.includes(scope) ?? true);
  const grant = { account: account.externalId, user, scopes };
  const accessToken = issue(network, grant, network.world.clock.now(), LONG_LIFETIME_MS);
  return { accessToken, expiresInSeconds: LONG_LIFETIME_MS / 1000 };
}

function longReply(network: InstagramNetwork, { account, user, scopes }: Grant, now: number) {
  const accessToken = issue(network, { account, user, scopes }, now, LONG_LIFETIME_MS);
  const expiresIn = LONG_LIFETIME_MS / 1000;
  const permissions = scopes.join(",");
  const body = { access_token: accessToken, token_type: "bearer", expires_in: expiresIn };
  return { status: 200, body: { ...body, permissions } };
}

/** The error response when the text is not a valid token of Instagram Login. */
function givenToken(network: InstagramNetwork, text: string, now: number): GraphToken | Reply {
  const check = network.tokens.check(text, now);
  if (check.kind === "refused") return tokenError(check.subcode);
  return check.token.kind === "instagram"
    ? check.token
    : graphError({ code: 190, message: "Invalid OAuth access token - Cannot parse" }, 401);
}

function route(
  method: Route["method"],
  path: string,
  operation: "login" | "refresh",
  handle: (call: Call, moment: Moment) => Reply,
): Route {
  return {
    method,
    path: INSTAGRAM_LOGIN.prefix + path,
    operations: () => [operation],
    handle,
  };
}

function codeRoute(network: InstagramNetwork, codes: AuthorizationCodes): Route {
  return route("POST", "/oauth/access_token", "login", (call, { now }) => {
    const parameters = parametersOf(call);
    parameters.oneOf("grant_type", ["authorization_code"]);
    parameters.required("client_secret");
    const approval = codes.redeem(
      {
        code: parameters.required("code"),
        clientId: parameters.required("client_id"),
        redirectUri: parameters.required("redirect_uri"),
        codeVerifier: "",
      },
      now,
    );
    const [account] = approval?.accounts ?? [];
    if (approval === undefined || account === undefined) {
      const message = "Invalid authorization code";
      return {
        status: 400,
        body: { error_type: "OAuthException", code: 400, error_message: message },
      };
    }
    const user = network.ownerships.get(account)?.userId ?? "";
    const { scopes } = approval;
    const accessToken = issue(network, { account, user, scopes }, now, SHORT_LIFETIME_MS);
    const permissions = scopes.join(",");
    const body = { access_token: accessToken, user_id: account, permissions };
    const isList = network.world.settings.values.instagramTokenShape === "list";
    return { status: 200, body: isList ? { data: [body] } : body };
  });
}

function exchangeRoute(network: InstagramNetwork): Route {
  return route("GET", "/access_token", "login", (call, { now }) => {
    const parameters = parametersOf(call);
    parameters.oneOf("grant_type", ["ig_exchange_token"]);
    parameters.required("client_secret");
    const given = givenToken(network, parameters.required("access_token"), now);
    return "status" in given ? given : longReply(network, given, now);
  });
}

/** Renews a token that is at least a day old. Instagram Login has no refresh tokens. */
function refreshRoute(network: InstagramNetwork): Route {
  return route("GET", "/refresh_access_token", "refresh", (call, { now }) => {
    const parameters = parametersOf(call);
    parameters.oneOf("grant_type", ["ig_refresh_token"]);
    const given = givenToken(network, parameters.required("access_token"), now);
    if ("status" in given) return given;
    return now - given.issuedAt < MIN_REFRESH_AGE_MS
      ? graphError({ code: 10, message: "The access token is not 24 hours old yet" }, 403)
      : longReply(network, given, now);
  });
}

export function instagramLoginRoutes(
  network: InstagramNetwork,
  platform: AccountIssuer,
): readonly Route[] {
  const { store, secrets, settings } = network.world;
  const codes = new AuthorizationCodes(store, secrets, "instagram.login", CODE_LIFETIME_MS);
  return [
    ...authorizeRoutes({
      platform,
      path: `${INSTAGRAM_LOGIN.prefix}/oauth/authorize`,
      clientParameter: "client_id",
      scopeSeparator: ",",
      scopes: INSTAGRAM_SCOPES,
      pkce: "none",
      settings,
      codes,
    }),
    codeRoute(network, codes),
    exchangeRoute(network),
    refreshRoute(network),
  ];
}

export const SCOPES: readonly string[] = [
  "business_management",
  "instagram_basic",
  "instagram_content_publish",
  "instagram_manage_contents",
  "instagram_manage_comments",
  "instagram_manage_insights",
  "instagram_manage_messages",
  "pages_show_list",
  "pages_read_engagement",
  "pages_messaging",
];

function ensureAccount({ world, ownerships }: InstagramNetwork, username: string | undefined) {
  const { accounts, clock, snowflakes } = world;
  const nextId = () => snowflakes.next(clock.now());
  return accounts.ensure("instagram", username, {
    nameOf: (words, number) => `${words.join("_")}${number}`,
    newId: (displayName) => {
      const id = nextId();
      ownerships.put(id, { pageId: nextId(), pageName: displayName, userId: nextId() });
      return id;
    },
  });
}

/** Each of the two tokens gets those of the permissions that exist in its login. */
export function issueAccount(
  network: InstagramNetwork,
  username: string | undefined,
  permissions?: readonly string[],
): IssuedAccount {
  const account = ensureAccount(network, username);
  const { externalId } = account;
  const accessToken = network.tokens.issue({
    kind: "page",
    account: externalId,
    user: network.ownerships.get(externalId)?.userId ?? "",
    scopes: SCOPES.filter((scope) => permissions?.includes(scope) ?? true),
    issuedAt: network.world.clock.now(),
    expiresAt: null,
  });
  const own = issueLongToken(network, account, permissions);
  return {
    account,
    credentials: {
      accessToken,
      instagramAccessToken: own.accessToken,
      expiresInSeconds: own.expiresInSeconds,
    },
  };
}

export function toPageView(
  { ownerships }: InstagramNetwork,
  { externalId, username }: Account,
  accessToken: string,
): Readonly<Record<string, unknown>> {
  const ownership = ownerships.get(externalId);
  return {
    id: ownership?.pageId ?? "",
    name: ownership?.pageName ?? "",
    access_token: accessToken,
    tasks: ["CREATE_CONTENT", "MODERATE", "MESSAGING", "ANALYZE"],
    instagram_business_account: { id: externalId, username },
  };
}
