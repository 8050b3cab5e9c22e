import { toGraphRoute } from "#src/graph/endpoint.ts";
import type { GraphCall } from "#src/graph/endpoint.ts";
import { graphError } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import { parametersOf, pickFields } from "#src/graph/parameters.ts";
import type { GraphParameters } from "#src/graph/parameters.ts";
import { answering } from "#src/http/call.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import { authorizeRoutes } from "#src/oauth/authorize.ts";
import { AuthorizationCodes } from "#src/oauth/codes.ts";
import type { Approval } from "#src/oauth/codes.ts";
import type { Route } from "#src/platform.ts";
import type { Table } from "#src/store/table.ts";
import type { Account } from "#src/world/accounts.ts";

const CODE_LIFE_MS = 600_000;
const SHORT_LIFE_MS = 3_600_000;
const LONG_LIFE_MS = 60 * 86_400_000;

/** Facebook Login as one platform has it. */
export interface FacebookLogin {
  readonly host: GraphHost;
  readonly scopes: readonly string[];
  readonly usernameFault: (username: string) => string | undefined;
  readonly ensureAccount: (username: string | undefined) => Account;
  /** The Page of an account as `/me/accounts` shows it, with the Page's token. */
  readonly pageView: (account: Account, accessToken: string) => Readonly<Record<string, unknown>>;
}

/** The accounts that a person chose for the app, by the person's id. */
type Choices = Table<readonly string[]>;

function userTokenReply(accessToken: string, lifeMs: number): Reply {
  const body = { access_token: accessToken, token_type: "bearer", expires_in: lifeMs / 1000 };
  return { status: 200, body };
}

/** A new person's short token for what was approved. */
function userToken(login: FacebookLogin, choices: Choices, approval: Approval, now: number): Reply {
  const { host } = login;
  const user = host.world.snowflakes.next(now);
  choices.put(user, approval.accounts);
  const token = host.tokens.issue({
    kind: "user",
    account: approval.accounts[0] ?? "",
    user,
    scopes: approval.scopes,
    issuedAt: now,
    expiresAt: now + SHORT_LIFE_MS,
  });
  return userTokenReply(token, SHORT_LIFE_MS);
}

/** Swaps a user's token for one of 60 days. */
function longToken({ tokens }: GraphHost, parameters: GraphParameters, now: number): Reply {
  const check = tokens.check(parameters.required("fb_exchange_token"), now);
  if (check.kind === "refused" || check.token.kind !== "user") {
    return graphError({ code: 190, message: "Invalid OAuth access token." });
  }
  const { account, user, scopes } = check.token;
  const expiresAt = now + LONG_LIFE_MS;
  const token = tokens.issue({ kind: "user", account, user, scopes, issuedAt: now, expiresAt });
  return userTokenReply(token, LONG_LIFE_MS);
}

/** `GET /oauth/access_token`: a code, or a short token, for a token. */
function tokenRoute(login: FacebookLogin, choices: Choices, codes: AuthorizationCodes): Route {
  const handle = (call: Call, { now }: Moment): Reply => {
    const parameters = parametersOf(call);
    const clientId = parameters.required("client_id");
    // The simulator knows every app.
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

/** `GET /me/accounts`: the Pages that the person chose, each with a token that does not end by time. */
function listPages(login: FacebookLogin, choices: Choices) {
  const { host } = login;
  const handle = ({ token, parameters, now }: GraphCall): Reply => {
    if (token.kind !== "user") {
      return graphError({ code: 100, message: "A page token has no accounts." });
    }
    const chosen = choices.get(token.user) ?? [];
    const data = chosen.flatMap((externalId) => {
      const account = host.world.accounts.byId(host.platform, externalId);
      if (account === undefined) {
        return [];
      }
      const { user, scopes } = token;
      const page = { kind: "page", account: externalId, user, scopes } as const;
      const accessToken = host.tokens.issue({ ...page, issuedAt: now, expiresAt: null });
      const view = login.pageView(account, accessToken);
      return [pickFields(parameters, view, ["name", "access_token", "tasks"])];
    });
    return { status: 200, body: { data, paging: { cursors: { before: "b", after: "a" } } } };
  };
  return toGraphRoute(host, {
    method: "GET",
    path: "/me/accounts",
    operations: () => ["account"],
    scope: "pages_show_list",
    handle,
  });
}

/** The dialog, the token endpoint, and the list of what was chosen in the dialog. */
export function facebookLoginRoutes(login: FacebookLogin): readonly Route[] {
  const { host, scopes, usernameFault, ensureAccount } = login;
  const { platform, world } = host;
  const codes = new AuthorizationCodes(world.store, world.secrets, platform, CODE_LIFE_MS);
  const choices: Choices = world.store.table(`${platform}.choices`, { keptOnReset: true });
  return [
    ...authorizeRoutes({
      platform,
      path: "/:version/dialog/oauth",
      clientParameter: "client_id",
      scopeSeparator: ",",
      scopes,
      pkce: "none",
      settings: world.settings,
      codes,
      usernameFault,
      ensureAccount,
    }),
    tokenRoute(login, choices, codes),
    listPages(login, choices),
  ];
}
