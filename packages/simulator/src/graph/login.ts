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

type Choices = Table<readonly string[]>;

interface PageOwner {
  readonly host: GraphHost;
  readonly pageView: (account: Account, accessToken: string) => Readonly<Record<string, unknown>>;
}

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

export interface FacebookLogin {
  readonly host: GraphHost;
  readonly listScopes: () => readonly string[];
  readonly usernameFault: (username: string) => string | undefined;
  readonly ensureAccount: (username: string | undefined) => Account;
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
    handle: (call, moment) => answering(() => handle(call, moment)),
  };
}

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
