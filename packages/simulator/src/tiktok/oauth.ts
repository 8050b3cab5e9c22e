import { type Call, contentType, formOf, type Moment, type Reply } from "#src/http/call.ts";
import { redeemForm } from "#src/oauth/redeem-form.ts";
import type { Route } from "#src/platform.ts";
import { oauthError } from "#src/tiktok/errors.ts";
import type { TiktokNetwork } from "#src/tiktok/network.ts";
import type { TokenPair } from "#src/tiktok/tokens.ts";

function requestError(call: Call, form: URLSearchParams): Reply | undefined {
  if (contentType(call) !== "application/x-www-form-urlencoded")
    return oauthError(200, "invalid_request", "The Content-Type is not a form.");

  // The simulator accepts every TikTok app id and app secret, but neither may be empty.
  const isApp = ["client_key", "client_secret"].every((name) => (form.get(name) ?? "") !== "");
  return isApp
    ? undefined
    : oauthError(200, "invalid_client", "Client key or secret is incorrect.");
}

function pairReply(pair: TokenPair): Reply {
  const body = {
    open_id: pair.account,
    scope: pair.scopes.join(","),
    access_token: pair.accessToken,
    expires_in: pair.expiresInSeconds,
    refresh_token: pair.refreshToken,
    refresh_expires_in: pair.refreshExpiresInSeconds,
    token_type: "Bearer",
  };
  return { status: 200, body };
}

function token(network: TiktokNetwork, call: Call, { now }: Moment): Reply {
  const form = formOf(call);
  const error = requestError(call, form);
  if (error !== undefined) return error;

  switch (grantOf(call)) {
    case "refresh_token": {
      const pair = network.tokens.refresh(form.get("refresh_token") ?? "", now);
      return pair === undefined
        ? oauthError(200, "invalid_grant", "Refresh token is invalid or expired.")
        : pairReply(pair);
    }
    case "authorization_code": {
      const pair = redeem(network, form, now);
      return pair === undefined
        ? oauthError(200, "invalid_grant", "Authorization code is invalid or expired.")
        : pairReply(pair);
    }
    default:
      return oauthError(200, "unsupported_grant_type", "The grant type is not supported.");
  }
}

function redeem(
  { codes, tokens }: TiktokNetwork,
  form: URLSearchParams,
  now: number,
): TokenPair | undefined {
  const approval = redeemForm(codes, form, form.get("client_key") ?? "", now);
  return approval && tokens.issue(approval.account, approval.scopes, now);
}

function grantOf(call: Call): string {
  return formOf(call).get("grant_type") ?? "";
}

function revoke(network: TiktokNetwork, call: Call): Reply {
  const form = formOf(call);
  const error = requestError(call, form);
  if (error !== undefined) return error;

  return network.tokens.revoke(form.get("token") ?? "")
    ? { status: 200, body: {} }
    : oauthError(200, "invalid_request", "The token is invalid or expired.");
}

export function oauthRoutes(network: TiktokNetwork): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/v2/oauth/token/",
      operations: (call) => [grantOf(call) === "authorization_code" ? "login" : "refresh"],
      handle: (call, moment) => token(network, call, moment),
    },
    {
      method: "POST",
      path: "/v2/oauth/revoke/",
      operations: () => ["revoke"],
      handle: (call) => revoke(network, call),
    },
  ];
}
