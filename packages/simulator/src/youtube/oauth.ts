import { type Call, formOf, type Moment, type Reply } from "#src/http/call.ts";
import { redeemForm } from "#src/oauth/redeem-form.ts";
import type { Route } from "#src/platform.ts";
import { oauthError } from "#src/youtube/errors.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import type { AccessToken, TokenPair } from "#src/youtube/tokens.ts";

export const INVALID_GRANT = oauthError(400, "invalid_grant", "Token has been expired or revoked.");

function namesClient(form: URLSearchParams): boolean {
  return ["client_id", "client_secret"].every((name) => (form.get(name) ?? "") !== "");
}

function tokenReply(tokens: AccessToken | TokenPair): Reply {
  const body = {
    access_token: tokens.accessToken,
    expires_in: tokens.expiresInSeconds,
    ...("refreshToken" in tokens ? { refresh_token: tokens.refreshToken } : {}),
    scope: tokens.scopes.join(" "),
    token_type: "Bearer",
  };
  return { status: 200, body };
}

function token(network: YoutubeNetwork, call: Call, { now }: Moment): Reply {
  const form = formOf(call);
  if (!namesClient(form))
    return oauthError(401, "invalid_client", "The OAuth client was not found.");

  const tokens = tokensFor(network, form, now);
  if (tokens === "unsupported")
    return oauthError(400, "unsupported_grant_type", "Invalid grant_type");

  return tokens === undefined ? INVALID_GRANT : tokenReply(tokens);
}

function tokensFor(
  network: YoutubeNetwork,
  form: URLSearchParams,
  now: number,
): AccessToken | TokenPair | "unsupported" | undefined {
  switch (form.get("grant_type") ?? "") {
    case "refresh_token":
      return network.tokens.refresh(form.get("refresh_token") ?? "", now);
    case "authorization_code":
      return redeem(network, form, now);
    default:
      return "unsupported";
  }
}

function redeem(
  { codes, tokens }: YoutubeNetwork,
  form: URLSearchParams,
  now: number,
): TokenPair | undefined {
  const approval = redeemForm(codes, form, form.get("client_id") ?? "", now);
  return approval && tokens.issue(approval.account, approval.scopes, now);
}

function revoke(network: YoutubeNetwork, call: Call): Reply {
  const value = formOf(call).get("token") ?? call.query.get("token") ?? "";
  return network.tokens.revoke(value)
    ? { status: 200, body: {} }
    : oauthError(400, "invalid_token", "Token expired or revoked");
}

export function oauthRoutes(network: YoutubeNetwork): Route[] {
  return [
    {
      method: "POST",
      path: "/token",
      operations: (call) => [
        formOf(call).get("grant_type") === "authorization_code" ? "login" : "refresh",
      ],
      handle: (call, moment) => token(network, call, moment),
    },
    {
      method: "POST",
      path: "/revoke",
      operations: () => ["revoke"],
      handle: (call) => revoke(network, call),
    },
  ];
}
