import type {
  Authorization,
  CodeGrant,
  Connection,
  Connector,
  ExchangeResult,
  Refused,
  Unavailable,
} from "#src/authorization/connector.ts";
import { callPlatform, list, object, text, unavailable } from "#src/authorization/http.ts";
import type { GraphApp } from "#src/graph/token-owner.ts";

/** What one platform adds. */
export interface FacebookLogin {
  readonly app: GraphApp;
  readonly scopes: readonly string[];
  /** Whose a Page's token is; a Page that has no account on the platform is refused. */
  readonly connect: Connector["connect"];
}

type Token = { readonly kind: "token"; readonly token: string };
type PageTokens = { readonly kind: "pages"; readonly tokens: readonly string[] };

/** A person who chose more Pages than a thousand connects the rest another time. */
const MAX_LISTS = 10;
const LIST_LENGTH = 100;
/** One Page after the other would take too long, all at once would be too many. */
const PAGES_AT_ONCE = 8;

/** The code, or the person's token, was refused; 5xx and rate limits say nothing about either. */
const REFUSALS = new Set([100, 190]);

async function askForToken(
  { baseUrl, version, clientId, clientSecret }: GraphApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Token | Refused | Unavailable> {
  const query = { ...grant, client_id: clientId, client_secret: clientSecret };
  const url = `${baseUrl}/${version}/oauth/access_token?${new URLSearchParams(query).toString()}`;
  const answer = await callPlatform({ method: "GET", url }, signal);
  if (answer.kind !== "answer") return answer;
  const token = text(answer.json, "access_token");
  if (answer.status === 200 && token !== undefined) return { kind: "token", token };
  const message = `the token endpoint answered ${answer.status}`;
  const code = object(answer.json, "error")?.code;
  return answer.status < 500 && typeof code === "number" && REFUSALS.has(code)
    ? { kind: "refused", message }
    : unavailable(message);
}

/** A Page's token taken with a long-lived token of the person does not end by time; with a short-lived one it does. */
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

/** The tokens of every Page that the person chose. */
async function fetchPageTokens(
  { baseUrl, version }: GraphApp,
  userToken: string,
  signal: AbortSignal,
): Promise<PageTokens | Unavailable> {
  const tokens: string[] = [];
  let after = "";
  for (let round = 0; round < MAX_LISTS; round += 1) {
    const query = new URLSearchParams({ fields: "id,access_token", limit: String(LIST_LENGTH) });
    if (after !== "") query.set("after", after);
    const url = `${baseUrl}/${version}/me/accounts?${query.toString()}`;
    const authorization = `Bearer ${userToken}`;
    const answer = await callPlatform({ method: "GET", url, authorization }, signal);
    if (answer.kind !== "answer") return answer;
    if (answer.status !== 200) return unavailable(`the list of Pages answered ${answer.status}`);
    for (const page of list(answer.json, "data")) {
      const token = text(page, "access_token");
      if (token !== undefined) tokens.push(token);
    }
    const paging = object(answer.json, "paging");
    after = text(object(paging, "cursors"), "after") ?? "";
    if (text(paging, "next") === undefined || after === "") break;
  }
  return { kind: "pages", tokens };
}

/** Pages without an account on the platform are left out; trouble with one is trouble with all. */
async function identifyAll(
  { connect }: FacebookLogin,
  tokens: readonly string[],
  signal: AbortSignal,
): Promise<ExchangeResult> {
  const connections: Connection[] = [];
  for (let start = 0; start < tokens.length; start += PAGES_AT_ONCE) {
    const some = tokens.slice(start, start + PAGES_AT_ONCE);
    const results = await Promise.all(some.map((accessToken) => connect({ accessToken }, signal)));
    for (const result of results) {
      if (result.kind === "unavailable") return result;
      if (result.kind === "connected") connections.push(result.connection);
    }
  }
  return { kind: "granted", connections };
}

async function exchange(
  login: FacebookLogin,
  grant: CodeGrant,
  signal: AbortSignal,
): Promise<ExchangeResult> {
  const user = await fetchUserToken(login.app, grant, signal);
  if (user.kind !== "token") return user;
  const pages = await fetchPageTokens(login.app, user.token, signal);
  if (pages.kind !== "pages") return pages;
  return await identifyAll(login, pages.tokens, signal);
}

/** Facebook Login, which has no PKCE for websites: the state and the app's secret protect the code. */
export function createFacebookLogin(login: FacebookLogin): Authorization {
  const { authorizeUrl, clientId } = login.app;
  return {
    authorizeUrl: ({ redirectUri, state }) => {
      const query = new URLSearchParams({
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: login.scopes.join(","),
        state,
      });
      return `${authorizeUrl}?${query.toString()}`;
    },
    exchange: (grant, signal) => exchange(login, grant, signal),
  };
}
