import type {
  CodeGrant,
  ConnectResult,
  Connector,
  ExchangeResult,
  LoginValues,
  RefreshResult,
  Refused,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import {
  callPlatform,
  object,
  text,
  unavailable,
  type PlatformAnswer,
  type PlatformRequest,
} from "#src/authorization/http.ts";
import { askOwner, type GraphApp } from "#src/graph/token-owner.ts";

/** Where Instagram answers people who log in with it itself: three hosts of their own. */
export interface InstagramLoginUrls {
  /** The Graph API, without the version. */
  readonly baseUrl: string;
  /** Where a code becomes a token. */
  readonly oauthBaseUrl: string;
  /** The page on which people approve. */
  readonly authorizeUrl: string;
}

const FIELDS = "user_id,username,name,profile_picture_url";
/** Publishing, comments, numbers and private replies; there is no permission to delete. */
const SCOPES = [
  "instagram_business_basic",
  "instagram_business_content_publish",
  "instagram_business_manage_comments",
  "instagram_business_manage_insights",
  "instagram_business_manage_messages",
];
/** The code or token is worth nothing, by the Graph API's number or by that of the token host. */
const DEAD = new Set([190, 400]);

/** The token renews itself: nothing else does, and once it has ended only its owner can. */
function toTokens(accessToken: string, lifetimeMs: number): Tokens {
  return { accessToken, refreshToken: accessToken, lifetimeMs, refreshLifetimeMs: lifetimeMs };
}

function readTokens({ status, json }: PlatformAnswer): Tokens | undefined {
  const accessToken = text(json, "access_token");
  const seconds = json?.expires_in;
  return status === 200 && accessToken !== undefined && typeof seconds === "number"
    ? toTokens(accessToken, seconds * 1000)
    : undefined;
}

function isDead({ status, json }: PlatformAnswer): boolean {
  const code = object(json, "error")?.code ?? json?.code;
  return status < 500 && typeof code === "number" && DEAD.has(code);
}

/** An answer of a token endpoint that is no token. */
function toRefusal(answer: PlatformAnswer): Refused | Unavailable {
  const message = `the token endpoint answered ${answer.status}`;
  return isDead(answer) ? { kind: "refused", message } : unavailable(message);
}

async function askForTokens(
  url: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ readonly kind: "tokens"; readonly tokens: Tokens } | Refused | Unavailable> {
  const call: PlatformRequest = {
    method: "GET",
    url: `${url}?${new URLSearchParams(query).toString()}`,
  };
  const answer = await callPlatform(call, signal);
  if (answer.kind !== "answer") return answer;
  const tokens = readTokens(answer);
  return tokens === undefined ? toRefusal(answer) : { kind: "tokens", tokens };
}

/** Asks whose the token is, which proves that it works. */
async function identify(
  app: GraphApp,
  tokens: Tokens,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const owner = await askOwner(app, { accessToken: tokens.accessToken }, FIELDS, signal);
  if (owner.kind !== "owner") return owner;
  const { json, status } = owner.answer;
  const externalId = text(json, "user_id");
  const username = text(json, "username");
  if (externalId === undefined || username === undefined)
    return unavailable(`Instagram answered ${status}`);
  const avatarUrl = text(json, "profile_picture_url");
  const connection = {
    externalId,
    username,
    displayName: text(json, "name") ?? username,
    ...(avatarUrl === undefined ? {} : { avatarUrl }),
    tokens,
    // The token works on that host only.
    attributes: { login: "instagram" },
  };
  return { kind: "connected", connection };
}

async function connect(
  app: GraphApp,
  { instagramAccessToken, expiresInSeconds }: LoginValues,
  signal: AbortSignal,
): Promise<ConnectResult> {
  if (typeof instagramAccessToken !== "string" || typeof expiresInSeconds !== "number")
    return { kind: "refused", message: "the login is not complete" };
  return await identify(app, toTokens(instagramAccessToken, expiresInSeconds * 1000), signal);
}

/** The token of an hour that a code is worth. */
async function redeem(
  { clientId, clientSecret }: GraphApp,
  { oauthBaseUrl }: InstagramLoginUrls,
  { code, redirectUri }: CodeGrant,
  signal: AbortSignal,
): Promise<{ readonly kind: "token"; readonly token: string } | Refused | Unavailable> {
  const form = {
    client_id: clientId,
    client_secret: clientSecret,
    grant_type: "authorization_code",
    redirect_uri: redirectUri,
    // Instagram puts it behind the code in the address, where it is no part of it.
    code: code.replace(/#_$/, ""),
  };
  const url = `${oauthBaseUrl}/oauth/access_token`;
  const answer = await callPlatform({ method: "POST", url, form }, signal);
  if (answer.kind !== "answer") return answer;
  const token = answer.status === 200 ? text(answer.json, "access_token") : undefined;
  return token === undefined ? toRefusal(answer) : { kind: "token", token };
}

async function exchange(
  app: GraphApp,
  urls: InstagramLoginUrls,
  grant: CodeGrant,
  signal: AbortSignal,
): Promise<ExchangeResult> {
  const short = await redeem(app, urls, grant, signal);
  if (short.kind !== "token") return short;
  const swap = {
    grant_type: "ig_exchange_token",
    client_secret: app.clientSecret,
    access_token: short.token,
  };
  const long = await askForTokens(`${urls.baseUrl}/access_token`, swap, signal);
  if (long.kind !== "tokens") return long;
  const result = await identify(app, long.tokens, signal);
  return result.kind === "connected"
    ? { kind: "granted", connections: [result.connection] }
    : result;
}

/** Renews the token of an account that logged in with Instagram itself; it takes no secret of the app. */
export async function refreshInstagramToken(
  { baseUrl }: Pick<InstagramLoginUrls, "baseUrl">,
  token: string,
  signal: AbortSignal,
): Promise<RefreshResult> {
  const query = { grant_type: "ig_refresh_token", access_token: token };
  const renewed = await askForTokens(`${baseUrl}/refresh_access_token`, query, signal);
  return renewed.kind === "tokens" ? { kind: "renewed", tokens: renewed.tokens } : renewed;
}

/** Instagram with its own login (platforms reference 1.6): professional accounts without a Page, one at a time. */
export function createInstagramLogin(
  facebookApp: GraphApp,
  urls: InstagramLoginUrls,
): Pick<Connector, "connect" | "authorization"> {
  const app = { ...facebookApp, baseUrl: urls.baseUrl };
  return {
    connect: (login, signal) => connect(app, login, signal),
    authorization: {
      authorizeUrl: ({ redirectUri, state }) => {
        const query = new URLSearchParams({
          response_type: "code",
          client_id: app.clientId,
          redirect_uri: redirectUri,
          scope: SCOPES.join(","),
          state,
        });
        return `${urls.authorizeUrl}?${query.toString()}`;
      },
      exchange: (grant, signal) => exchange(app, urls, grant, signal),
    },
  };
}
