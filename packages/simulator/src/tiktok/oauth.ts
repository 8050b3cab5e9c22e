import { contentType } from "#src/http/call.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import { oauthError } from "#src/tiktok/errors.ts";
import type { TiktokNetwork } from "#src/tiktok/network.ts";
import type { TokenPair } from "#src/tiktok/tokens.ts";

export function formOf(call: Call): URLSearchParams {
  return new URLSearchParams(call.body.toString("utf8"));
}

/** TikTok answers most wrong requests with 200 and an error. */
function faultOf(call: Call, form: URLSearchParams): Reply | undefined {
  if (contentType(call) !== "application/x-www-form-urlencoded") {
    return oauthError(200, "invalid_request", "The Content-Type is not a form.");
  }
  // The simulator knows every app.
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
  const fault = faultOf(call, form);
  if (fault !== undefined) {
    return fault;
  }
  if (form.get("grant_type") !== "refresh_token") {
    return oauthError(200, "unsupported_grant_type", "Only refresh_token is simulated.");
  }
  const pair = network.tokens.refresh(form.get("refresh_token") ?? "", now);
  return pair === undefined
    ? oauthError(200, "invalid_grant", "Refresh token is invalid or expired.")
    : pairReply(pair);
}

function revoke(network: TiktokNetwork, call: Call): Reply {
  const form = formOf(call);
  const fault = faultOf(call, form);
  if (fault !== undefined) {
    return fault;
  }
  return network.tokens.revoke(form.get("token") ?? "")
    ? { status: 200, body: {} }
    : oauthError(200, "invalid_request", "The token is invalid or expired.");
}

/** The token endpoints. */
export function oauthRoutes(network: TiktokNetwork): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/v2/oauth/token/",
      operations: () => ["refresh"],
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
