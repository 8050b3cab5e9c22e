import { type GraphCall, type GraphEndpoint, graphRoutes } from "#src/graph/endpoint.ts";
import { graphError, refuseGraph } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import { type GraphParameters, parametersOf, pickFields } from "#src/graph/parameters.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import { authorizeRoutes } from "#src/oauth/authorize.ts";
import { type Approval, AuthorizationCodes } from "#src/oauth/codes.ts";
import { type AccountIssuer, on, type Route } from "#src/platform.ts";
import type { Table } from "#src/store/store.ts";
import type { Account } from "#src/world/accounts.ts";
import { DAY_MS } from "#src/world/limits.ts";

type Choices = Table<readonly string[]>;

const BUSINESS_ID = "900000000000001";

/**
 * A user manages a Page `portfolio…` or `client…` through a Business portfolio; `/me/accounts` does
 * not contain it.
 */
function listOf({ username }: Account): "accounts" | "owned_pages" | "client_pages" {
  if (username.startsWith("portfolio")) return "owned_pages";
  return username.startsWith("client") ? "client_pages" : "accounts";
}

function pagesIn(
  { host, pageView }: FacebookLogin,
  choices: Choices,
  list: ReturnType<typeof listOf>,
  { token, parameters, now }: GraphCall,
): Reply {
  if (token.kind !== "user")
    return graphError({ code: 100, message: "A page token has no accounts." });
  const chosen = choices.get(token.user) ?? [];
  const data = chosen.flatMap((externalId) => {
    const account = host.world.accounts.byId(host.platform, externalId);
    if (account === undefined || listOf(account) !== list) return [];
    const { user, scopes } = token;
    const page = { kind: "page", account: externalId, user, scopes } as const;
    const accessToken = host.tokens.issue({ ...page, issuedAt: now, expiresAt: null });
    const view = pageView(account, accessToken);
    return [pickFields(parameters, view, ["name", "access_token", "tasks"])];
  });
  return { status: 200, body: { data, paging: { cursors: { before: "b", after: "a" } } } };
}

function listPermissions(_host: GraphHost, { token, parameters }: GraphCall): Reply {
  parameters.checkNames([]);
  if (token.kind !== "user")
    return refuseGraph({ code: 100, message: "Only a user has permissions." });
  const { scopes, declined = [] } = token;
  const data = [
    ...scopes.map((permission) => ({ permission, status: "granted" })),
    ...declined.map((permission) => ({ permission, status: "declined" })),
  ];
  return { status: 200, body: { data } };
}

function listBusinesses(): Reply {
  return { status: 200, body: { data: [{ id: BUSINESS_ID, name: "Portfolio" }] } };
}

/** A user's permissions, and the lists of the user's Pages: the own ones, and the portfolio's. */
function userEndpoints(
  login: FacebookLogin,
  choices: Choices,
): readonly GraphEndpoint<GraphHost>[] {
  const business = { scope: "business_management" };
  const listIn = (list: ReturnType<typeof listOf>) => (_host: GraphHost, call: GraphCall) =>
    pagesIn(login, choices, list, call);
  return [
    on("GET /me/permissions", ["account"], listPermissions),
    on("GET /me/accounts", ["account"], listIn("accounts"), { scope: "pages_show_list" }),
    on("GET /me/businesses", ["account"], listBusinesses, business),
    on(`GET /${BUSINESS_ID}/owned_pages`, ["account"], listIn("owned_pages"), business),
    on(`GET /${BUSINESS_ID}/client_pages`, ["account"], listIn("client_pages"), business),
  ];
}

const CODE_LIFETIME_MS = 600_000;
const SHORT_LIFETIME_MS = 3_600_000;
const LONG_LIFETIME_MS = 60 * DAY_MS;

export interface FacebookLogin {
  readonly host: GraphHost;
  readonly listScopes: () => readonly string[];
  readonly accounts: AccountIssuer;
  readonly pageView: (account: Account, accessToken: string) => Readonly<Record<string, unknown>>;
}

function userTokenReply(accessToken: string, lifetimeMs: number): Reply {
  const body = { access_token: accessToken, token_type: "bearer", expires_in: lifetimeMs / 1000 };
  return { status: 200, body };
}

function userToken(login: FacebookLogin, choices: Choices, approval: Approval, now: number): Reply {
  const { host } = login;
  const user = host.world.snowflakes.next(now);
  choices.put(user, approval.accounts);
  const token = host.tokens.issue({
    kind: "user",
    account: approval.accounts[0] ?? "",
    user,
    scopes: approval.scopes,
    declined: approval.declined,
    issuedAt: now,
    expiresAt: now + SHORT_LIFETIME_MS,
  });
  return userTokenReply(token, SHORT_LIFETIME_MS);
}

function longToken({ tokens }: GraphHost, parameters: GraphParameters, now: number): Reply {
  const check = tokens.check(parameters.required("fb_exchange_token"), now);
  if (check.kind === "refused" || check.token.kind !== "user")
    return graphError({ code: 190, message: "Invalid OAuth access token." });
  const { deadBecause: _, ...grant } = check.token;
  const token = tokens.issue({ ...grant, issuedAt: now, expiresAt: now + LONG_LIFETIME_MS });
  return userTokenReply(token, LONG_LIFETIME_MS);
}

function tokenRoute(login: FacebookLogin, choices: Choices, codes: AuthorizationCodes): Route {
  const handle = (call: Call, { now }: Moment): Reply => {
    const parameters = parametersOf(call);
    const clientId = parameters.required("client_id");
    // The simulator accepts any secret, because it has no registered apps.
    parameters.required("client_secret");
    if (parameters.text("grant_type") === "fb_exchange_token")
      return longToken(login.host, parameters, now);
    const approval = codes.redeem(
      {
        code: parameters.required("code"),
        clientId,
        redirectUri: parameters.required("redirect_uri"),
        codeVerifier: "",
      },
      now,
    );
    return approval === undefined
      ? graphError({
          code: 100,
          subcode: 36_007,
          message: "This authorization code has been used.",
        })
      : userToken(login, choices, approval, now);
  };
  return {
    method: "GET",
    path: "/:version/oauth/access_token",
    operations: () => ["login"],
    handle,
  };
}

export function facebookLoginRoutes(login: FacebookLogin): readonly Route[] {
  const { host, accounts } = login;
  const { platform, world } = host;
  const codes = new AuthorizationCodes(world.store, world.secrets, platform, CODE_LIFETIME_MS);
  const choices: Choices = world.store.table(`${platform}.choices`, { keptOnReset: true });
  return [
    ...authorizeRoutes({
      platform: accounts,
      path: "/:version/dialog/oauth",
      clientParameter: "client_id",
      scopeSeparator: ",",
      get scopes() {
        return login.listScopes();
      },
      pkce: "none",
      settings: world.settings,
      codes,
    }),
    tokenRoute(login, choices, codes),
    ...graphRoutes(host, userEndpoints(login, choices)),
  ];
}
