import {
  callPlatform,
  list,
  object,
  text,
  unavailable,
  type PlatformAnswer,
} from "#src/connectors/http.ts";
import type {
  ConnectResult,
  Connector,
  LoginValues,
  RefreshResult,
  Tokens,
} from "#src/domain/connector.ts";

/** How long access tokens live when theirs does not say (platforms reference 7.6). */
const ACCESS_LIFE_MS = 120 * 60_000;

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
function lifetimeOf(jwt: string): number {
  try {
    const [, payload = ""] = jwt.split(".");
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    const { exp, iat } = claims as { exp?: unknown; iat?: unknown };
    const isKnown = typeof exp === "number" && typeof iat === "number" && exp > iat;
    return isKnown ? (exp - iat) * 1000 : ACCESS_LIFE_MS;
  } catch {
    return ACCESS_LIFE_MS;
  }
}

function toTokens(json: unknown): Tokens | undefined {
  const accessToken = text(json, "accessJwt");
  const refreshToken = text(json, "refreshJwt");
  if (accessToken === undefined || refreshToken === undefined) return undefined;
  return { accessToken, refreshToken, lifetimeMs: lifetimeOf(accessToken) };
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
  host: string,
  refreshToken: string,
  signal: AbortSignal,
): Promise<RefreshResult> {
  const url = `${host}/xrpc/com.atproto.server.refreshSession`;
  const call = { method: "POST", url, authorization: `Bearer ${refreshToken}` } as const;
  const answer = await callPlatform(call, signal);
  if (answer.kind !== "answer") return answer;
  const tokens = answer.status === 200 ? toTokens(answer.json) : undefined;
  if (tokens !== undefined) return { kind: "renewed", tokens };
  if (isRefusal(answer)) return { kind: "refused", message: "the session is over" };
  return unavailable(`Bluesky answered ${answer.status}`);
}

/** Bluesky: sessions made with an app password; the refresh token rotates and the old one has two hours of grace. */
export function createBlueskyConnector(baseUrl: string): Connector {
  return {
    connect: (login, signal) => connect(baseUrl, login, signal),
    refresh: ({ refreshToken, attributes }, signal) =>
      refresh(attributes.pdsUrl ?? baseUrl, refreshToken, signal),
  };
}
