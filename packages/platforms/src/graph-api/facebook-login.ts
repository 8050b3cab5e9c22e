import { askPlatform, getFromTokenEndpoint, unavailable } from "#src/authorization/call.ts";
import type {
  AuthorizationCodeFlow,
  AuthorizationConnector,
  CodeGrant,
  Connection,
  ExchangeResult,
  Refused,
  Unavailable,
} from "#src/authorization/connector.ts";
import { toAuthorizeUrl } from "#src/authorization/oauth.ts";
import {
  listMissingEssentials,
  type PermissionsByFeature,
} from "#src/authorization/permissions.ts";
import { list, number, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import { isTemporary } from "./failures.ts";
import { nextOf } from "./graph-request.ts";
import type { GraphApp } from "./token-owner.ts";

type PageTokens = { readonly kind: "pages"; readonly tokens: readonly string[] };

type Entries = { readonly kind: "entries"; readonly entries: readonly unknown[] };

/** With 100 entries per page, the entries after the first thousand are left out. */
const MAX_REQUESTS = 10;
const LIST_LENGTH = 100;

interface Person {
  readonly app: GraphApp;
  readonly token: string;
  readonly signal: AbortSignal;
}

async function readList(
  person: Person,
  path: string,
  fields: string,
): Promise<Entries | Unavailable> {
  const entries: unknown[] = [];
  let after: string | undefined = "";
  for (let request = 0; request < MAX_REQUESTS && after !== undefined; request += 1) {
    const answer = await askForPage(person, path, { fields, after });
    if (answer.kind !== "answer") return answer;
    if (isRefused(answer)) break;
    if (answer.status !== 200) return unavailable(`the list ${path} answered ${answer.status}`);
    entries.push(...list(answer.json, "data"));
    const next = nextOf(answer);
    if (next === null) return unavailable(`the list ${path} has a next page without a cursor`);
    after = next;
  }
  return { kind: "entries", entries };
}

async function askForPage(
  { app: { baseUrl, version }, token, signal }: Person,
  path: string,
  { fields, after }: { readonly fields: string; readonly after: string },
) {
  const query = new URLSearchParams({ fields, limit: String(LIST_LENGTH) });
  if (after !== "") query.set("after", after);
  const url = `${baseUrl}/${version}/${path}?${query.toString()}`;
  return await askPlatform({ method: "GET", url, headers: bearer(token) }, signal);
}

/** The person has no such list. */
function isRefused(answer: PlatformAnswer): boolean {
  const { status, json } = answer;
  if (status === 429 || json === undefined || isTemporary(answer)) return false;
  return status >= 400 && status < 500;
}

/** A person may have a hundred businesses and Pages, and the whole exchange takes 25 s at most. */
const CALLS_AT_ONCE = 8;

/** Yields the results in the order of the items. */
async function* callForAll<Item, Result>(
  items: readonly Item[],
  call: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, undefined> {
  for (let start = 0; start < items.length; start += CALLS_AT_ONCE)
    yield* await Promise.all(items.slice(start, start + CALLS_AT_ONCE).map(call));
  return undefined;
}

/**
 * Also those on which the person has a role through a Business portfolio, which `/me/accounts`
 * leaves out.
 */
async function fetchPageTokens(
  app: GraphApp,
  token: string,
  signal: AbortSignal,
): Promise<PageTokens | Unavailable> {
  const person = { app, token, signal };
  const businesses = await readList(person, "me/businesses", "id");
  if (businesses.kind !== "entries") return businesses;
  const ids = businesses.entries.flatMap((business) => text(business, "id") ?? []);
  const paths = [
    "me/accounts",
    ...ids.flatMap((id) => [`${id}/owned_pages`, `${id}/client_pages`]),
  ];
  const readPages = (path: string) => readList(person, path, "id,access_token");
  const tokens = new Map<string, string>();
  for await (const pages of callForAll(paths, readPages)) {
    if (pages.kind !== "entries") return pages;
    for (const page of pages.entries) {
      const id = text(page, "id");
      const pageToken = text(page, "access_token");
      if (id !== undefined && pageToken !== undefined && !tokens.has(id)) tokens.set(id, pageToken);
    }
  }
  return { kind: "pages", tokens: [...tokens.values()] };
}

interface FacebookLogin {
  readonly app: GraphApp;
  readonly permissions: readonly string[];
  readonly byFeature: PermissionsByFeature;
  readonly connect: AuthorizationConnector["connect"];
}

type Token = { readonly kind: "token"; readonly token: string };

/**
 * Graph API error codes that refuse the authorization code or the person's token. 5xx answers and
 * rate limits refuse neither.
 */
const REFUSALS = new Set([100, 190]);

async function askForToken(
  { baseUrl, version, clientId, clientSecret }: GraphApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Token | Refused | Unavailable> {
  const fields = { ...grant, client_id: clientId, client_secret: clientSecret };
  const call = getFromTokenEndpoint(`${baseUrl}/${version}/oauth/access_token`, fields);
  const answer = await askPlatform(call, signal);
  if (answer.kind !== "answer") return answer;
  const token = text(answer.json, "access_token");
  if (answer.status === 200 && token !== undefined) return { kind: "token", token };
  const message = `the token endpoint answered ${answer.status}`;
  const code = number(object(answer.json, "error"), "code");
  return answer.status < 500 && code !== undefined && REFUSALS.has(code)
    ? { kind: "refused", message }
    : unavailable(message);
}

/**
 * A Page token that is fetched with a long-lived token does not expire; one that is fetched with a
 * short-lived token does.
 */
async function fetchUserToken(
  app: GraphApp,
  { code, redirectUri }: CodeGrant,
  signal: AbortSignal,
): Promise<Token | Refused | Unavailable> {
  const short = await askForToken(app, { code, redirect_uri: redirectUri }, signal);
  if (short.kind !== "token") return short;
  const swap = { grant_type: "fb_exchange_token", fb_exchange_token: short.token };
  return await askForToken(app, swap, signal);
}

async function identifyAll(
  { connect }: FacebookLogin,
  tokens: readonly string[],
  signal: AbortSignal,
): Promise<ExchangeResult> {
  const connections: Connection[] = [];
  const identify = (accessToken: string) => connect({ accessToken }, signal);
  for await (const result of callForAll(tokens, identify)) {
    if (result.kind === "unavailable") return result;
    if (result.kind === "connected") connections.push(result.connection);
  }
  return { kind: "granted", connections };
}

async function fetchPermissions(
  { baseUrl, version }: GraphApp,
  accessToken: string,
  signal: AbortSignal,
): Promise<{ readonly kind: "permissions"; readonly scopes: readonly string[] } | Unavailable> {
  const url = `${baseUrl}/${version}/me/permissions`;
  const answer = await askPlatform({ method: "GET", url, headers: bearer(accessToken) }, signal);
  if (answer.kind !== "answer") return answer;
  if (answer.status !== 200)
    return unavailable(`the list of granted permissions was answered with ${answer.status}`);
  const granted = list(answer.json, "data").filter((each) => text(each, "status") === "granted");
  const scopes = granted.flatMap((each) => text(each, "permission") ?? []);
  return { kind: "permissions", scopes };
}

function withScopes(result: ExchangeResult, scopes: readonly string[]): ExchangeResult {
  if (result.kind !== "granted") return result;
  const connections = result.connections.map((connection) => ({
    ...connection,
    tokens: { ...connection.tokens, scopes },
  }));
  return { kind: "granted", connections };
}

async function exchange(
  login: FacebookLogin,
  grant: CodeGrant,
  signal: AbortSignal,
): Promise<ExchangeResult> {
  const user = await fetchUserToken(login.app, grant, signal);
  if (user.kind !== "token") return user;
  const granted = await fetchPermissions(login.app, user.token, signal);
  if (granted.kind !== "permissions") return granted;
  const missing = listMissingEssentials(login.byFeature, granted.scopes);
  if (missing.length > 0) return { kind: "permission_missing", missing };
  const pages = await fetchPageTokens(login.app, user.token, signal);
  if (pages.kind !== "pages") return pages;
  return withScopes(await identifyAll(login, pages.tokens, signal), granted.scopes);
}

/** Meta does not support PKCE: the state and the app's secret protect the code. */
export function toMetaQuery(
  { redirectUri, state }: { readonly redirectUri: string; readonly state: string },
  { clientId, permissions }: { readonly clientId: string; readonly permissions: readonly string[] },
): Readonly<Record<string, string>> {
  return { client_id: clientId, redirect_uri: redirectUri, scope: permissions.join(","), state };
}

/** Each selected Page has a token of its own. */
export function createFacebookLogin(login: FacebookLogin): AuthorizationCodeFlow {
  const { authorizeUrl, clientId } = login.app;
  return {
    authorizeUrl: (request) =>
      toAuthorizeUrl(
        authorizeUrl,
        toMetaQuery(request, { clientId, permissions: login.permissions }),
      ),
    exchange: (grant, signal) => exchange(login, grant, signal),
  };
}
