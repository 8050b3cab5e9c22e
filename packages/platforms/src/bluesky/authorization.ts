import { askPlatform, INCOMPLETE, unavailable } from "#src/authorization/call.ts";
import { configureApp, type PlatformAuthorization } from "#src/authorization/configure.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  ConnectResult,
  EnteredCredentials,
  RefreshResult,
  RevokeResult,
  Tokens,
} from "#src/authorization/connector.ts";
import { object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer, jsonBody } from "#src/http/platform-request.ts";
import {
  type BlueskyDirectory,
  findOwnRepository,
  ownPdsUrlOf,
  type OwnRepository,
} from "./find-repository.ts";

/** Assumed lifetime of tokens that do not state their own. */
const ACCESS_TOKEN_MS = 120 * 60_000;
const REFRESH_TOKEN_MS = 90 * 86_400_000;

const SESSION_ERRORS = new Set([
  "AuthFactorTokenRequired",
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

function describeRefusal({ json }: PlatformAnswer): string {
  const error = text(json, "error") ?? "";
  if (error === "AuthFactorTokenRequired")
    return "Bluesky asks for a code by e-mail, as it does for the account's own password: use an app password";
  if (error.startsWith("Account"))
    return "Bluesky has deactivated, suspended or taken down the account: its owner must act in Bluesky";
  return "Bluesky does not know this handle with this app password: give the full handle, such as alice.bsky.social, and a new app password";
}

/**
 * The difference between the two timestamps in the token, because our clock may differ from the
 * platform's.
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

interface SessionHost {
  readonly host: string;
  readonly isForeign: boolean;
}

function hostOf(baseUrl: string, { pdsUrl }: Readonly<Record<string, string>>): SessionHost {
  return { host: pdsUrl ?? baseUrl, isForeign: pdsUrl !== undefined };
}

/**
 * The app password is not stored. That of an account on a server of its own is sent only to that
 * server.
 */
async function connect(
  directory: BlueskyDirectory,
  credentials: EnteredCredentials,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const { identifier: entered, appPassword: password } = credentials;
  if (typeof entered !== "string" || typeof password !== "string") return INCOMPLETE;
  const identifier = entered.trim().replace(/^@/, "");
  const isEmail = identifier.includes("@");
  const own = isEmail ? undefined : await findOwnRepository(directory, identifier, signal);
  if (own !== undefined && own.kind !== "repository") return own;
  const host = hostOf(directory.baseUrl, own === undefined ? {} : { pdsUrl: own.pdsUrl });
  const answer = await createSession(host, { identifier, password }, signal);
  return answer.kind === "answer" ? toConnected(answer, own, directory) : answer;
}

function toConnected(
  answer: PlatformAnswer,
  own: OwnRepository | undefined,
  { baseUrl }: BlueskyDirectory,
): ConnectResult {
  const message = `Bluesky answered ${answer.status}`;
  if (isRefusal(answer)) return { kind: "refused", message: describeRefusal(answer) };
  const { json } = answer;
  const externalId = text(json, "did");
  if (own !== undefined && externalId !== own.did)
    return { kind: "refused", message: "the server answered for another account" };
  const tokens = toTokens(json);
  if (tokens === undefined) return unavailable(message);
  const pdsUrl = own?.pdsUrl ?? ownPdsUrlOf(object(json, "didDoc"), baseUrl);
  const attributes: Record<string, string> = pdsUrl === undefined ? {} : { pdsUrl };
  const profile = { externalId, username: text(json, "handle"), displayName: undefined };
  return toConnectResult(profile, { tokens, attributes }, unavailable(message));
}

async function createSession(
  { host, isForeign }: SessionHost,
  login: { readonly identifier: string; readonly password: string },
  signal: AbortSignal,
) {
  const url = `${host}/xrpc/com.atproto.server.createSession`;
  const secrets = [login.password];
  const call = { method: "POST", url, body: jsonBody(login), secrets, isForeign } as const;
  return await askPlatform(call, signal);
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
 * The access token stays valid until it expires, for two hours at most. The app password stays
 * valid too: its name is not known, and other sessions may use it.
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

/** Each refresh returns a new refresh token; the old one stays valid for two more hours. */
export function createBlueskyAuthorizationConnector(
  directory: BlueskyDirectory,
): AuthorizationConnector {
  const { baseUrl } = directory;
  return {
    connect: (credentials, signal) => connect(directory, credentials, signal),
    refresh: ({ refreshToken, attributes }, signal) =>
      refresh(hostOf(baseUrl, attributes), refreshToken, signal),
    revoke: ({ refreshToken, attributes }, signal) =>
      revoke(hostOf(baseUrl, attributes), refreshToken, signal),
  };
}

export const authorization = {
  configure: configureApp(createBlueskyAuthorizationConnector),
  permissions: undefined,
  revocation: { ends: "tokens" },
} satisfies PlatformAuthorization<never>;
