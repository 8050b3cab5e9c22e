import { askPlatform, INCOMPLETE, unavailable } from "#src/authorization/call.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  ConnectResult,
  EnteredCredentials,
  RefreshResult,
  RevokeResult,
  Tokens,
} from "#src/authorization/connector.ts";
import { list, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer, jsonBody } from "#src/http/platform-request.ts";

/** Lifetimes of Bluesky's tokens for tokens that do not state their own lifetime (platforms reference 7.6). */
const ACCESS_TOKEN_MS = 120 * 60_000;
const REFRESH_TOKEN_MS = 90 * 86_400_000;

/**
 * Bluesky's error names which mean that the session has ended, or that the account's owner must act before it can be
 * used again.
 */
const SESSION_ERRORS = new Set([
  "ExpiredToken",
  "InvalidToken",
  "AuthenticationRequired",
  "AccountTakedown",
  "AccountDeactivated",
  "AccountSuspended",
]);

function isRefusal({ status, json }: PlatformAnswer): boolean {
  const error = text(json, "error");
  return (status === 400 || status === 401) && error !== undefined && SESSION_ERRORS.has(error);
}

/**
 * Returns the lifetime of a Bluesky token in milliseconds: the difference between the two timestamps in the token. Our
 * own clock is not used, because it may differ from the platform's clock.
 */
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
    lifetimeMs: lifetimeOf(accessToken, ACCESS_TOKEN_MS),
    refreshLifetimeMs: lifetimeOf(refreshToken, REFRESH_TOKEN_MS),
  };
}

/**
 * Returns the host of the account's Bluesky repository (PDS), from the account's DID document. The configured host is
 * not stored with the account, so that a new configuration also applies to existing accounts.
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

/** The host of a Bluesky session, and whether the account's owner chose the host. */
interface SessionHost {
  readonly host: string;
  readonly isForeign: boolean;
}

function hostOf(baseUrl: string, { pdsUrl }: Readonly<Record<string, string>>): SessionHost {
  return { host: pdsUrl ?? baseUrl, isForeign: pdsUrl !== undefined };
}

/** Creates a Bluesky session with an app password, which is not stored. */
async function connect(
  baseUrl: string,
  { identifier, appPassword: password }: EnteredCredentials,
  signal: AbortSignal,
): Promise<ConnectResult> {
  if (typeof identifier !== "string" || typeof password !== "string") return INCOMPLETE;
  const url = `${baseUrl}/xrpc/com.atproto.server.createSession`;
  const body = jsonBody({ identifier, password });
  const answer = await askPlatform({ method: "POST", url, body, secrets: [password] }, signal);
  if (answer.kind !== "answer") return answer;
  const { json, status } = answer;
  const message = `Bluesky answered ${status}`;
  if (isRefusal(answer)) return { kind: "refused", message };
  const tokens = toTokens(json);
  if (tokens === undefined) return unavailable(message);
  const pdsUrl = pdsUrlOf(json, baseUrl);
  const attributes: Record<string, string> = pdsUrl === undefined ? {} : { pdsUrl };
  const profile = {
    externalId: text(json, "did"),
    username: text(json, "handle"),
    displayName: undefined,
  };
  return toConnectResult(profile, { tokens, attributes }, unavailable(message));
}

async function refresh(
  { host, isForeign }: SessionHost,
  refreshToken: string,
  signal: AbortSignal,
): Promise<RefreshResult> {
  const url = `${host}/xrpc/com.atproto.server.refreshSession`;
  const headers = bearer(refreshToken);
  const call = { method: "POST", url, headers, isForeign, returnsTokens: true } as const;
  const answer = await askPlatform(call, signal);
  if (answer.kind !== "answer") return answer;
  const tokens = answer.status === 200 ? toTokens(answer.json) : undefined;
  if (tokens !== undefined) return { kind: "renewed", tokens };
  if (isRefusal(answer)) return { kind: "refused", message: "the session has ended" };
  return unavailable(`Bluesky answered ${answer.status}`);
}

/**
 * Ends the Bluesky session, so that it can no longer be refreshed. The access token stays valid until it expires, for
 * two hours at most. The app password also stays valid: we do not know its name, and other sessions may use it.
 */
async function revoke(
  { host, isForeign }: SessionHost,
  refreshToken: string | undefined,
  signal: AbortSignal,
): Promise<RevokeResult> {
  if (refreshToken === undefined) return { kind: "refused", message: "there is no session" };
  const url = `${host}/xrpc/com.atproto.server.deleteSession`;
  const call = { method: "POST", url, headers: bearer(refreshToken), isForeign } as const;
  const answer = await askPlatform(call, signal);
  if (answer.kind !== "answer") return answer;
  if (answer.status === 200) return { kind: "confirmed" };
  return unavailable(`Bluesky answered ${answer.status}`);
}

/**
 * Bluesky's authorization connector: a session is created with an app password. Each refresh returns a new refresh
 * token; the old one stays valid for two more hours.
 */
export function createBlueskyAuthorizationConnector({
  baseUrl,
}: {
  readonly baseUrl: string;
}): AuthorizationConnector {
  return {
    connect: (credentials, signal) => connect(baseUrl, credentials, signal),
    refresh: ({ refreshToken, attributes }, signal) =>
      refresh(hostOf(baseUrl, attributes), refreshToken, signal),
    revoke: ({ refreshToken, attributes }, signal) =>
      revoke(hostOf(baseUrl, attributes), refreshToken, signal),
  };
}
