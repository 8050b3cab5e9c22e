import type {
  ConnectResult,
  Connector,
  LoginValues,
  RefreshResult,
  RevokeResult,
  Tokens,
} from "#src/authorization/connector.ts";
import {
  callPlatform,
  list,
  object,
  text,
  unavailable,
  type PlatformAnswer,
} from "#src/authorization/http.ts";

/** How long tokens live when they do not say (platforms reference 7.6). */
const ACCESS_LIFE_MS = 120 * 60_000;
const REFRESH_LIFE_MS = 90 * 86_400_000;

/** The session is over, or its owner has to act before anybody can use it again. */
const DEAD_SESSION = new Set([
  "ExpiredToken",
  "InvalidToken",
  "AuthenticationRequired",
  "AccountTakedown",
  "AccountDeactivated",
  "AccountSuspended",
]);

function isRefusal({ status, json }: PlatformAnswer): boolean {
  const error = text(json, "error");
  return (status === 400 || status === 401) && error !== undefined && DEAD_SESSION.has(error);
}

/** A token's life by its own two instants: the platform's clock need not be ours. */
function lifetimeOf(jwt: string, otherwiseMs: number): number {
  try {
    const [, payload = ""] = jwt.split(".");
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    const { exp, iat } = claims as { exp?: unknown; iat?: unknown };
    const isKnown = typeof exp === "number" && typeof iat === "number" && exp > iat;
    return isKnown ? (exp - iat) * 1000 : otherwiseMs;
  } catch {
    return otherwiseMs;
  }
}

function toTokens(json: unknown): Tokens | undefined {
  const accessToken = text(json, "accessJwt");
  const refreshToken = text(json, "refreshJwt");
  if (accessToken === undefined || refreshToken === undefined) return undefined;
  return {
    accessToken,
    refreshToken,
    lifetimeMs: lifetimeOf(accessToken, ACCESS_LIFE_MS),
    refreshLifetimeMs: lifetimeOf(refreshToken, REFRESH_LIFE_MS),
  };
}

/**
 * The host of the account's repository, from its DID document. A host that is the configured one goes without saying,
 * so that accounts follow when the configuration names another address.
 */
function pdsUrlOf(json: unknown, baseUrl: string): string | undefined {
  const services = list(object(json, "didDoc"), "service");
  const pds = services.find((service) => text(service, "type") === "AtprotoPersonalDataServer");
  const endpoint = text(pds, "serviceEndpoint");
  if (endpoint === undefined || !URL.canParse(endpoint)) return undefined;
  const { protocol, origin } = new URL(endpoint);
  if (protocol !== "https:" || origin === new URL(baseUrl).origin) return undefined;
  return endpoint.replace(/\/+$/, "");
}

/** Where the session is, and whether its owner has said so. */
interface Place {
  readonly host: string;
  readonly isForeign: boolean;
}

function placeOf(baseUrl: string, { pdsUrl }: Readonly<Record<string, string>>): Place {
  return { host: pdsUrl ?? baseUrl, isForeign: pdsUrl !== undefined };
}

/** Makes a session from an app password, which is not kept. */
async function connect(
  baseUrl: string,
  login: LoginValues,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const { identifier, appPassword: password } = login;
  if (typeof identifier !== "string" || typeof password !== "string")
    return { kind: "refused", message: "the login is not complete" };
  const url = `${baseUrl}/xrpc/com.atproto.server.createSession`;
  const answer = await callPlatform(
    { method: "POST", url, body: { identifier, password } },
    signal,
  );
  if (answer.kind !== "answer") return answer;
  const message = `Bluesky answered ${answer.status}`;
  if (isRefusal(answer)) return { kind: "refused", message };
  const tokens = toTokens(answer.json);
  const externalId = text(answer.json, "did");
  const username = text(answer.json, "handle");
  if (tokens === undefined || externalId === undefined || username === undefined)
    return unavailable(message);
  const pdsUrl = pdsUrlOf(answer.json, baseUrl);
  const attributes: Record<string, string> = pdsUrl === undefined ? {} : { pdsUrl };
  return {
    kind: "connected",
    connection: { externalId, username, displayName: username, tokens, attributes },
  };
}

async function refresh(
  { host, isForeign }: Place,
  refreshToken: string,
  signal: AbortSignal,
): Promise<RefreshResult> {
  const url = `${host}/xrpc/com.atproto.server.refreshSession`;
  const authorization = `Bearer ${refreshToken}`;
  const call = { method: "POST", url, authorization, isForeign } as const;
  const answer = await callPlatform(call, signal);
  if (answer.kind !== "answer") return answer;
  const tokens = answer.status === 200 ? toTokens(answer.json) : undefined;
  if (tokens !== undefined) return { kind: "renewed", tokens };
  if (isRefusal(answer)) return { kind: "refused", message: "the session is over" };
  return unavailable(`Bluesky answered ${answer.status}`);
}

/**
 * Ends the session, so that it can be renewed no more; the access token goes on until its end, two hours at most. The app
 * password stays: nobody told us its name, and other sessions may stand on it.
 */
async function revoke(
  { host, isForeign }: Place,
  refreshToken: string | undefined,
  signal: AbortSignal,
): Promise<RevokeResult> {
  if (refreshToken === undefined) return { kind: "refused", message: "there is no session" };
  const url = `${host}/xrpc/com.atproto.server.deleteSession`;
  const authorization = `Bearer ${refreshToken}`;
  const call = { method: "POST", url, authorization, isForeign } as const;
  const answer = await callPlatform(call, signal);
  if (answer.kind !== "answer") return answer;
  if (answer.status === 200) return { kind: "confirmed" };
  return unavailable(`Bluesky answered ${answer.status}`);
}

/** Bluesky: sessions made with an app password; the refresh token rotates and the old one has two hours of grace. */
export function createBlueskyConnector(baseUrl: string): Connector {
  return {
    connect: (login, signal) => connect(baseUrl, login, signal),
    refresh: ({ refreshToken, attributes }, signal) =>
      refresh(placeOf(baseUrl, attributes), refreshToken, signal),
    revoke: ({ refreshToken, attributes }, signal) =>
      revoke(placeOf(baseUrl, attributes), refreshToken, signal),
  };
}
