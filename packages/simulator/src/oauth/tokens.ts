import { randomUUID } from "node:crypto";
import { bearerToken, type Call, formOf, type Moment, type Reply } from "#src/http/call.ts";
import { AuthorizationCodes } from "#src/oauth/codes.ts";
import type { Route } from "#src/platform.ts";
import type { Table } from "#src/store/store.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";
import { type AuthorizePage, authorizeRoutes } from "./authorize.ts";

interface Token {
  readonly kind: "access" | "refresh";
  readonly account: string;
  /** Revoking one token of a grant revokes all of them. */
  readonly grant: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  /** False after the token was replaced or revoked. */
  readonly isValid: boolean;
}

/** What a valid access token gives access to. */
export interface Access {
  readonly account: Account;
  readonly scopes: readonly string[];
}

export interface IssuedTokens extends Pick<Token, "account" | "scopes"> {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  /** Absent when the caller keeps the refresh token that it has. */
  readonly refreshToken?: string;
}

/** How the OAuth tokens of a platform look and how long they last. */
export interface OAuthRules {
  readonly codeLifetimeMs: number;
  readonly accessPrefix: string;
  readonly refreshPrefix: string;
  readonly characters: number;
  readonly accessLifetimeMs: number;
  /** Null when refresh tokens do not expire. */
  readonly refreshLifetimeMs: number | null;
  /** Whether a refresh token works once and is replaced. */
  readonly rotates: boolean;
  /** Whether revoking a token revokes those of its authorization, or all of its account. */
  readonly revokes: "authorization" | "account";
}

/** The authorization codes and tokens of one platform. Tokens survive a reset of the simulator. */
export class OAuthTokens {
  readonly codes: AuthorizationCodes;
  readonly #rows: Table<Token>;
  readonly #world: World;
  readonly #platform: string;
  readonly #rules: OAuthRules;

  constructor(world: World, platform: string, rules: OAuthRules) {
    const { store, secrets } = world;
    this.codes = new AuthorizationCodes(store, secrets, platform, rules.codeLifetimeMs);
    this.#rows = store.table<Token>(`${platform}.tokens`, { keptOnReset: true });
    this.#world = world;
    this.#platform = platform;
    this.#rules = rules;
  }

  /** Tokens of an account as its credentials, without an authorization by a user. */
  credentials(
    account: Account,
    scopes: readonly string[],
  ): Readonly<Record<string, string | number>> {
    const issued = this.#issue(account.externalId, scopes, this.#world.clock.now());
    const { accessToken, refreshToken, expiresInSeconds } = issued;
    return { accessToken, refreshToken, expiresInSeconds };
  }

  accessOf(call: Call, now: number): Access | undefined {
    const text = bearerToken(call) ?? "";
    const account = this.accountOf(text);
    const token = this.#find("access", text, now);
    return account && token && { account, scopes: token.scopes };
  }

  /** The account of a token, also when the token is no longer valid. */
  accountOf(text: string): Account | undefined {
    return this.#world.accounts.byId(this.#platform, this.#rows.get(text)?.account ?? "");
  }

  /** The tokens for the grant in the form of a token call; undefined when it is refused. */
  exchange(
    form: URLSearchParams,
    clientId: string,
    now: number,
  ): IssuedTokens | "unsupported" | undefined {
    switch (form.get("grant_type") ?? "") {
      case "refresh_token":
        return this.#refresh(form.get("refresh_token") ?? "", now);
      case "authorization_code": {
        const approval = this.codes.redeemForm(form, clientId, now);
        const [account] = approval?.accounts ?? [];
        return approval && account ? this.#issue(account, approval.scopes, now) : undefined;
      }
      default:
        return "unsupported";
    }
  }

  /**
   * Revokes all tokens of the grant. Says whether the token was known, and whether it was valid.
   */
  revoke(text: string): { readonly isKnown: boolean; readonly wasValid: boolean } {
    const token = this.#rows.get(text);
    for (const [key, row] of this.#rows.entries())
      if (row.grant === token?.grant && row.isValid)
        this.#rows.put(key, { ...row, isValid: false });

    return { isKnown: token !== undefined, wasValid: token?.isValid ?? false };
  }

  #issue(account: string, scopes: readonly string[], now: number): Required<IssuedTokens> {
    const grant = this.#rules.revokes === "account" ? account : randomUUID();
    return this.#pair({ account, scopes, grant }, now);
  }

