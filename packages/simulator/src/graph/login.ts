import { graphError } from "#src/graph/errors.ts";
import { grantedPermissionsRoute } from "#src/graph/granted-permissions.ts";
import type { GraphHost } from "#src/graph/host.ts";
import { pageListRoutes } from "#src/graph/page-lists.ts";
import type { Choices } from "#src/graph/page-lists.ts";
import { parametersOf } from "#src/graph/parameters.ts";
import type { GraphParameters } from "#src/graph/parameters.ts";
import { answering } from "#src/http/call.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import { authorizeRoutes } from "#src/oauth/authorize.ts";
import { AuthorizationCodes } from "#src/oauth/codes.ts";
import type { Approval } from "#src/oauth/codes.ts";
import type { Route } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";

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
  if (check.kind === "refused" || check.token.kind !== "user") {
    return graphError({ code: 190, message: "Invalid OAuth access token." });
  }
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
    if (parameters.text("grant_type") === "fb_exchange_token") {
      return longToken(login.host, parameters, now);
    }
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
