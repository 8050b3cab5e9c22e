import { type GraphCall, type GraphEndpoint, toGraphRoute } from "#src/graph/endpoint.ts";
import { graphError, refuseGraph } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import { type GraphParameters, parametersOf, pickFields } from "#src/graph/parameters.ts";
import { answering, type Call, type Moment, type Reply } from "#src/http/call.ts";
import { authorizeRoutes } from "#src/oauth/authorize.ts";
import { type Approval, AuthorizationCodes } from "#src/oauth/codes.ts";
import type { Route } from "#src/platform.ts";
import type { Table } from "#src/store/table.ts";
import type { Account } from "#src/world/accounts.ts";

/** The external ids of the accounts that each user selected for the app in Facebook Login, by user id. */
type Choices = Table<readonly string[]>;

/**
 * What the routes for lists of Pages use of Facebook Login: the host of the Graph API, and the function that returns a
 * Page as the API shows it.
 */
interface PageOwner {
  readonly host: GraphHost;
  readonly pageView: (account: Account, accessToken: string) => Readonly<Record<string, unknown>>;
}

/** The one Business portfolio that every simulated user has. */
const BUSINESS_ID = "900000000000001";

/**
 * The list that contains a Page of a user. A user manages a Page whose username begins with `portfolio` or `client`
 * through a Business portfolio; `/me/accounts` does not contain such a Page.
 */
function listOf({ username }: Account): "accounts" | "owned_pages" | "client_pages" {
  if (username.startsWith("portfolio")) return "owned_pages";

  return username.startsWith("client") ? "client_pages" : "accounts";
}

/** Returns one list of the Pages that a user selected, each Page with an access token that does not expire. */
function pagesIn(
  { host, pageView }: PageOwner,
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

/** The lists of a user's Pages: the user's own Pages, and those of the Business portfolio. */
function pageListRoutes(owner: PageOwner, choices: Choices): readonly Route[] {
  const { host } = owner;
  const shared: Pick<GraphEndpoint, "method" | "operations"> = {
    method: "GET",
    operations: () => ["account"],
  };
  const ofBusiness = { ...shared, scope: "business_management" };
  const listIn = (list: ReturnType<typeof listOf>) => (call: GraphCall) =>
    pagesIn(owner, choices, list, call);
  return [
    toGraphRoute(host, {
      ...shared,
      path: "/me/accounts",
      scope: "pages_show_list",
      handle: listIn("accounts"),
    }),
    toGraphRoute(host, {
      ...ofBusiness,
      path: "/me/businesses",
      handle: () => ({ status: 200, body: { data: [{ id: BUSINESS_ID, name: "Portfolio" }] } }),
    }),
    ...(["owned_pages", "client_pages"] as const).map((list) =>
      toGraphRoute(host, {
        ...ofBusiness,
        path: `/${BUSINESS_ID}/${list}`,
        handle: listIn(list),
      }),
    ),
  ];
}

function list({ token, parameters }: GraphCall): Reply {
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

/** `GET /me/permissions`: the permissions that a user granted to the app, and those that the user declined. */
function grantedPermissionsRoute(host: GraphHost): Route {
  return toGraphRoute(host, {
    method: "GET",
    path: "/me/permissions",
    operations: () => ["account"],
    handle: list,
  });
}

const CODE_LIFETIME_MS = 600_000;
const SHORT_LIFETIME_MS = 3_600_000;
const LONG_LIFETIME_MS = 60 * 86_400_000;

/** How Facebook Login works on one of its platforms (Facebook or Instagram). */
export interface FacebookLogin {
  readonly host: GraphHost;
  /** Returns the permissions that the app may currently ask for. */
  readonly listScopes: () => readonly string[];
  readonly usernameFault: (username: string) => string | undefined;
  readonly ensureAccount: (username: string | undefined) => Account;
  /**
   * The Facebook Page of an account with the Page's access token, in the form in which
   * `/me/accounts` returns it.
   */
  readonly pageView: (account: Account, accessToken: string) => Readonly<Record<string, unknown>>;
}

function userTokenReply(accessToken: string, lifetimeMs: number): Reply {
  const body = { access_token: accessToken, token_type: "bearer", expires_in: lifetimeMs / 1000 };
  return { status: 200, body };
}

/** Creates a Facebook user for an approved authorization and returns a short-lived user token. */
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

/**
 * Exchanges a short-lived user token of Facebook Login for a user token that is valid for 60 days.
 */
function longToken({ tokens }: GraphHost, parameters: GraphParameters, now: number): Reply {
  const check = tokens.check(parameters.required("fb_exchange_token"), now);
  if (check.kind === "refused" || check.token.kind !== "user")
    return graphError({ code: 190, message: "Invalid OAuth access token." });

  const { deadBecause: _, ...grant } = check.token;
  const token = tokens.issue({ ...grant, issuedAt: now, expiresAt: now + LONG_LIFETIME_MS });
  return userTokenReply(token, LONG_LIFETIME_MS);
}

/**
 * `GET /oauth/access_token` of Facebook Login: exchanges an authorization code for a short-lived
 * token, or a short-lived token for a long-lived token.
 */
function tokenRoute(login: FacebookLogin, choices: Choices, codes: AuthorizationCodes): Route {
  const handle = (call: Call, { now }: Moment): Reply => {
    const parameters = parametersOf(call);
    const clientId = parameters.required("client_id");
    // A token call must contain a client secret, but the simulator accepts any value, because it has
    // no registered apps.
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
    handle: (call, moment) => answering(() => handle(call, moment)),
  };
}

/** The routes of Facebook Login: the dialog, the token endpoint, and the lists of selected Pages. */
export function facebookLoginRoutes(login: FacebookLogin): readonly Route[] {
  const { host, usernameFault, ensureAccount } = login;
  const { platform, world } = host;
  const codes = new AuthorizationCodes(world.store, world.secrets, platform, CODE_LIFETIME_MS);
  const choices: Choices = world.store.table(`${platform}.choices`, { keptOnReset: true });
  return [
    ...authorizeRoutes({
      platform,
      path: "/:version/dialog/oauth",
      clientParameter: "client_id",
      scopeSeparator: ",",
      get scopes() {
        return login.listScopes();
      },
      pkce: "none",
      settings: world.settings,
      codes,
      usernameFault,
      ensureAccount,
    }),
    tokenRoute(login, choices, codes),
    grantedPermissionsRoute(host),
    ...pageListRoutes(login, choices),
  ];
}