  #refresh(text: string, now: number): IssuedTokens | undefined {
    const token = this.#find("refresh", text, now);
    if (token === undefined) return undefined;
    if (!this.#rules.rotates) return this.#access(token, now);
    this.#rows.put(text, { ...token, isValid: false });
    return this.#pair(token, now);
  }

  #find(kind: Token["kind"], text: string, now: number): Token | undefined {
    const token = this.#rows.get(text);
    return token?.kind === kind && token.isValid && now < (token.expiresAt ?? Infinity)
      ? token
      : undefined;
  }

  #pair(of: Pick<Token, "account" | "scopes" | "grant">, now: number): Required<IssuedTokens> {
    const { refreshPrefix, refreshLifetimeMs } = this.#rules;
    const expiresAt = refreshLifetimeMs === null ? null : now + refreshLifetimeMs;
    const refreshToken = this.#put("refresh", refreshPrefix, of, expiresAt);
    return { ...this.#access(of, now), refreshToken };
  }

  #access(of: Pick<Token, "account" | "scopes" | "grant">, now: number): IssuedTokens {
    const { accessPrefix, accessLifetimeMs } = this.#rules;
    const { account, scopes } = of;
    const accessToken = this.#put("access", accessPrefix, of, now + accessLifetimeMs);
    return { account, scopes, accessToken, expiresInSeconds: accessLifetimeMs / 1000 };
  }

  #put(
    kind: Token["kind"],
    prefix: string,
    { account, scopes, grant }: Pick<Token, "account" | "scopes" | "grant">,
    expiresAt: number | null,
  ): string {
    const { secrets } = this.#world;
    const text = secrets.issue(`${prefix}${secrets.issueToken(this.#rules.characters)}`);
    this.#rows.put(text, { kind, account, scopes, grant, expiresAt, isValid: true });
    return text;
  }
}

/** The token that a call presents: as a bearer, or in the form of a token call. */
export function presentedToken(call: Call, isTokenCall: boolean): string {
  const form = isTokenCall ? formOf(call) : undefined;
  return bearerToken(call) ?? form?.get("refresh_token") ?? form?.get("token") ?? "";
}

/** What the two calls of OAuth about tokens, and its page, need of a platform. */
export interface OAuthCalls {
  readonly tokens: OAuthTokens;
  readonly paths: { readonly token: string; readonly revoke: string };
  readonly page: Omit<AuthorizePage, "codes">;
  /** The client of a token call, or the answer to a call that does not name one. */
  readonly clientOf: (call: Call, form: URLSearchParams) => string | Reply;
  readonly refuse: (why: "unsupported" | "refresh_token" | "code") => Reply;
  /** Further fields of the answer with tokens. */
  readonly further: (issued: IssuedTokens) => Readonly<Record<string, unknown>>;
  readonly revoke: (call: Call, form: URLSearchParams) => Reply;
}

function exchange(calls: OAuthCalls, call: Call, { now }: Moment): Reply {
  const form = formOf(call);
  const client = calls.clientOf(call, form);
  if (typeof client !== "string") return client;
  const issued = calls.tokens.exchange(form, client, now);
  if (issued === "unsupported") return calls.refuse("unsupported");
  if (issued === undefined)
    return calls.refuse(form.has("refresh_token") ? "refresh_token" : "code");
  const body = {
    token_type: "Bearer",
    expires_in: issued.expiresInSeconds,
    access_token: issued.accessToken,
    refresh_token: issued.refreshToken,
    scope: issued.scopes.join(calls.page.scopeSeparator),
    ...calls.further(issued),
  };
  return { status: 200, body };
}

export function oauthRoutes(calls: OAuthCalls): readonly Route[] {
  const { paths, page, tokens } = calls;
  return [
    {
      method: "POST",
      path: paths.token,
      operations: (call) => [
        formOf(call).get("grant_type") === "authorization_code" ? "login" : "refresh",
      ],
      handle: (call, moment) => exchange(calls, call, moment),
    },
    {
      method: "POST",
      path: paths.revoke,
      operations: () => ["revoke"],
      handle: (call) => calls.revoke(call, formOf(call)),
    },
    ...authorizeRoutes({ ...page, codes: tokens.codes }),
  ];
}
