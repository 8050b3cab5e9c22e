import {
  askPlatform,
  getFromTokenEndpoint,
  INCOMPLETE,
  postToTokenEndpoint,
  unavailable,
} from "#src/authorization/call.ts";
import { toConnectResult, toExchangeResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  CodeGrant,
  ConnectResult,
  EnteredCredentials,
  ExchangeResult,
  RefreshResult,
  Refused,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import { toAuthorizeUrl } from "#src/authorization/oauth.ts";
import {
  listMissingEssentials,
  listPermissions,
  type PermissionsByFeature,
  type PlatformFeature,
  splitPermissions,
} from "#src/authorization/permissions.ts";
import { toMetaQuery } from "#src/graph-api/facebook-login.ts";
import { askOwner, type GraphApp } from "#src/graph-api/token-owner.ts";
import { list, number, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";

export interface InstagramLoginUrls {
  readonly baseUrl: string;
  readonly oauthBaseUrl: string;
  readonly authorizeUrl: string;
}

const FIELDS = "user_id,username,name,profile_picture_url";
/** None exists for deleting. Private replies include the permission to read comments. */
export const PERMISSIONS: PermissionsByFeature = {
  publishing: ["instagram_business_basic", "instagram_business_content_publish"],
  comments: ["instagram_business_manage_comments"],
  messages: ["instagram_business_manage_comments", "instagram_business_manage_messages"],
  metrics: ["instagram_business_manage_insights"],
};
const REFUSALS = new Set([190, 400]);

/**
 * The access token is also the refresh token. After it has expired, the owner must authorize again.
 */
function toTokens(accessToken: string, lifetimeMs: number): Tokens {
  return { accessToken, refreshToken: accessToken, lifetimeMs, refreshLifetimeMs: lifetimeMs };
}

function readTokens({ status, json }: PlatformAnswer): Tokens | undefined {
  const accessToken = text(json, "access_token");
  const seconds = number(json, "expires_in");
  return status === 200 && accessToken !== undefined && seconds !== undefined
    ? toTokens(accessToken, seconds * 1000)
    : undefined;
}

function toRefusal({ status, json }: PlatformAnswer): Refused | Unavailable {
  const message = `the token endpoint answered ${status}`;
  const code = number(object(json, "error"), "code") ?? number(json, "code");
  return status < 500 && code !== undefined && REFUSALS.has(code)
    ? { kind: "refused", message }
    : unavailable(message);
}

async function askForTokens(
  url: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ readonly kind: "tokens"; readonly tokens: Tokens } | Refused | Unavailable> {
  const answer = await askPlatform(getFromTokenEndpoint(url, query), signal);
  if (answer.kind !== "answer") return answer;
  const tokens = readTokens(answer);
  return tokens === undefined ? toRefusal(answer) : { kind: "tokens", tokens };
}

async function identify(
  api: Pick<GraphApp, "baseUrl" | "version">,
  tokens: Tokens,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const owner = await askOwner(api, { accessToken: tokens.accessToken }, FIELDS, signal);
  if (owner.kind !== "owner") return owner;
  const { json, status } = owner.answer;
  const profile = {
    externalId: text(json, "user_id"),
    username: text(json, "username"),
    displayName: text(json, "name"),
    avatarUrl: text(json, "profile_picture_url"),
  };
  // The token works only on the host of Instagram Login.
  const connection = { tokens, attributes: { login: "instagram" } };
  return toConnectResult(profile, connection, unavailable(`Instagram answered ${status}`));
}

async function connect(
  app: GraphApp,
  { instagramAccessToken, expiresInSeconds }: EnteredCredentials,
  signal: AbortSignal,
): Promise<ConnectResult> {
  if (typeof instagramAccessToken !== "string" || typeof expiresInSeconds !== "number")
    return INCOMPLETE;
  return await identify(app, toTokens(instagramAccessToken, expiresInSeconds * 1000), signal);
}

interface ShortToken {
  readonly kind: "token";
  readonly token: string;
  readonly scopes?: readonly string[];
}

async function redeem(
  { clientId, clientSecret }: GraphApp,
  { oauthBaseUrl }: InstagramLoginUrls,
  { code, redirectUri }: CodeGrant,
  signal: AbortSignal,
): Promise<ShortToken | Refused | Unavailable> {
  const fields = {
    client_id: clientId,
    client_secret: clientSecret,
    grant_type: "authorization_code",
    redirect_uri: redirectUri,
    code: code.replace(/#_$/, ""),
  };
  const call = postToTokenEndpoint(`${oauthBaseUrl}/oauth/access_token`, fields);
  const answer = await askPlatform(call, signal);
  if (answer.kind !== "answer") return answer;
  return (answer.status === 200 ? readShortToken(answer.json) : undefined) ?? toRefusal(answer);
}

/**
 * In two shapes: an object, or a list `data` with one object. Its permissions are a list or a text
 * with commas. Source: Business login page of Instagram and its examples, 2026.
 */
function readShortToken(json: unknown): ShortToken | undefined {
  const [first] = list(json, "data");
  const answer = first ?? json;
  const token = text(answer, "access_token");
  if (token === undefined) return undefined;
  const listed = list(answer, "permissions").filter((each) => typeof each === "string");
  const written = text(answer, "permissions");
  const scopes = written === undefined ? listed : splitPermissions(written);
  return scopes.length === 0 ? { kind: "token", token } : { kind: "token", token, scopes };
}

async function exchange(
  app: GraphApp,
  urls: InstagramLoginUrls,
  grant: CodeGrant & { readonly permissions: readonly string[] },
  signal: AbortSignal,
): Promise<ExchangeResult> {
  const { permissions } = grant;
  const short = await redeem(app, urls, grant, signal);
  if (short.kind !== "token") return short;
  const { scopes = permissions } = short;
  const missing = listMissingEssentials(PERMISSIONS, scopes);
  if (missing.length > 0) return { kind: "permission_missing", missing };
  const swap = {
    grant_type: "ig_exchange_token",
    client_secret: app.clientSecret,
    access_token: short.token,
  };
  const long = await askForTokens(`${urls.baseUrl}/access_token`, swap, signal);
  if (long.kind !== "tokens") return long;
  return toExchangeResult(await identify(app, { ...long.tokens, scopes }, signal));
}

export async function refreshInstagramToken(
  { baseUrl }: Pick<InstagramLoginUrls, "baseUrl">,
  token: string,
  signal: AbortSignal,
): Promise<RefreshResult> {
  const query = { grant_type: "ig_refresh_token", access_token: token };
  const renewed = await askForTokens(`${baseUrl}/refresh_access_token`, query, signal);
  return renewed.kind === "tokens" ? { kind: "renewed", tokens: renewed.tokens } : renewed;
}

/** Professional accounts without a Page, one per authorization. */
export function createInstagramLogin(
  facebookApp: GraphApp,
  urls: InstagramLoginUrls,
  features: readonly PlatformFeature[],
): Required<Pick<AuthorizationConnector, "connect" | "codeFlow" | "permissions">> {
  const app = { ...facebookApp, baseUrl: urls.baseUrl };
  const permissions = listPermissions(PERMISSIONS, features);
  const { clientId } = app;
  return {
    permissions,
    connect: (credentials, signal) => connect(app, credentials, signal),
    codeFlow: {
      authorizeUrl: (request) =>
        toAuthorizeUrl(urls.authorizeUrl, toMetaQuery(request, { clientId, permissions })),
      exchange: (grant, signal) => exchange(app, urls, { ...grant, permissions }, signal),
    },
  };
}
