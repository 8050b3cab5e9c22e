import {
  callPlatform,
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

export interface XApp {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * X says `invalid_request` with this text where OAuth says `invalid_grant` (platforms reference 2.6). Other words, such
 * as `invalid_client`, are about our app and say nothing about the account.
 */
const DEAD_TOKEN = /token was invalid/i;

function isDeadToken({ status, json }: PlatformAnswer): boolean {
  if (status !== 400 && status !== 401) return false;
  const error = text(json, "error");
  const description = text(json, "error_description") ?? "";
  return error === "invalid_grant" || (error === "invalid_request" && DEAD_TOKEN.test(description));
}

function toTokens(json: unknown): Tokens | undefined {
  const accessToken = text(json, "access_token");
  const refreshToken = text(json, "refresh_token");
  const seconds = (json as { expires_in?: unknown } | undefined)?.expires_in;
  if (accessToken === undefined || refreshToken === undefined || typeof seconds !== "number")
    return undefined;
  return { accessToken, refreshToken, lifetimeMs: seconds * 1000 };
}

/** Refresh tokens of X work once, so the answer has to be stored before the new access token is used. */
async function refresh(
  app: XApp,
  refreshToken: string,
  signal: AbortSignal,
): Promise<RefreshResult> {
  const basic = Buffer.from(`${app.clientId}:${app.clientSecret}`).toString("base64");
  const answer = await callPlatform(
    {
      method: "POST",
      url: `${app.baseUrl}/2/oauth2/token`,
      authorization: `Basic ${basic}`,
      form: { grant_type: "refresh_token", refresh_token: refreshToken },
    },
    signal,
  );
  if (answer.kind !== "answer") return answer;
  const tokens = answer.status === 200 ? toTokens(answer.json) : undefined;
  if (tokens !== undefined) return { kind: "renewed", tokens };
  if (isDeadToken(answer)) return { kind: "refused", message: "the refresh token is not valid" };
  return unavailable(`the token endpoint answered ${answer.status}`);
}

function readLogin(login: LoginValues): Tokens | undefined {
  const { accessToken, refreshToken, expiresInSeconds } = login;
  if (typeof accessToken !== "string" || typeof refreshToken !== "string") return undefined;
  if (typeof expiresInSeconds !== "number") return undefined;
  return { accessToken, refreshToken, lifetimeMs: expiresInSeconds * 1000 };
}

/** Asks X whose the tokens are, which proves that they work. */
async function connect(app: XApp, login: LoginValues, signal: AbortSignal): Promise<ConnectResult> {
  const tokens = readLogin(login);
  if (tokens === undefined) return { kind: "refused", message: "the login is not complete" };
  const answer = await callPlatform(
    {
      method: "GET",
      url: `${app.baseUrl}/2/users/me?user.fields=profile_image_url`,
      authorization: `Bearer ${tokens.accessToken}`,
    },
    signal,
  );
  if (answer.kind !== "answer") return answer;
  const user = object(answer.json, "data");
  const externalId = text(user, "id");
  const username = text(user, "username");
  if (externalId === undefined || username === undefined) {
    const message = `X answered ${answer.status}`;
    return answer.status === 401 || answer.status === 403
      ? { kind: "refused", message }
      : unavailable(message);
  }
  const avatarUrl = text(user, "profile_image_url");
  const connection = {
    externalId,
    username,
    displayName: text(user, "name") ?? username,
    ...(avatarUrl === undefined ? {} : { avatarUrl }),
    tokens,
    attributes: {},
  };
  return { kind: "connected", connection };
}

/** X: OAuth 2.0 with access tokens of two hours and rotating refresh tokens. */
export function createXConnector(app: XApp): Connector {
  return {
    connect: (login, signal) => connect(app, login, signal),
    refresh: ({ refreshToken }, signal) => refresh(app, refreshToken, signal),
  };
}
